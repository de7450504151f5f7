"""Analysis: exact dependences, reductions, footprints and the legality of any schedule."""

from __future__ import annotations

from polyviz.analysis.bounds import check_bounds
from polyviz.analysis.dependences import dependences
from polyviz.analysis.legality import check
from polyviz.analysis.nesting import common_loops, loop_nests
from polyviz.analysis.parallelism import BandProperties, MemberProperties, band_properties, parallelism
from polyviz.analysis.reductions import Reduction, find_reductions

__all__ = [
    "BandProperties",
    "MemberProperties",
    "Reduction",
    "band_properties",
    "check",
    "check_bounds",
    "common_loops",
    "dependences",
    "find_reductions",
    "loop_nests",
    "parallelism",
]
