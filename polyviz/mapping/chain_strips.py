"""Bands whose chains run side by side in strips, applied to the tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.mapping.band_plan import mark_of
from polyviz.mapping.full_tiles import find_full_tiles
from polyviz.mapping.innermost import mark_loop
from polyviz.mapping.interleave import CHAINS, cut_into_strips, interleave_strips
from polyviz.model.plan import POINTS, FullTiles
from polyviz.transform.interchange import permute_members
from polyviz.transform.tree import insert_mark

if TYPE_CHECKING:
    from polyviz.mapping.band_plan import BandPlan
    from polyviz.mapping.marked import Mapped
    from polyviz.model.scop import Scop


def apply_strips(scop: Scop, mapped: Mapped, plan: BandPlan, number: int) -> Mapped:
    """``mapped`` with the innermost loop of one band in strips that run inside the loops below."""
    tree, _ = permute_members(mapped.tree, plan.path, plan.order)
    tree, strips = cut_into_strips(tree, plan.path)
    points, mark = (*strips, 0), f"{POINTS}:{number}"
    full = find_full_tiles(scop, tree, points, (CHAINS,))
    tree = interleave_strips(scop, tree, points)
    if full is not None:
        tree = insert_mark(tree, points, mark)
        mapped = replace(mapped, full_tiles=(*mapped.full_tiles, FullTiles(mark, full)))
    if plan.parallel is not None:
        last = plan.parallel == len(plan.order) - 1
        place, member = (strips, 0) if last else (plan.path, plan.parallel)
        tree = mark_loop(tree, place, member, mark_of(plan, number))
    return replace(mapped, tree=tree)
