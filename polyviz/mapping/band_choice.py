"""The order of one band, its tiles, and which of its loops runs on threads or in vector lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.mapping.band_plan import BandPlan
from polyviz.mapping.outer_loops import OuterChoice, OuterLoops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.analysis import BandProperties
    from polyviz.mapping.locality import Locality
    from polyviz.mapping.outer_vectors import OuterVectors
    from polyviz.mapping.tile_sizes import TileSizes
    from polyviz.transform.tree import Path


def plan_band(
    path: Path,
    found: BandProperties,
    locality: Locality | None,
    around: Sequence[BandPlan],
    tiles: TileSizes,
    outside: OuterVectors | None = None,
) -> BandPlan:
    """The plan of one band; ``outside`` is what follows memory best in one with loops below it."""
    count = len(found.members)
    order = tuple(range(count))
    best = outside.member if outside is not None else locality.best_innermost if locality is not None else None
    if found.permutable and best is not None:
        order = (*(member for member in order if member != best), best)
    sizes = tiles.of_band(found, locality, order)
    if locality is not None and not sizes and found.permutable and all(one.coincident for one in found.members):
        order = (*(member for member in locality.along_memory if member != best), order[-1])
    parallel_around = any(plan.parallel is not None for plan in around)
    serial_around = sum(plan.serial_members for plan in around)
    outer = OuterLoops(found, order, bool(sizes), locality is None, parallel_around, serial_around).choose()
    innermost_parallel = found.members[order[-1]].coincident or (
        order == tuple(range(count)) and found.members[-1].parallel
    )
    # A loop shared between threads is not cut into vectors as well: its iterations are left whole.
    whole = not sizes and outer.parallel == count - 1
    innermost = locality is not None and not whole
    lanes = outside is not None and outside.lanes and not whole
    return BandPlan(
        path=path,
        order=outer.order if not sizes else order,
        tile_order=outer.order,
        sizes=sizes,
        parallel=outer.parallel,
        wavefront=outer.wavefront,
        vector=lanes or (innermost and innermost_parallel),
        separable=innermost,
        serial_members=count if outer.parallel is None else outer.parallel,
        collapse=_may_collapse(found, outer, has_inner_bands=locality is None) and not sizes,
    )


def _may_collapse(found: BandProperties, outer: OuterChoice, *, has_inner_bands: bool) -> bool:
    """Whether the first two loops are parallel, and the innermost of all is none of them."""
    if outer.parallel != 0 or not found.permutable or len(outer.order) < 2 + (not has_inner_bands):
        return False
    return all(found.members[member].coincident for member in outer.order[:2])
