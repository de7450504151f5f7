"""Cells that an innermost loop folds values into: they stay in a register, and sums (products too, and the least and
greatest of values) run in several vectors beside each other.

A compiler has to store the cell in every iteration unless it can prove that nothing else in the loop reads it, which
needs the exact dependences (``x[i] -= L[i, j] * x[j]`` never reads ``x[i]`` as ``x[j]``). One vector of partial sums
waits for the latency of each addition; several of them do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import islpy as isl

from polyviz.analysis import find_reductions
from polyviz.analysis.strides import direction, motions, statement_rows
from polyviz.mapping.short_loops import is_written_out
from polyviz.model.expression import Assign, Call, Conditional
from polyviz.model.plan import HELD_COLUMNS, VECTOR, Accumulation
from polyviz.model.schedule import Decision
from polyviz.transform.tree import band_at, bands, is_under_mark, marks_above, statements_under

if TYPE_CHECKING:
    from polyviz.analysis import Reduction
    from polyviz.analysis.strides import Row
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Access, Scop, Statement

LANES = 32
"""Partial sums beside each other, in doubles four vectors of 64 bytes or eight of 32: an addition takes about four
cycles, and one or two can start in every cycle. For one sum the number is the same everywhere, and so is the sum;
several that share a loop share the vector registers, too (``polyviz.codegen.vector_folds_c``)."""
VECTOR_BYTES = 32
"""Shorter vectors would need more registers than there are for so many lanes."""


def find_accumulations(
    scop: Scop, tree: isl.Schedule, processor: Processor | None
) -> tuple[tuple[Accumulation, ...], tuple[Decision, ...]]:
    """The statements of ``tree`` whose innermost loop folds values into a cell that does not move there, and what is
    said of them.

    There are no lanes for a ``processor`` that is known to have short vectors only.
    """
    reductions = {found.statement: found for found in find_reductions(scop)}
    found: dict[str, Accumulation] = {}
    paths = [path for path, _ in bands(tree)] if reductions else []
    vectors = [path for path in paths if is_under_mark(band_at(tree, path), VECTOR)]
    for path in paths:
        band = band_at(tree, path)
        inside = any(other != path and other[: len(path)] == path for other in paths)
        held = HELD_COLUMNS in marks_above(band)
        lanes_around = any(path != one and path[: len(one)] == one for one in vectors)
        names = () if inside or held else statements_under(band)
        others = [scop.statement(name) for name in names if name not in reductions]
        anew = {access.array for one in others if _moves_on(one, band) for access in _writes(one)}
        values = tuple(one.name for one in others if _is_value(scop, one, band))
        for name in names:
            reduction = reductions.get(name)
            if anew.intersection(access.array for access in _writes(scop.statement(name))):
                continue  # each iteration begins another sum
            accumulation = None if reduction is None else _accumulation(scop.statement(name), band, reduction)
            if accumulation is not None and reduction is not None:
                accumulation = replace(accumulation, values=values)
                statement = scop.statement(name)
                joins = in_lanes(statement, reduction) and _is_long(statement, _rows(statement, band))
                joins = joins and not lanes_around
                found.setdefault(name, _with_lanes(accumulation, processor) if joins else accumulation)
    return tuple(found.values()), tuple(map(_said, found.values()))


def _is_long(statement: Statement, rows: list[Row]) -> bool:
    """Whether the last of the loops around ``statement``, which ``rows`` are, has many iterations, none left out."""
    along = direction(rows, len(rows) - 1) or ()
    steps = [statement.domain.get_stride(loop) for loop, change in enumerate(along) if change]
    return all(step.is_one() for step in steps) and not is_written_out(statement, rows)


def _writes(statement: Statement) -> list[Access]:
    return [access for access in statement.accesses if access.kind == "write"]


def _is_value(scop: Scop, statement: Statement, band: isl.ScheduleNode) -> bool:
    """Whether ``statement`` gives a temporary what it finds along memory in the last loop of ``band``."""
    rows = _rows(statement, band)
    moving = motions(statement, rows, len(rows) - 1, parts=True)
    arrays = [access for access in statement.accesses if access.relation.dim(isl.dim_type.out)]
    if moving is None or not statement.exact or len(moving) < len(arrays):
        return False
    along = all(motion.locality != "strided" for motion in moving)
    return along and all(scop.array(access.array).rank == 0 for access in _writes(statement))


def _moves_on(statement: Statement, band: isl.ScheduleNode) -> bool:
    """Whether the last loop of ``band`` runs ``statement`` again and again, not at one place of each run."""
    rows = _rows(statement, band)
    return direction(rows, len(rows) - 1) is not None


def _rows(statement: Statement, band: isl.ScheduleNode) -> list[Row]:
    prefix = band.get_prefix_schedule_multi_union_pw_aff()
    return statement_rows(prefix.flat_range_product(band.band_get_partial_schedule()), statement)


def _accumulation(statement: Statement, band: isl.ScheduleNode, reduction: Reduction) -> Accumulation | None:
    rows = _rows(statement, band)
    moving = motions(statement, rows, len(rows) - 1, parts=True)
    if moving is None:
        return None
    cells = [motion for motion in moving if motion.access.kind == "write"]
    if any(motion.locality != "temporal" for motion in cells):
        return None
    localities = {motion.locality for motion in moving}
    arrays = [access for access in statement.accesses if access.relation.dim(isl.dim_type.out)]
    scattered = len(moving) < len(arrays) or not (statement.is_certain or _chooses(statement))
    stride: Literal["unit", "strided", "scattered"] = "strided" if "strided" in localities else "unit"
    return Accumulation(statement.name, reduction.operator, "scattered" if scattered else stride)


def _chooses(statement: Statement) -> bool:
    """Whether a choice is all that keeps ``statement`` from reading what it reads in every iteration."""
    (assign,) = statement.body
    return isinstance(assign, Assign) and isinstance(assign.value, Conditional)


def in_lanes(statement: Statement, reduction: Reduction) -> bool:
    """Whether partial results of ``statement`` may be joined afterwards: those of sums and products, and of the least
    or greatest value where a NaN means the same wherever it comes.

    ``max(cell, value)`` leaves the cell as it is where one of the two is NaN, ``max(value, cell)`` does not.
    """
    (assign,) = statement.body
    if reduction.operator not in ("min", "max") or not isinstance(assign, Assign):
        return reduction.operator in ("+", "*")
    call = assign.value
    first = isinstance(call, Call) and call.arguments[0] == assign.target
    return isinstance(call, Call) and (first or call.function not in ("min", "max"))


def _with_lanes(accumulation: Accumulation, processor: Processor | None) -> Accumulation:
    if accumulation.stride != "unit" or not has_lanes(processor):
        return accumulation
    return replace(accumulation, lanes=LANES)


def has_lanes(processor: Processor | None) -> bool:
    """Whether ``processor`` has registers for so many lanes, as far as that is known."""
    return processor is None or processor.vector_bytes >= VECTOR_BYTES


def _said(accumulation: Accumulation) -> Decision:
    text = "the innermost loop keeps the cell it updates in a register"
    if accumulation.lanes:
        does, what = {"+": ("adds", "sums"), "*": ("multiplies", "products")}.get(
            accumulation.operator, ("compares", "sums")
        )
        text += f", and {does} in {accumulation.lanes} lanes where {what} may be reordered"
    details = {"operator": accumulation.operator, "stride": accumulation.stride, "lanes": accumulation.lanes}
    return Decision("accumulate", text, (accumulation.statement,), details)
