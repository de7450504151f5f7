"""The best loop of a band with further loops below it: innermost in its band, and in vector lanes around short loops.

A convolution over the channels of an image adds up a window of nine numbers for each channel. The window is too short
for vectors, and its numbers are far apart; neighbouring channels lie side by side and have nothing to do with each
other, so that a vector of channels goes through the window together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.analysis.strides import statement_rows
from polyviz.mapping.short_loops import iterations_inside
from polyviz.model.plan import VECTOR
from polyviz.model.schedule import Decision
from polyviz.transform.innermost import innermost_scores
from polyviz.transform.tree import bands, is_under_mark, node_at, statements_under

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.analysis import BandProperties
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path

UNROLLED = 64
"""Iterations of the loops inside a vector loop up to which compilers write them out, and take the loop for a vector."""


@dataclass(frozen=True, slots=True)
class OuterVectors:
    """``member`` of a band with loops below it follows memory best; ``lanes``: its iterations run in vector lanes."""

    member: int
    lanes: bool


def choose_outer_vectors(
    scop: Scop, tree: isl.Schedule, path: Path, found: BandProperties, *, lanes: bool
) -> OuterVectors | None:
    """The best innermost loop of the band at ``path``; None where its order is not free.

    ``lanes`` tells that they are wanted: they ask for references that stay or go to a neighbour, and for a constant,
    small number of iterations inside.
    """
    if not (found.permutable and all(member.coincident for member in found.members)):
        return None
    scores = innermost_scores(scop, tree, path)
    best = max(scores, key=lambda score: (score.score, score.member))
    band = node_at(tree, path)
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    statements = [scop.statement(name) for name in statements_under(band)]
    short = all(iterations_inside(one, statement_rows(rows, one)) <= UNROLLED for one in statements)
    return OuterVectors(best.member, lanes and best.vectorizable and best.spatial > 0 and short)


def lanes_decisions(tree: isl.Schedule, target: str) -> tuple[Decision, ...]:
    """What is said of the vector loops in ``tree`` with loops inside them."""
    why = "neighbours lie side by side in memory, and the loops inside are too short for vectors of their own"
    text = (
        f"a parallel loop runs in vector lanes around the loops inside it: {why}"
        if target == "c"
        else f"the loops inside a parallel loop are left to the compiler of {target}: in c it runs in vector lanes "
        f"around them, since {why}"
    )
    every = list(bands(tree))
    around = [(path, band) for path, band in every if is_under_mark(band, VECTOR)]
    return tuple(
        Decision("outer_vectors", text, statements_under(band))
        for path, band in around
        if any(other != path and other[: len(path)] == path for other, _ in every)
    )
