"""Rows of a few cells: the three coordinates of a point, the four numbers of a rotation.

Who knows how long they are knows how far the next point is: vectors of points are loaded as a whole then, taken apart
into coordinates, and stored as a whole, where each number would be on its own otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import access_rows

if TYPE_CHECKING:
    from polyviz.model.scop import Access, Array, Scop, Statement

TOGETHER = (2, 3, 4)
"""Cells of a row that compilers take apart in registers; longer ones they load number by number all the same."""
_LONGEST = 16


def short_rows(scop: Scop) -> dict[str, int]:
    """The arguments that are stored row by row, with the first of the axes that make short rows: those on which every
    subscript stays below a small number.

    Where a loop adds to one and the same row, nothing is gained: that stays in registers.

    >>> import polyviz as pv
    >>> text = "def f(x, y):\\n  for i in range(len(x)):\\n    for k in range(3):\\n      y[i, k] = x[i]"
    >>> short_rows(pv.extract(text))
    {'y': 1}
    """
    found: dict[str, int] = {}
    for array in scop.arrays:
        if array.origin == "argument" and array.live_out and array.rank > 1:
            first = _first_short(scop, array)
            if first < array.rank and _is_stored_by_rows(scop, array, first):
                found[array.name] = first
    return found


def _touching(scop: Scop, array: Array) -> list[tuple[Statement, Access]]:
    return [(part, one) for part in scop.statements for one in part.accesses if one.array == array.name]


def _first_short(scop: Scop, array: Array) -> int:
    """The first of the last axes that are short; their number where the last one is not."""
    first = array.rank
    while first > 1 and all(_is_short(one, first - 1) for _, one in _touching(scop, array)):
        first -= 1
    return first


def _is_short(access: Access, axis: int) -> bool:
    last = access.relation.range().dim_max_val(axis)
    return bool(last.is_int() and last < isl.Val(_LONGEST))


def _is_stored_by_rows(scop: Scop, array: Array, first: int) -> bool:
    """Whether the innermost loop around each store, but for those inside a row, goes on to another row."""
    for statement, access in _touching(scop, array):
        rows = access_rows(access, len(statement.iterators))
        if access.kind != "write":
            continue
        if rows is None:
            return False
        around = [loop for loop in range(len(statement.iterators)) if not any(row[loop] for row in rows[first:])]
        if not around or not any(row[around[-1]] for row in rows[:first]):
            return False
    return True
