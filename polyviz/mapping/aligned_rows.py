"""Rows on cache lines: the arrays of a stencil that is tiled in time stand in copies whose rows begin there.

NumPy's arrays begin where memory was free, and rows of odd length anywhere: nearly every vector then lies across two
cache lines, takes two accesses, and steps over time do that again and again. To copy the arrays once, into rows of
whole lines, and back at the end costs as much as a few steps. It pays for statements whose vectors may begin
wherever memory asks for it (``polyviz.codegen.row_blocks_c``): those that do not read the array that they write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.plan import AlignedRows
from polyviz.model.schedule import Decision
from polyviz.model.words import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.scop import Scop, Statement


def aligned_rows(scop: Scop, names: Sequence[str]) -> AlignedRows | None:
    """The arrays with rows that the statements ``names`` of one band use, where copies of them can pay."""
    statements = [scop.statement(name) for name in names]
    if any(_reads_what_it_writes(statement) for statement in statements):
        return None
    used = {access.array for statement in statements for access in statement.accesses}
    arrays = tuple(array.name for array in scop.arrays if array.name in used and array.rank > 1)
    columns = [column for statement in statements for column in _first_columns(statement, arrays)]
    return AlignedRows(arrays, min(columns, default=0)) if arrays else None


def aligned_rows_decision(rows: AlignedRows, statements: tuple[str, ...]) -> Decision:
    """What is said of arrays that are copied for the steps of a stencil."""
    text = (
        f"where the steps over time are many, {listed(rows.arrays)} stand in copies meanwhile: column {rows.column} "
        "of each row begins a cache line, so that vectors do not lie across two"
    )
    return Decision("align", text, statements, {"arrays": rows.arrays})


def _reads_what_it_writes(statement: Statement) -> bool:
    written = {access.array for access in statement.accesses if access.kind == "write"}
    return any(access.array in written for access in statement.accesses if access.kind == "read")


def _first_columns(statement: Statement, arrays: Sequence[str]) -> list[int]:
    """The first columns that ``statement`` writes, as far as they are numbers."""
    cells = [
        access.relation.intersect_domain(statement.domain).range()
        for access in statement.accesses
        if access.kind == "write" and access.array in arrays
    ]
    return [column for found in cells if (column := _first_column(found)) is not None]


def _first_column(cells: isl.Set) -> int | None:
    """The smallest last subscript in ``cells``, whatever the parameters; None where that is no number."""
    smallest = cells.project_out_all_params().dim_min_val(cells.dim(isl.dim_type.set) - 1)
    return int(smallest.to_python()) if smallest.is_int() else None
