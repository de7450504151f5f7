"""Rows that C asks for some steps before a strip of columns needs them.

    if (rows_are_far(u_extent0, sizeof(double) * u_extent1, 524288)) {
        for (int64_t j = 1; j < n; j++) {
            fetch_row(u, sizeof(double) * ((size_t)(j + 32) * u_extent1 + i_tile + 7), 1);
            #pragma omp simd
            for (int64_t i = i_tile; i < i_tile + 8; i++) {
                u[j][i] = 0.5 * (u[j][i] + u[j - 1][i]);
            …
    } else {
        for (int64_t j = 1; j < n; j++) {

The lines asked for are those that end with the last cell of the strip: where neighbours are read as well, the others
were there for the strip before. Whether it pays is known when the loop runs: a small array stays in a cache. A test in
the loop itself would keep the compiler from much that it does with short ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from polyviz.codegen.bodies import inner_iterators, placed_body
from polyviz.codegen.index import simplified
from polyviz.codegen.loops import Block, For, Instance, descendants, instances
from polyviz.codegen.typing import C_TYPE_NAMES
from polyviz.model.expression import Binary, Constant, Element, Expression, Name, substitute, walk
from polyviz.model.linear import linear_terms, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Instruction
    from polyviz.model.linear import Terms
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop

LINE = 64
"""Bytes in a cache line."""
LINES_AHEAD, FEWEST_ROWS = 32, 4
"""Cache lines on their way at a time, which takes memory as long as the strip needs to come to them."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Cells of ``array`` in the columns of a ``strip`` that moves ``step`` subscripts along ``axis`` with each
    iteration of the loop around it: the foremost of them, as ``subscripts``, and the ``lines`` of a row."""

    array: str
    axis: int
    step: int
    strip: For
    lines: int
    subscripts: tuple[Terms, ...]

    @property
    def names(self) -> frozenset[str]:
        """What the subscripts mention."""
        return frozenset(name for terms in self.subscripts for name in terms)

    def key(self) -> object:
        """The same for walks along the same rows, or rows and columns so many further."""
        moving = self.axis, len(self.subscripts) - 1
        fixed = tuple(
            frozenset((name, value) for name, value in terms.items() if name or axis not in moving)
            for axis, terms in enumerate(self.subscripts)
        )
        return self.array, self.strip.start, self.strip.stop, fixed

    def with_reach(self, other: Walk) -> Walk:
        """The foremost row and the last column of both."""
        subscripts = list(self.subscripts)
        for axis, sign in ((self.axis, self.step), (-1, 1)):
            ends = subscripts[axis].get("", 0), other.subscripts[axis].get("", 0)
            subscripts[axis] = {**subscripts[axis], "": max(ends) if sign > 0 else min(ends)}
        return replace(self, subscripts=tuple(subscripts))


class RowsAheadPrinter:
    """Writes what a loop over rows asks for; ``chosen``: those of the loops that are being printed, by identity."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Mapping[str, ArrayType],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
    ) -> None:
        self.scop = scop
        self.text = text
        self.chosen: dict[int, list[str]] = {}
        self.found = {found.statement: found for found in plan.rows_ahead}
        self.types = types
        self.arrays = arrays
        self.printer = printer

    def write(
        self,
        loop: For,
        bodies: Mapping[str, Sequence[Instruction]],
        indent: int,
        print_loop: Callable[[For, int], None],
    ) -> bool:
        """Print ``loop`` with what it asks for and, for small arrays, without; False where it asks for nothing."""
        walks = {} if id(loop) in self.chosen else self._found(loop, bodies)
        if not walks:
            return False
        self.printer.helpers.update(("rows_are_far", "fetch_row"))
        ahead = max(FEWEST_ROWS, LINES_AHEAD // sum(one.lines for one in walks.values()))
        conditions = dict.fromkeys(map(self._is_far, walks.values()))
        asked = [self._asked(one, loop, ahead) for one in walks.values()]
        for head, lines in ((f"if ({' || '.join(conditions)}) {{", asked), ("} else {", [])):
            self.text.add(indent, head)
            self.chosen[id(loop)] = lines
            print_loop(loop, indent + 1)
        del self.chosen[id(loop)]
        self.text.add(indent, "}")
        return True

    def lines(self, loop: For) -> list[str]:
        """What each iteration of ``loop``, as it is printed now, asks for at its start."""
        return self.chosen.get(id(loop), [])

    def _found(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> dict[object, Walk]:
        """The walks in ``loop``; none where it is another one than a serial loop around strips."""
        strips = _strips(loop.body) if self.found and not _is_shared(loop) else None
        walks: dict[object, Walk] = {}
        for strip in strips or ():
            for walk_found in self._walks(loop, strip, bodies):
                key = walk_found.key()
                walks[key] = walks[key].with_reach(walk_found) if key in walks else walk_found
        return walks

    def _walks(self, loop: For, strip: For, bodies: Mapping[str, Sequence[Instruction]]) -> Iterator[Walk]:
        deeper = {node.iterator for node in descendants(strip.body) if isinstance(node, For)}
        inside = deeper | set(inner_iterators(self.scop))
        for instance in instances(strip):
            if instance.statement not in self.found:
                continue
            statement, width = self.scop.statement(instance.statement), self.found[instance.statement].width
            placed = placed_body(statement, bodies[instance.statement], instance.arguments)
            for element in (node for part in placed for node in walk(part) if isinstance(node, Element)):
                found = self._walk(element, loop, strip, width)
                if found is not None and not found.names & inside:
                    yield found

    def _walk(self, element: Element, loop: For, strip: For, width: int) -> Walk | None:
        """How ``element`` moves; None where hardware finds its way, or rows do not follow each other in memory."""
        if element.array not in self.arrays.shaped or self.types[element.array].layout != "C":
            return None
        subscripts = [linear_terms(subscript) for subscript in element.subscripts]
        known = tuple(terms for terms in subscripts if terms is not None)
        along = [terms.get(strip.iterator, 0) for terms in known]
        down = [terms.get(loop.iterator, 0) * loop.step for terms in known]
        if len(known) < max(2, len(subscripts)) or along != [0] * (len(known) - 1) + [1]:
            return None
        axes = [axis for axis, step in enumerate(down) if step]
        if len(axes) != 1 or axes[0] == len(known) - 1:
            return None
        lines = -(-width * self._itemsize(element.array) // LINE)
        return Walk(element.array, axes[0], down[axes[0]], strip, lines, known)

    def _is_far(self, found: Walk) -> str:
        """The condition under which it pays to ask for the rows of ``found``."""
        extents = self._extents(found)
        size = " * ".join([self._element(found.array), *extents[found.axis + 1 :]])
        cache = next(iter(self.found.values())).cache
        return f"rows_are_far({' * '.join(extents[: found.axis + 1])}, {size}, {cache})"

    def _extents(self, found: Walk) -> list[str]:
        return [self.arrays.tested_extent(found.array, axis) for axis in range(len(found.subscripts))]

    def _element(self, array: str) -> str:
        return f"sizeof({C_TYPE_NAMES[self.types[array].dtype]})"

    def _asked(self, found: Walk, loop: For, ahead: int) -> str:
        """The call that asks for the row of ``found`` so many iterations further."""
        extents = self._extents(found)
        moved: dict[str, Expression] = {
            loop.iterator: Binary("+", Name(loop.iterator), Constant(ahead * loop.step))
        }
        moved[found.strip.iterator] = _placed(found.strip.stop, moved)
        behind = found.subscripts[-1]
        last = {**behind, "": behind.get("", 0) - 1}
        subscripts = map(written, (*found.subscripts[:-1], last))
        cell, *others = [self._text(_placed(subscript, moved)) for subscript in subscripts]
        cell = f"(size_t){cell if cell.isidentifier() or cell.isdigit() else f'({cell})'}"
        for axis, subscript in enumerate(others, start=1):
            cell = f"{cell if axis == 1 else f'({cell})'} * {extents[axis]} + {subscript}"
        name = self.arrays.identifier(found.array)
        return f"fetch_row({name}, {self._element(found.array)} * ({cell}), {found.lines});"

    def _itemsize(self, array: str) -> int:
        return np.dtype(self.types[array].dtype).itemsize

    def _text(self, expression: Expression) -> str:
        return self.printer.expression(simplified(expression))


def _placed(expression: Expression, values: dict[str, Expression]) -> Expression:
    placed = substitute(expression, values)
    assert isinstance(placed, Expression)
    return placed


def _is_shared(loop: For) -> bool:
    return loop.vector or loop.collapsed or loop.interleave > 1 or bool(loop.parallel or loop.reduced or loop.pipeline)


def _strips(node: LoopNode) -> list[For] | None:
    """The vector loops that make up ``node``, with statements between them; None where there is something else."""
    match node:
        case Block(nodes):
            found = [_strips(child) for child in nodes]
            inside = [one for one in found if one is not None]
            return [strip for one in inside for strip in one] if len(inside) == len(found) else None
        case For(vector=True):
            return [node]
        case Instance():
            return []
    return None
