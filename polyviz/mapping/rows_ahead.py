"""Strips of columns that walk down a large array: C asks for rows some steps before the strip needs them.

A strip touches a few cache lines of each row, and the next row is in another page of memory, where hardware does not
look ahead. So the loop over rows waits for memory in every step, although it is known long before what it will need.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import motions, statement_rows
from polyviz.model.isl_limits import solved
from polyviz.model.plan import PARALLEL, PIPELINE, REDUCED, VECTOR, WAITING, RowsAhead
from polyviz.transform.tree import bands, is_band, is_under_mark, kind_of, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.scop import Scop, Statement

WIDEST = 128
"""Iterations in a strip up to which rows are asked for: longer ones give hardware the time to see where they lead."""
LONG = 512
"""Iterations from which a loop with a limit is no tile: those of a tile are used again, while they are near."""
_SHARED = (PARALLEL, REDUCED, PIPELINE, WAITING)


def find_rows_ahead(scop: Scop, tree: isl.Schedule, cache: int) -> tuple[RowsAhead, ...]:
    """The statements in short vector loops along memory, right inside a serial loop in which they go from row to row;
    ``cache`` is the size, in bytes, of the cache that each core has for itself."""
    found = []
    for strip, around in _strips(tree):
        every = map(scop.statement, statements_under(strip))
        names = [statement.name for statement in every if _walks_down(statement, strip, around)]
        width = _longest(scop, strip) if names else 0
        if 0 < width <= WIDEST and width < _longest(scop, strip, anywhere=True) and _longest(scop, around) >= LONG:
            found += [RowsAhead(name, int(width), cache) for name in names]
    return tuple(found)


def _strips(tree: isl.Schedule) -> Iterator[tuple[isl.ScheduleNode, isl.ScheduleNode]]:
    """Each vector loop with no other in it, and the serial band right around it."""
    paths = [path for path, _ in bands(tree)]
    for path, band in bands(tree):
        is_innermost = not any(other != path and other[: len(path)] == path for other in paths)
        around = _band_around(band)
        if is_innermost and around is not None and is_under_mark(band, VECTOR) and not _is_shared(around):
            yield band, around


def _band_around(node: isl.ScheduleNode) -> isl.ScheduleNode | None:
    while node.has_parent():
        node = node.parent()
        if is_band(node):
            return node
    return None


def _is_shared(band: isl.ScheduleNode) -> bool:
    """Whether threads share the only loop of ``band``: they do not come to its next row, but to another one."""
    parent = band.parent()
    return kind_of(parent) == "mark" and parent.mark_get_id().get_name().partition(":")[0] in _SHARED


def _longest(scop: Scop, band: isl.ScheduleNode, *, anywhere: bool = False) -> float:
    """The most iterations of the last loop of ``band`` for one iteration of those around it, or from the first to the
    last ``anywhere``; 0 where isl cannot tell."""
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    times = isl.UnionMap.from_multi_union_pw_aff(rows).intersect_domain(band.get_domain())
    times = times.intersect_params(scop.context)
    every = times.get_map_list()
    found = [_span(every.get_at(position).range(), anywhere=anywhere) for position in range(every.n_map())]
    return max(found) if all(found) else 0


def _span(times: isl.Set, *, anywhere: bool) -> float:
    """How many values the last dimension of ``times`` has for the same values of the others, or ``anywhere``."""
    last = times.dim(isl.dim_type.set) - 1
    pairs = isl.Map.from_domain_and_range(times, times)
    for position in range(0 if anywhere else last):
        pairs = pairs.equate(isl.dim_type.in_, position, isl.dim_type.out, position)
    steps = solved(lambda: pairs.deltas().dim_max_val(last))
    if steps is None or not (steps.is_int() or steps.is_infty()):
        return 0
    return inf if steps.is_infty() else int(steps.to_python()) + 1


def _walks_down(statement: Statement, strip: isl.ScheduleNode, around: isl.ScheduleNode) -> bool:
    """Whether an access of ``statement`` moves along memory in the strip, and from row to row in the loop around it."""
    rows = strip.get_prefix_schedule_multi_union_pw_aff()
    outside = around.get_prefix_schedule_multi_union_pw_aff().dim(isl.dim_type.out) + around.band_n_member() - 1
    own = statement_rows(rows.flat_range_product(strip.band_get_partial_schedule()), statement)
    steps, neighbours = motions(statement, own, outside), motions(statement, own, len(own) - 1)
    return any(
        along.locality == "unit" and any(step.change[:-1])
        for step, along in zip(steps or (), neighbours or (), strict=False)
    )
