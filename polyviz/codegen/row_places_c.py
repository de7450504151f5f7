"""Where the rows of a block are in C: those of one array count from the first of them.

    const double *const A_from0 = &A[i][j - 1][0];
    const int64_t A_stride0 = sizeof(A[0][0]) / sizeof(double);
    …
    … A_from0[k] … A_from0[2 * A_stride0 + k + 1] …

Left alone, compilers keep an address for each row, which is best as long as registers hold them. A block of a stencil
in three dimensions has more of them, and they would be read from memory in every iteration; multiples of one distance
serve all rows of an array.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.row_blocks import line_and_offset
from polyviz.model.expression import Constant, Element
from polyviz.model.linear import linear_terms, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.row_blocks import RowBlock
    from polyviz.model.expression import Expression

MOST_ADDRESSES = 12
"""Rows whose addresses stay in registers, beside what counts the iterations of the loops."""
FEWEST_ROWS = 2
"""Rows of one array that are worth a pointer of their own."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Cells of one array that differ in the row, which subscript ``axis`` tells, and in the column. ``pointer`` is the
    row of the ``first``, whose subscript ends in ``place``, and ``stride`` the distance from row to row."""

    pointer: str
    stride: str
    axis: int
    first: Element
    place: int


class RowPlaces:
    """Texts for the cells of ``block``: ``of`` names variables, and ``text`` writes expressions."""

    def __init__(
        self,
        block: RowBlock,
        arrays: ArrayPrinter,
        of: Callable[[str], str],
        text: Callable[[Expression], str],
    ) -> None:
        self.block = block
        self.arrays = arrays
        self.text = text
        targets = [update.target for update in block.updates]
        self._written = {target.array for target in targets}
        cells = [stream.first for stream in block.streams] + targets
        addresses = {line_and_offset(cell)[0] for cell in cells}
        self._rows = dict(_rows(block.rows.iterator, cells, of)) if len(addresses) > MOST_ADDRESSES else {}

    def declarations(self) -> Iterator[str]:
        """The pointers to first rows, and the distances from row to row."""
        kind = C_TYPE_NAMES[self.block.dtype]
        for rows in self._rows.values():
            const = "" if rows.first.array in self._written else "const "
            start = replace(rows.first, subscripts=(*rows.first.subscripts[:-1], Constant(0)))
            yield f"{const}{kind} *const {rows.pointer} = &{self.text(start)};"
        strides = {rows.stride: rows for rows in self._rows.values()}
        for stride, rows in strides.items():
            row = self.arrays.identifier(rows.first.array) + "[0]" * (rows.axis + 1)
            yield f"const int64_t {stride} = sizeof({row}) / sizeof({kind});"

    def cell(self, element: Element) -> str:
        """The text of ``element``."""
        found = _place(element, self.block.rows.iterator)
        rows = None if found is None else self._rows.get(found[0])
        if found is None or rows is None:
            return self.text(element)
        distance = found[1] - rows.place
        steps = {0: "", 1: f"{rows.stride} + "}.get(distance, f"{distance} * {rows.stride} + ")
        return f"{rows.pointer}[{steps}{self.text(element.subscripts[-1])}]"


def _rows(
    iterator: str, cells: Iterable[Element], of: Callable[[str], str]
) -> Iterator[tuple[object, _Rows]]:
    """What ``cells`` have in common where several of them are in other rows of one array."""
    found: dict[object, dict[int, Element]] = {}
    for cell in cells:
        known = _place(cell, iterator)
        if known is not None:
            found.setdefault(known[0], {}).setdefault(known[1], cell)
    together = {key: places for key, places in found.items() if len(places) >= FEWEST_ROWS}
    for number, (key, places) in enumerate(together.items()):
        place = min(places)
        first = places[place]
        axis = _axis(first, iterator)
        assert axis is not None
        yield (
            key,
            _Rows(of(f"{first.array}_from{number}"), of(f"{first.array}_stride{axis}"), axis, first, place),
        )


def _place(element: Element, iterator: str) -> tuple[object, int] | None:
    """What ``element`` shares with cells in other rows and columns, and its row among these; None where rows are not
    one after the other in memory."""
    axis = _axis(element, iterator)
    if axis is None:
        return None
    terms = dict(linear_terms(element.subscripts[axis]) or {})
    place = terms.pop("", 0)
    others = (*element.subscripts[:axis], *element.subscripts[axis + 1 : -1])
    return (element.array, axis, written(terms), others), place


def _axis(element: Element, iterator: str) -> int | None:
    """The subscript that moves by one from row to row, where it is not the last and no other moves."""
    terms = [linear_terms(subscript) for subscript in element.subscripts]
    if any(found is None for found in terms):
        return None
    moving = [axis for axis, found in enumerate(terms) if found is not None and found.get(iterator, 0)]
    if len(moving) != 1 or moving[0] == len(terms) - 1:
        return None
    step = terms[moving[0]]
    return moving[0] if step is not None and step[iterator] == 1 else None
