"""Which loop of a permutable band should run innermost: unit stride first, reuse of a cell second.

Source: the intra-tile reordering of Pluto, as restated by Reddy (2019), equation 2.2. As in Pluto itself, a reference
counts as local in a loop only when its other subscripts do not involve the loop, and the bonus for a loop that can run
in vector lanes counts once and asks for a parallel loop. A sum in a variable counts as a cell of an array: if it does
not stay in place, the variable becomes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

import islpy as isl

from polyviz.analysis.strides import AccessMotion, direction, motions, statement_rows
from polyviz.model.expression import Element, Name, walk
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.rows import loop_text
from polyviz.transform.tree import Path, band_at, coincident_members, members, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.analysis.strides import Row
    from polyviz.model.dependences import Privatization
    from polyviz.model.scop import Scop, Statement


# A step of up to this many elements mostly stays in the same cache line.
NEAR = 4


@dataclass(frozen=True, slots=True)
class LoopScore:
    """How good a member of a band is as the innermost loop.

    ``spatial``, ``temporal`` and ``other`` count the references that walk in small steps, stay on a cell, or jump;
    ``vectorizable`` tells that the loop is parallel and no reference jumps; ``statements`` is their number under it.
    """

    member: int
    spatial: int
    temporal: int
    other: int
    vectorizable: bool
    statements: int

    @property
    def score(self) -> int:
        """The larger, the better.

        >>> LoopScore(1, spatial=3, temporal=1, other=0, vectorizable=True, statements=1).score
        18
        """
        references = 2 * self.spatial + 4 * self.temporal - 16 * self.other
        return self.statements * (references + 8 * self.vectorizable)


def innermost_scores(
    scop: Scop,
    tree: isl.Schedule,
    path: Path,
    *,
    serial_lanes: bool = False,
    temporaries: Sequence[Privatization] = (),
) -> tuple[LoopScore, ...]:
    """The score of every member of the band at ``path``, which has no band inside.

    ``serial_lanes`` lets serial loops count as vectorizable, for targets that run reductions in vector lanes.
    ``temporaries`` are the scalars that iterations have copies of.
    """
    band = band_at(tree, path)
    prefix = band.get_prefix_schedule_multi_union_pw_aff()
    around = prefix.dim(isl.dim_type.out)
    rows = prefix.flat_range_product(band.band_get_partial_schedule())
    statements = [scop.statement(name) for name in statements_under(band)]
    complete = [(statement, statement_rows(rows, statement)) for statement in statements]
    scores = []
    for member, coincident in enumerate(coincident_members(band)):
        found = [motions(statement, own, around + member, parts=True) or [] for statement, own in complete]
        localities = [_locality(motion) for motion in chain.from_iterable(found)]
        for statement, own in complete:
            localities += _localities_of_copies(statement, own, around + member, temporaries)
            localities += _localities_of_gathers(statement, own, around + member)
        temporal, spatial = localities.count("temporal"), localities.count("spatial")
        other = len(localities) - temporal - spatial
        lanes = (coincident or serial_lanes) and other == 0
        scores.append(LoopScore(member, spatial, temporal, other, lanes, len(statements)))
    return tuple(scores)


def best_innermost(
    scop: Scop,
    tree: isl.Schedule,
    path: Path,
    *,
    serial_lanes: bool = False,
    temporaries: Sequence[Privatization] = (),
) -> int:
    """The member of the band at ``path`` that should run innermost; among equals the one that is there already."""
    scores = innermost_scores(scop, tree, path, serial_lanes=serial_lanes, temporaries=temporaries)
    return max(scores, key=lambda score: (score.score, score.member)).member


def unit_stride_innermost(scop: Scop, tree: isl.Schedule, path: Path) -> tuple[isl.Schedule, Decision]:
    """The tree with the best loop of the band at ``path`` moved innermost, the others in their order.

    Legal when the band is permutable.
    """
    band = band_at(tree, path)
    scores = innermost_scores(scop, tree, path)
    best = best_innermost(scop, tree, path)
    order = [score.member for score in scores if score.member != best]
    changed, _ = permute_members(tree, path, (*order, best))
    named = [f"{loop_text(row)}: {score.score}" for row, score in zip(members(band), scores, strict=True)]
    text = (
        f"Loop {loop_text(members(band)[best])} runs innermost: it has the best score ({', '.join(named)})."
    )
    details = {"path": path, "scores": [score.score for score in scores], "innermost": best}
    return changed, Decision("reorder", text, statements_under(band), details)


def _localities_of_copies(
    statement: Statement, rows: Sequence[Row], member: int, temporaries: Sequence[Privatization]
) -> Iterator[Literal["temporal", "spatial"]]:
    """How the accesses to copies of scalars go on that live longer than one instance of ``statement``."""
    depths = {found.array: found.depth for found in temporaries if found.depth < len(statement.iterators)}
    along = direction(rows, member)
    for access in statement.accesses if along is not None else ():
        if access.array in depths:
            assert along is not None
            yield "spatial" if any(along[: depths[access.array]]) else "temporal"


def _localities_of_gathers(
    statement: Statement, rows: Sequence[Row], member: int
) -> Iterator[Literal["temporal", "spatial", "other"]]:
    """How accesses to rows whose number is loaded go on: ``x[k[i], j]`` walks in the loop over ``j``, not ``i``.

    Single cells that are gathered (``x[k[i]]``) are left out: no loop walks along them.
    """
    along = direction(rows, member)
    if along is None:
        return
    moving = {Name(name) for name, step in zip(statement.iterators, along, strict=False) if step}
    for element in {node for line in statement.body for node in walk(line) if isinstance(node, Element)}:
        *outer, last = element.subscripts or (element,)
        numbers = [node for subscript in outer for node in walk(subscript)]
        if isinstance(last, Name) and any(isinstance(node, Element) for node in numbers):
            jumps = any(node in moving for node in numbers)
            yield "other" if jumps else "spatial" if last in moving else "temporal"


def _locality(motion: AccessMotion) -> Literal["temporal", "spatial", "other"]:
    if motion.locality == "temporal":
        return "temporal"
    near = not any(motion.change[:-1]) and 1 <= abs(motion.change[-1]) <= NEAR
    return "spatial" if near else "other"
