"""Analysis: exact dependences, reductions, footprints and the legality of any schedule."""

from __future__ import annotations

from polyviz.analysis.bounds import check_bounds
from polyviz.analysis.counted_quotients import with_quotients_counted
from polyviz.analysis.counting import count_points, instance_counts
from polyviz.analysis.delinearisation import with_arrays_in_rows
from polyviz.analysis.dependences import dependences
from polyviz.analysis.extremes import with_extremes
from polyviz.analysis.footprints import Footprint, footprints, operation_counts
from polyviz.analysis.joined_strips import with_strips_joined
from polyviz.analysis.known_sizes import with_known_sizes
from polyviz.analysis.legality import check
from polyviz.analysis.live_ranges import separate_live_ranges
from polyviz.analysis.nesting import common_loops, loop_nests
from polyviz.analysis.parallelism import BandProperties, MemberProperties, band_properties, parallelism
from polyviz.analysis.private_arrays import with_private_arrays
from polyviz.analysis.reductions import Reduction, find_reductions
from polyviz.analysis.rerolled import with_loops_rolled_up
from polyviz.analysis.reuse import Reuse, find_reuse
from polyviz.analysis.small_arrays import with_small_arrays_as_variables
from polyviz.analysis.substitution import with_values_in_place
from polyviz.analysis.superposed import check_superposition
from polyviz.analysis.transposition import transposable, with_transposed_arrays

__all__ = [
    "BandProperties",
    "Footprint",
    "MemberProperties",
    "Reduction",
    "Reuse",
    "band_properties",
    "check",
    "check_bounds",
    "check_superposition",
    "common_loops",
    "count_points",
    "dependences",
    "find_reductions",
    "find_reuse",
    "footprints",
    "instance_counts",
    "loop_nests",
    "operation_counts",
    "parallelism",
    "separate_live_ranges",
    "transposable",
    "with_arrays_in_rows",
    "with_extremes",
    "with_known_sizes",
    "with_loops_rolled_up",
    "with_private_arrays",
    "with_quotients_counted",
    "with_small_arrays_as_variables",
    "with_strips_joined",
    "with_transposed_arrays",
    "with_values_in_place",
]
