"""Innermost loops that fold values into one cell, in C: the cell in a variable, and sums in lanes beside each other.

    double y_sum = y[i];
    for (int64_t j = 0; j < n; j++) {
        y_sum += A[i][j] * x[j];
    }
    y[i] = y_sum;

The variable has the type of the array, so every step rounds as it does in memory: the strict contract allows it. With
lanes the loop runs over groups of iterations, each lane with a partial sum of its own; compilers make vectors of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.dtypes import C_TYPE_NAMES, type_named
from polyviz.codegen.index import simplify_subscripts
from polyviz.codegen.loops import Block, For, Instance
from polyviz.codegen.values_c import SUM
from polyviz.model.expression import Assign, Binary, Element, Expression, Name, rebuild, substitute, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Instruction, Node
    from polyviz.model.plan import Accumulation, Plan
    from polyviz.model.program import FloatingPoint
    from polyviz.model.scop import Scop, Statement

ENDINGS = {"+": "sum", "*": "product", "min": "minimum", "max": "maximum"}
"""What the variable is called behind the name of the array; ``value`` for other operators."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A loop whose only instance is ``update``, which folds into one cell as ``accumulation`` says."""

    loop: For
    statement: Statement
    update: Assign
    accumulation: Accumulation


class AccumulationPrinter:
    """Prints the loops of a plan's accumulations; ``dtypes`` gets the types of the variables it adds."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        floating_point: FloatingPoint,
        bodies: Mapping[str, Sequence[Instruction]],
    ) -> None:
        self.scop = scop
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.reorders = floating_point == "reassociate"
        self.accumulations = {found.statement: found for found in plan.accumulations}
        # All names are asked for now, so that no loop variable gets them.
        self.lane = arrays.added("lane") if any(found.lanes for found in plan.accumulations) else ""
        for found in plan.accumulations:
            update = bodies[found.statement][0]
            if isinstance(update, Assign):
                self._variable(update.target.array, found.operator)
                self._lanes(update.target.array)

    def fold(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Fold | None:
        """What ``loop`` folds, where its plan says so and the cell stays where it is."""
        instance = _only_instance(loop.body)
        if instance is None or loop.parallel or loop.reduced or loop.vector:
            return None
        accumulation = self.accumulations.get(instance.statement)
        if accumulation is None:
            return None
        statement = self.scop.statement(instance.statement)
        body = placed_body(statement, bodies[instance.statement], instance.arguments)
        if len(body) != 1 or not isinstance(body[0], Assign) or _mentions(body[0].target, loop.iterator):
            return None
        return Fold(loop, statement, body[0], accumulation)

    def write(self, fold: Fold, indent: int) -> None:
        """The loop of ``fold``, and what stands before and behind it."""
        self.arrays.enter(fold.statement)
        target = fold.update.target
        lanes = self._lanes_of(fold)
        if not target.subscripts and not lanes:
            self._loop(fold, fold.update, indent)
            return
        start, stop = self.printer.expression(fold.loop.start), self.printer.expression(fold.loop.stop)
        # Where the loop is empty the cell may not even exist.
        self._line(indent, f"if ({start} < {stop}) {{")
        variable = target
        if target.subscripts:
            name = self._variable(target.array, fold.accumulation.operator)
            kind, cell = self._kind(target.array), self.printer.expression(target)
            self._line(indent + 1, f"{kind} {name} = {cell};")
            variable = Element(name)
        update = _redirected(fold.update, variable)
        if lanes:
            self._in_lanes(fold, update, lanes, indent + 1)
        else:
            self._loop(fold, update, indent + 1)
        if target.subscripts:
            self._line(indent + 1, f"{cell} = {name};")
        self._line(indent, "}")

    def _lanes_of(self, fold: Fold) -> int:
        dtype = type_named(self.dtypes[fold.update.target.array])
        sums = dtype.is_real and fold.loop.step == 1 and fold.accumulation.operator == "+"
        return fold.accumulation.lanes if sums and self.reorders else 0

    def _in_lanes(self, fold: Fold, update: Assign, lanes: int, indent: int) -> None:
        """Groups of iterations first, then those that remain."""
        iterator = fold.loop.iterator
        start, stop = (self.printer.value(bound) for bound in (fold.loop.start, fold.loop.stop))
        partial = self._lanes(fold.update.target.array)
        beside = Binary("+", Name(iterator), Name(self.lane))
        own = _redirected(update, Element(partial, (Name(self.lane),)))
        moved = simplify_subscripts(substitute(own, {iterator: beside}))
        assert isinstance(moved, Assign)
        header = f"for (int64_t {self.lane} = 0; {self.lane} < {lanes}; {self.lane}++)"
        kind = self._kind(fold.update.target.array)
        self._line(indent, f"int64_t {iterator} = {start.text};")
        self._line(indent, f"if ({stop.within(SUM)} - {iterator} >= {2 * lanes}) {{")
        self._line(indent + 1, f"{kind} {partial}[{lanes}] = {{0}};")
        self._line(indent + 1, f"for (; {iterator} < {stop.within(SUM)} - {lanes - 1}; {iterator} += {lanes}) {{")
        self._line(indent + 2, header)
        self._update(fold, moved, indent + 3)
        self._line(indent + 1, "}")
        self._line(indent + 1, header)
        total = self.printer.expression(update.target)
        self._line(indent + 2, f"{total} += {partial}[{self.lane}];")
        self._line(indent, "}")
        self._line(indent, f"for (; {iterator} < {stop.text}; {iterator}++) {{")
        self._update(fold, update, indent + 1)
        self._line(indent, "}")

    def _loop(self, fold: Fold, update: Assign, indent: int) -> None:
        loop = fold.loop
        if self.reorders and fold.accumulation.stride == "strided":
            # Left alone, compilers gather the jumping elements into vectors, which is slower than to load them singly.
            self._line(indent, "#pragma omp simd safelen(1)")
        advance = f"{loop.iterator}++" if loop.step == 1 else f"{loop.iterator} += {loop.step}"
        start, stop = self.printer.expression(loop.start), self.printer.expression(loop.stop)
        self._line(indent, f"for (int64_t {loop.iterator} = {start}; {loop.iterator} < {stop}; {advance}) {{")
        self._update(fold, update, indent + 1)
        self._line(indent, "}")

    def _update(self, fold: Fold, update: Assign, indent: int) -> None:
        (line,) = self.printer.instructions([update], 0)
        statement = fold.statement
        comment = f"  // line {statement.span.line}: {' '.join(statement.source.split())}"
        self.text.add(indent, line + comment, statement)

    def _variable(self, array: str, operator: str) -> str:
        return self._named(array, ENDINGS.get(operator, "value"))

    def _lanes(self, array: str) -> str:
        return self._named(array, "lanes")

    def _named(self, array: str, ending: str) -> str:
        name = self.arrays.added(f"{array}_{ending}")
        self.dtypes[name] = self.dtypes[array]
        return name

    def _kind(self, array: str) -> str:
        return C_TYPE_NAMES[self.dtypes[array]]

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _only_instance(node: LoopNode) -> Instance | None:
    while isinstance(node, Block) and len(node.children) == 1 and not node.declares:
        node = node.children[0]
    return node if isinstance(node, Instance) else None


def _mentions(target: Element, iterator: str) -> bool:
    return any(isinstance(part, Name) and part.name == iterator for part in walk(target))


def _redirected(update: Assign, target: Element) -> Assign:
    """``update`` of another cell."""

    def place(node: Node) -> Node:
        return target if node == update.target else rebuild(node, place)

    value = place(update.value)
    assert isinstance(value, Expression)
    return replace(update, target=target, value=value)
