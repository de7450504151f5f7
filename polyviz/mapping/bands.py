"""Editing one band of a tree: tiles, wavefronts, member order. Legality is the caller's business."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.exclusion import exclusive
from polyviz.transform.tree import Path, band_at, coincident_members, members, replace_rows

if TYPE_CHECKING:
    from collections.abc import Sequence


def permuted(tree: isl.Schedule, path: Path, order: Sequence[int]) -> isl.Schedule:
    """The band at ``path`` with its members in another order: position ``k`` holds the old member ``order[k]``."""
    band = band_at(tree, path)
    rows, coincident = members(band), coincident_members(band)
    return replace_rows(
        tree, path, [rows[member] for member in order], coincident=[coincident[member] for member in order]
    )


@exclusive
def tiled(tree: isl.Schedule, path: Path, sizes: Sequence[int], *, scaled: bool) -> isl.Schedule:
    """Tile loops at ``path``, the old band below at ``(*path, 0)``.

    Tile loops run over multiples of their size when ``scaled``, else over tile numbers; point loops keep the
    original values.
    """
    context = isl.DEFAULT_CONTEXT
    before = context.get_tile_scale_tile_loops(), context.get_tile_shift_point_loops()
    context.set_tile_scale_tile_loops(int(scaled))
    context.set_tile_shift_point_loops(0)
    try:
        band = band_at(tree, path)
        values = isl.MultiVal.zero(band.band_get_space())
        for member, size in enumerate(sizes):
            values = values.set_val(member, isl.Val(size))
        return band.band_tile(values).get_schedule()
    finally:
        context.set_tile_scale_tile_loops(before[0])
        context.set_tile_shift_point_loops(before[1])


def wavefront(tree: isl.Schedule, path: Path) -> isl.Schedule:
    """The band at ``path`` with its first row replaced by the sum of the first two: the second becomes parallel."""
    band = band_at(tree, path)
    rows, coincident = members(band), coincident_members(band)
    return replace_rows(
        tree, path, [rows[0].add(rows[1]), *rows[1:]], coincident=[False, True, *coincident[2:]]
    )
