"""Innermost loops in two parts, in C, where a condition compares the variable with a number that is loaded.

    const int64_t c_from = min_i64(max_i64(w[i], 0), n);
    for (int64_t c = 0; c < c_from; c++) {
    }
    for (int64_t c = c_from; c < n; c++) {
        best[c] = old[c - w[i]] + v[i];
    }

Neither part decides anything, and in each of them the condition is a fact about the first and the last iteration, so
that subscripts can be tested there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.loops import Block, Instance, instances
from polyviz.codegen.values_c import SUM
from polyviz.codegen.versions_c import is_steady
from polyviz.model.expression import Assign, Branch, Compare, Element, Loop, Name, While, walk
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop, Statement

SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Parts:
    """A ``loop`` whose ``statement`` does something only from the value of ``limit`` on, or only before it.

    ``after``: the limit itself belongs to the first part. ``first`` and ``second`` are what the statement does.
    """

    loop: For
    statement: Statement
    limit: Element
    after: bool
    first: tuple[Instruction, ...]
    second: tuple[Instruction, ...]


class PartPrinter:
    """Finds such loops; ``print_loop`` prints one of the parts, with the bodies that it finds changed."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loop: Callable[[For, int], None],
    ) -> None:
        self.scop = scop
        self.wanted = plan.two_versions
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loop = print_loop

    def parts(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Parts | None:
        """The parts of ``loop``, where it is innermost, serial or in lanes, and one statement compares as it must."""
        shared = loop.parallel or loop.reduced or loop.pipeline or loop.collapsed
        if not self.wanted or shared or loop.step != 1 or not _is_straight(loop.body):
            return None
        inside = list(instances(loop.body))
        if len({one.statement for one in inside}) < len(inside) or any(one.statement not in bodies for one in inside):
            return None
        if any(node == Name(self._border(loop)) for bound in (loop.start, loop.stop) for node in walk(bound)):
            return None  # It is one of two parts.
        lines = [line for one in inside for line in bodies[one.statement]]
        nodes = [node for line in lines for node in walk(line)]
        if any(isinstance(node, Loop | While) for node in nodes):
            return None
        written = {node.target.array for node in nodes if isinstance(node, Assign)}
        found = (self._compared(one, loop, bodies) for one in inside)
        return next((one for one in found if one is not None and self._is_steady(one, written)), None)

    def write(self, parts: Parts, bodies: MutableMapping[str, Sequence[Instruction]], indent: int) -> None:
        """Both parts, one after the other."""
        loop, name = parts.loop, parts.statement.name
        start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
        self.arrays.enter(parts.statement)
        limit = self.printer.expression(parts.limit)
        border = self._border(loop)
        # Where the loop is empty the limit may not even exist.
        self.text.add(indent, f"if ({start} < {stop}) {{")
        outside = ">=" if parts.after else ">"
        beyond = f"(int64_t){limit} + 1" if parts.after else limit
        value = f"{limit} {outside} {stop} ? {stop} : {limit} < {start} ? {start} : {beyond}"
        self.text.add(indent + 1, f"const int64_t {border} = {value};")
        whole = bodies[name]
        halves = (
            (replace(loop, stop=Name(border)), parts.first),
            (replace(loop, start=Name(border)), parts.second),
        )
        for part, body in halves:
            bodies[name] = body
            if any(bodies[one.statement] for one in instances(part.body)):
                self.print_loop(part, indent + 1)
        bodies[name] = whole
        self.text.add(indent, "}")

    def _border(self, loop: For) -> str:
        """The name of the first iteration of the second part, which no loop has."""
        iterators = {iterator for statement in self.scop.statements for iterator in statement.iterators}
        return self.arrays.added(unused_name(f"{loop.iterator}_from", iterators.__contains__))

    def _compared(self, instance: Instance, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Parts | None:
        statement, whole = self.scop.statement(instance.statement), bodies[instance.statement]
        placed = placed_body(statement, whole, instance.arguments)
        match placed, whole:
            case ([Branch(Compare((operator,), (left, right)))], [Branch(_, then, otherwise)]) if operator in SWAPPED:
                if left != Name(loop.iterator):
                    left, operator, right = right, SWAPPED[operator], left
            case _:
                return None
        variable, limit = left, right
        if variable != Name(loop.iterator) or not isinstance(limit, Element):
            return None
        first, second = (otherwise, then) if operator in (">", ">=") else (then, otherwise)
        return Parts(loop, statement, limit, operator in (">", "<="), first, second)

    def _is_steady(self, parts: Parts, written: set[str]) -> bool:
        """Whether the limit is a whole number that can be loaded before the loop and stays the same in it."""
        return is_steady(self.scop, self.printer, parts.limit, parts.statement, parts.loop.iterator, written)


def _is_straight(node: LoopNode) -> bool:
    """Whether there are neither loops nor further decisions in ``node``."""
    if isinstance(node, Block):
        return not node.team and not node.declares and all(map(_is_straight, node.children))
    return isinstance(node, Instance)
