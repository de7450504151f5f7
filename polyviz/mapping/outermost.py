"""The nests of a whole part, which follow each other outside all loops."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from polyviz.analysis.carried import visits
from polyviz.analysis.parallelism import first_is_parallel
from polyviz.transform.tree import bands

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop

OUTERMOST = (0,)
"""Where the sequence of all nests stands."""


def has_inner_loops(tree: isl.Schedule, place: int) -> bool:
    """Whether the nest at ``place`` has more than one loop."""
    return sum(band.band_n_member() for path, band in bands(tree) if path[:2] == (*OUTERMOST, place)) > 1


def is_parallel(scop: Scop, dependences: Dependences, tree: isl.Schedule, place: int) -> bool:
    """Whether the outermost loop of the nest at ``place``, or of the only one there is, is parallel."""
    walk = zip(bands(tree), visits(scop, dependences, tree), strict=True)
    nest = (visit for (path, _), visit in walk if path[:2] == (*OUTERMOST, place) or path == OUTERMOST)
    return any(map(first_is_parallel, islice(nest, 1)))
