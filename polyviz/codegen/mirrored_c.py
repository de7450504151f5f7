"""Rows updated from both of their ends, in C: a cell and its mirror image in one iteration, without a copy of the row.

    const int64_t i_middle = k / 2;
    #pragma omp simd
    for (int64_t i = 0; i < i_middle; i++) {
        const double z_near = y[i] + alpha * y[k - i - 1];
        const double z_far = y[k - i - 1] + alpha * y[i];
        y[i] = z_near;
        y[k - i - 1] = z_far;
    }

The variables have the type of the copy, so that every value is rounded as it is there. A cell that is its own image is
left for behind the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.calling import is_checked
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.index import simplified, simplify_subscripts
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.loops import For, Instance
from polyviz.codegen.row_blocks import elements_of
from polyviz.codegen.values_c import PRODUCT, SUM
from polyviz.model.expression import Assign, Binary, Constant, Element, Name, substitute
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class MirroredLoops:
    """Two loops over the same row: in ``loop`` the statement ``first`` sets a cell of a copy to ``value``, and in the
    one behind it ``second`` copies that to ``target``."""

    loop: For
    first: Statement
    second: Statement
    value: Assign
    target: Element


class MirrorPrinter:
    """Prints the rows of a plan that are updated from both ends; ``dtypes`` gets the types of the variables it adds."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
    ) -> None:
        self.scop = scop
        self.seconds = {mirror.first: mirror.second for mirror in plan.mirrors}
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.printed: LoopNode | None = None
        self.done: set[str] = set()

    @property
    def notes(self) -> tuple[str, ...]:
        """Which rows are copied all the same; complete when everything is printed."""
        missed = [first for first in self.seconds if first not in self.done]
        reason = "its loops have bounds that are not linear, or subscripts that are tested"
        return tuple(f"what {first} computes goes through a copy of the row: {reason}" for first in missed)

    def write(
        self, nodes: Sequence[LoopNode], bodies: Mapping[str, Sequence[Instruction]], indent: int
    ) -> bool:
        """Print ``nodes``, a node and the one behind it, where these are the two loops of a mirror; the second one is
        printed then. Whether nothing is left to print of the first of ``nodes``."""
        if nodes[0] is self.printed:
            self.printed = None
            return True
        found = self._joined(nodes[0], nodes[1], bodies) if self.seconds and len(nodes) > 1 else None
        if found is None:
            return False
        self._loops(found, indent)
        self.printed = nodes[1]
        self.done.add(found.first.name)
        return True

    def _joined(
        self, node: LoopNode, behind: LoopNode, bodies: Mapping[str, Sequence[Instruction]]
    ) -> MirroredLoops | None:
        match node, behind:
            case (
                For(step=1, interleave=1, body=Instance() as first) as loop,
                For(step=1, interleave=1, body=Instance() as second) as other,
            ) if self.seconds.get(first.statement) == second.statement:
                pass
            case _:
                return None
        if (loop.start, loop.stop) != (other.start, other.stop):
            return None
        if any(linear_terms(bound) is None for bound in (loop.start, loop.stop)):
            return None
        value, copy = (self._assign(one, bodies) for one in (first, second))
        statements = (self.scop.statement(first.statement), self.scop.statement(second.statement))
        if value is None or copy is None:
            return None
        if self._is_checked(value, statements[0]) or self._is_checked(copy, statements[1]):
            return None
        moved = simplify_subscripts(substitute(copy.target, {other.iterator: Name(loop.iterator)}))
        assert isinstance(moved, Element)
        return MirroredLoops(loop, *statements, value, moved)

    def _assign(self, instance: Instance, bodies: Mapping[str, Sequence[Instruction]]) -> Assign | None:
        """What ``instance`` does, where that is to set a cell."""
        statement = self.scop.statement(instance.statement)
        body = placed_body(statement, bodies[instance.statement], instance.arguments)
        only = body[0] if len(body) == 1 else None
        return only if isinstance(only, Assign) and only.operator is None else None

    def _is_checked(self, assign: Assign, statement: Statement) -> bool:
        elements = (assign.target, *elements_of(assign.value))
        return any(is_checked(self.scop, element, statement) for element in elements)

    def _loops(self, found: MirroredLoops, indent: int) -> None:
        """The loop over one half of the row, and the cell in the middle."""
        loop, iterator = found.loop, found.loop.iterator
        names = LocalNames(self.arrays, (loop.start, loop.stop, found.value, found.target))
        middle = names.of(f"{iterator}_middle")
        length = self.printer.value(simplified(Binary("-", loop.stop, loop.start)))
        start = self.printer.value(loop.start)
        far = simplified(Binary("-", Binary("+", loop.start, loop.stop), Binary("+", Name(iterator), Constant(1))))
        values = [names.of(f"{found.value.target.array}_{side}") for side in ("near", "far")]
        self._line(indent, "{")
        begin = "" if loop.start == Constant(0) else f"{start.within(SUM)} + "
        self._line(indent + 1, f"const int64_t {middle} = {begin}{length.within(PRODUCT)} / 2;")
        if loop.vector:
            self._line(indent + 1, "#pragma omp simd")
        self._line(indent + 1, f"for (int64_t {iterator} = {start.text}; {iterator} < {middle}; {iterator}++) {{")
        places = (Name(iterator), far)
        for name, place in zip(values, places, strict=True):
            self._value(found, name, place, indent + 2)
        for name, place in zip(values, places, strict=True):
            self._store(found, name, place, indent + 2)
        self._line(indent + 1, "}")
        self._line(indent + 1, f"if ({length.within(PRODUCT)} % 2 > 0) {{")
        self._value(found, values[0], Name(middle), indent + 2)
        self._store(found, values[0], Name(middle), indent + 2)
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _value(self, found: MirroredLoops, name: str, place: Expression, indent: int) -> None:
        """A variable with the new value of the cell at ``place``."""
        self.dtypes[name] = self.dtypes[found.value.target.array]
        moved = simplify_subscripts(substitute(found.value, {found.loop.iterator: place}))
        assert isinstance(moved, Assign)
        self.arrays.enter(found.first)
        (line,) = self.printer.instructions([replace(moved, target=Element(name))], 0)
        kind = C_TYPE_NAMES[self.dtypes[name]]
        self.text.add(indent, f"const {kind} {line}{_comment(found.first, place)}", found.first)

    def _store(self, found: MirroredLoops, name: str, place: Expression, indent: int) -> None:
        cell = simplify_subscripts(substitute(found.target, {found.loop.iterator: place}))
        assert isinstance(cell, Element)
        self.arrays.enter(found.second)
        (line,) = self.printer.instructions([Assign(cell, Element(name))], 0)
        self.text.add(indent, f"{line}{_comment(found.second, place)}", found.second)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _comment(statement: Statement, place: Expression) -> str:
    """What the source says, beside the cell; its image is seen from that."""
    return f"  // line {statement.span.line}: {statement.headline}" if isinstance(place, Name) else ""
