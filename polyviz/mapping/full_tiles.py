"""Which tiles are full: those whose every point is an instance, so that their loops have constant trip counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.isl_limits import solved
from polyviz.transform.tree import Path, band_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.scop import Scop

MAXIMUM_PIECES = 1
"""A condition with more disjuncts costs more than it gains."""
_OPERATIONS = 100_000
"""What isl may spend on the question: a condition that is hard to find has many disjuncts."""


def find_full_tiles(scop: Scop, tree: isl.Schedule, path: Path, steps: Sequence[int]) -> isl.Set | None:
    """The full tiles of the band of point loops at ``path``, as values of all loops around it.

    A tile is full when every point of its box is an instance, for each statement that has instances in it.
    ``steps`` are the steps of the tile loops, the innermost loops around the band, whose multiples need no test. None
    where there is no full tile or asking for it would not pay.
    """
    band = band_at(tree, path)
    full = solved(lambda: _full_prefixes(scop, band), _OPERATIONS)
    if full is None or full.is_empty() or full.n_basic_set() > MAXIMUM_PIECES:
        return None
    return full.gist(_multiples(scop, band.get_schedule_depth(), steps))


def _multiples(scop: Scop, depth: int, steps: Sequence[int]) -> isl.Set:
    """All values of ``depth`` loops, the last ones multiples of ``steps``."""
    known = isl.Set.universe(_set_space(scop, depth))
    for position, step in enumerate(steps, start=depth - len(steps)):
        names = ", ".join(f"i{other}" for other in range(depth))
        multiples = isl.Set(f"{{ [{names}] : i{position} mod {step} = 0 }}")
        known = known.intersect(multiples.align_params(known.get_space()))
    return known


def _full_prefixes(scop: Scop, band: isl.ScheduleNode) -> isl.Set | None:
    """The values of all loops around ``band`` that select a full tile."""
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    depth = band.get_schedule_depth()
    selected, partial = None, None
    for statement in scop.statements:
        function = rows.intersect_domain(isl.UnionSet.from_set(statement.domain))
        if function.domain().is_empty():
            continue
        times = _set_space(scop, rows.dim(isl.dim_type.out))
        space = isl.Space.map_from_domain_and_range(statement.domain.get_space(), times)
        instances = isl.UnionMap.from_multi_union_pw_aff(rows).extract_map(space)
        function_of_all = _unbounded(instances)
        if function_of_all is None:
            return None
        box = function_of_all.range()
        inside = instances.intersect_domain(statement.domain).range()
        missing = _prefix(box.subtract(inside), depth)
        selected = _prefix(inside, depth) if selected is None else selected.union(_prefix(inside, depth))
        partial = missing if partial is None else partial.union(missing)
    if selected is None or partial is None:
        return None
    return selected.subtract(partial).coalesce()


def _unbounded(instances: isl.Map) -> isl.Map | None:
    """The same function without the bounds of the iteration domain; None for one that is made of pieces."""
    found = pieces_of(isl.PwMultiAff.from_map(instances))
    return isl.Map.from_multi_aff(found[0][1]) if len(found) == 1 else None


def _prefix(points: isl.Set, depth: int) -> isl.Set:
    count = points.dim(isl.dim_type.set)
    return points.project_out(isl.dim_type.set, depth, count - depth)


def _set_space(scop: Scop, count: int) -> isl.Space:
    return scop.context.get_space().set_from_params().add_dims(isl.dim_type.set, count)
