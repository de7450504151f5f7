"""The best loop of a band with further loops below it: innermost in its band, and in vector lanes around short loops.

A convolution over the channels of an image adds up a window of nine numbers for each channel. The window is too short
for vectors, and its numbers are far apart; neighbouring channels lie side by side and have nothing to do with each
other, so that a vector of channels goes through the window together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import access_rows, direction, rank, statement_rows
from polyviz.mapping.short_loops import iterations_inside
from polyviz.model.expression import Assign
from polyviz.model.plan import VECTOR
from polyviz.model.schedule import Decision
from polyviz.transform.innermost import innermost_scores
from polyviz.transform.tree import bands, is_under_mark, node_at, statements_under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.analysis import BandProperties
    from polyviz.analysis.strides import Row
    from polyviz.model.scop import Scop, Statement
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
    small number of iterations inside, or for a window of any size around each iteration, the same for all.
    """
    if not (found.permutable and all(member.coincident for member in found.members)):
        return None
    scores = innermost_scores(scop, tree, path)
    best = max(scores, key=lambda score: (score.score, score.member))
    band = node_at(tree, path)
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    statements = [scop.statement(name) for name in statements_under(band)]
    if not (lanes and best.vectorizable and best.spatial > 0):
        return OuterVectors(best.member, lanes=False)
    own = [(one, statement_rows(rows, one)) for one in statements]
    long_ones = [(one, every) for one, every in own if iterations_inside(one, every) > UNROLLED]
    member = rows.dim(isl.dim_type.out) - band.band_get_partial_schedule().dim(isl.dim_type.out) + best.member
    simple = not long_ones or all(isinstance(line, Assign) for one in statements for line in one.body)
    return OuterVectors(best.member, simple and all(_has_window(one, every, member) for one, every in long_ones))


def _has_window(statement: Statement, rows: Sequence[Row], member: int) -> bool:
    """Whether the loops inside the last of ``rows`` are the same for all iterations of row ``member``, and some
    subscript adds one of them to it."""
    along = direction(rows, member) or ()
    moving = [loop for loop, step in enumerate(along) if step]
    inside = [loop for loop in range(len(statement.iterators)) if not any(row[loop] for row in rows)]
    if len(moving) != 1 or not inside or rank(rows) + len(inside) < len(statement.iterators):
        return False
    lengths = statement.domain.eliminate(isl.dim_type.set, moving[0], 1)
    around = statement.domain
    for loop in inside:
        around = around.eliminate(isl.dim_type.set, loop, 1)
    subscripts = [row for access in statement.accesses for row in access_rows(access, len(along)) or ()]
    added = any(row[moving[0]] and any(row[loop] for loop in inside) for row in subscripts)
    return added and bool(statement.domain.is_equal(lengths.intersect(around)))


def lanes_decisions(scop: Scop, tree: isl.Schedule, target: str) -> tuple[Decision, ...]:
    """What is said of the vector loops in ``tree`` with loops inside them."""
    every = list(bands(tree))
    around = [(path, band) for path, band in every if is_under_mark(band, VECTOR)]
    return tuple(
        Decision("outer_vectors", _said(scop, band, target), statements_under(band))
        for path, band in around
        if any(other != path and other[: len(path)] == path for other, _ in every)
    )


def _said(scop: Scop, band: isl.ScheduleNode, target: str) -> str:
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    statements = [scop.statement(name) for name in statements_under(band)]
    short = all(iterations_inside(one, statement_rows(rows, one)) <= UNROLLED for one in statements)
    inside = (
        "the loops inside are too short for vectors of their own"
        if short
        else "the loops inside, of lengths that only the call tells, go through a window around each of them"
    )
    why = f"neighbours lie side by side in memory, and {inside}"
    if target == "c":
        return f"a parallel loop runs in vector lanes around the loops inside it: {why}"
    return (
        f"the loops inside a parallel loop are left to the compiler of {target}: in c it runs in vector lanes "
        f"around them, since {why}"
    )
