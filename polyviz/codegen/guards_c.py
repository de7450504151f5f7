"""Conditions on data that several statements have in common, in C: asked once, around all of them.

    if (mask[i]) {
        total = 0.0;
        for (int64_t j = 0; j < n; j++) {
            total += A[i][j];
        }
        y[i] = total;
    }

The source has one condition there, but each statement below it is one of its own for the analysis. A compiler often
cannot tell that what happens in between leaves the condition as it is; here the arrays that are written are known. Only
the condition's first place is left, so that it is evaluated where it was evaluated before, or not at all.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.loops import Block, For, Instance, descendants, instances
from polyviz.codegen.values_c import AND, SUM
from polyviz.model.expression import Assign, Branch, Constant, Element, Name, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.scop import Scop

    Bodies = MutableMapping[str, Sequence[Instruction]]


@dataclass(frozen=True, slots=True)
class _Guard:
    """A ``condition`` under which ``statement`` does all that it does."""

    statement: str
    condition: Expression


class GuardPrinter:
    """Finds nodes with a condition in common; ``print_node`` prints them, with the bodies that it finds changed."""

    def __init__(
        self,
        scop: Scop,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_node: Callable[[LoopNode, int], None],
    ) -> None:
        self.scop = scop
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_node = print_node

    def write_loop(self, loop: For, bodies: Bodies, indent: int) -> bool:
        """Print ``loop`` below the condition that everything in it has, if there is one."""
        tests = _tests(loop)
        guard = self._guard(loop, bodies) if tests is not None else None
        if guard is None or tests is None or not self._is_steady(guard, (loop,), bodies):
            return False
        self._write(guard, tests, (loop,), bodies, indent)
        return True

    def write_row(self, nodes: Sequence[LoopNode], bodies: Bodies, indent: int) -> int:
        """Print the first ``nodes`` that have a condition in common, if there are several; how many these are."""
        if len(nodes) < 2 or _tests(nodes[0]) != []:
            return 0
        guard = self._guard(nodes[0], bodies)
        count = 1
        while guard is not None and count < len(nodes) and self._continues(guard, nodes[: count + 1], bodies):
            count += 1
        if guard is None or count < 2:
            return 0
        self._write(guard, [], nodes[:count], bodies, indent)
        return count

    def _continues(self, guard: _Guard, nodes: Sequence[LoopNode], bodies: Bodies) -> bool:
        """Whether the last of ``nodes`` has the condition of the others, which none before it changes."""
        found = self._guard(nodes[-1], bodies)
        changed = nodes[:-1] if isinstance(nodes[-1], Instance) else nodes
        return found is not None and found.condition == guard.condition and self._is_steady(guard, changed, bodies)

    def _guard(self, node: LoopNode, bodies: Bodies) -> _Guard | None:
        """The condition that everything in ``node`` has; None where there is none, or threads share something."""
        if any(_is_shared(one) for one in descendants(node)):
            return None
        found = [self._condition(one, bodies) for one in instances(node)]
        same = bool(found) and found[0] is not None and all(one == found[0] for one in found)
        if not same:
            return None
        (first, *_) = instances(node)
        condition = found[0]
        assert condition is not None
        return _Guard(first.statement, condition)

    def _condition(self, instance: Instance, bodies: Bodies) -> Expression | None:
        """The condition of all that ``instance`` does."""
        body = bodies.get(instance.statement, ())
        if len(body) != 1 or not isinstance(body[0], Branch) or body[0].otherwise:
            return None
        (placed,) = placed_body(self.scop.statement(instance.statement), body, instance.arguments)
        return placed.condition if isinstance(placed, Branch) else None

    def _is_steady(self, guard: _Guard, nodes: Sequence[LoopNode], bodies: Bodies) -> bool:
        """Whether nothing in ``nodes`` changes the condition: neither what it reads, nor the variables in it."""
        parts = list(walk(guard.condition))
        read = {part.array for part in parts if isinstance(part, Element)}
        names = {part.name for part in parts if isinstance(part, Name)}
        below = [one for node in nodes for one in descendants(node)]
        lines = [line for one in below if isinstance(one, Instance) for line in bodies[one.statement]]
        written = {part.target.array for line in lines for part in walk(line) if isinstance(part, Assign)}
        return not read & written and not any(one.iterator in names for one in below if isinstance(one, For))

    def _write(
        self, guard: _Guard, tests: Sequence[For], nodes: Sequence[LoopNode], bodies: Bodies, indent: int
    ) -> None:
        ends = [(self.printer.value(loop.start), self.printer.value(loop.stop)) for loop in tests]
        statement = self.scop.statement(guard.statement)
        self.arrays.enter(statement)
        truth = self.printer.truth(guard.condition)
        wanted = [f"{start.within(SUM)} < {stop.within(SUM)}" for start, stop in ends]
        wanted.append(truth.within(AND) if wanted else truth.text)
        self.text.add(indent, f"if ({' && '.join(wanted)}) {{", statement)
        names = {one.statement for node in nodes for one in instances(node)}
        with _granted(names, bodies):
            self.print_node(Block(tuple(nodes)), indent + 1)
        self.text.add(indent, "}")


def _is_shared(node: LoopNode) -> bool:
    """Whether several threads, or tiles, have to do with ``node``."""
    if isinstance(node, Block):
        return bool(node.team)
    return isinstance(node, For) and bool(
        node.parallel or node.reduced or node.pipeline or node.waits or node.collapsed or node.held or node.width
    )


def _tests(node: LoopNode) -> list[For] | None:
    """The loops that must have an iteration for ``node`` to do anything; None where that is not all it takes, or they
    are only part of it: what is below the first statement always runs with it."""
    match node:
        case Instance():
            return []
        case Block(children) if children:
            first = _tests(children[0])
            return first if not first or len(children) == 1 else None
        case For(start=Constant(int() as start), stop=Constant(int() as stop)) if start < stop:
            return _outside(node, _tests(node.body))
        case For():
            inside = _outside(node, _tests(node.body))
            return None if inside is None else [node, *inside]
    return None


def _outside(loop: For, inside: list[For] | None) -> list[For] | None:
    """The loops ``inside`` one, if they have an iteration in all of its iterations or in none."""
    bounds = [bound for one in inside or () for bound in (one.start, one.stop)]
    moves = any(part == Name(loop.iterator) for bound in bounds for part in walk(bound))
    return None if moves else inside


@contextmanager
def _granted(names: set[str], bodies: Bodies) -> Iterator[None]:
    """While this lasts, the statements called ``names`` do what they do without their condition."""
    before = {name: bodies[name] for name in names}
    for name, body in before.items():
        (branch,) = body
        assert isinstance(branch, Branch)
        bodies[name] = branch.then
    try:
        yield
    finally:
        bodies.update(before)
