"""Mapping: a schedule bound to a target becomes a plan."""

from __future__ import annotations

from polyviz.mapping.gpu import DEVICE_TARGETS, for_cells, with_smaller_tiles
from polyviz.mapping.targets import make_plan
from polyviz.mapping.tile_sizes import row_height
from polyviz.mapping.untiled import in_source_order, without_tiles

__all__ = [
    "DEVICE_TARGETS",
    "for_cells",
    "in_source_order",
    "make_plan",
    "row_height",
    "with_smaller_tiles",
    "without_tiles",
]
