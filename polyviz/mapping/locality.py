"""Which loop of a band belongs innermost, and whether tiling the band brings reuse."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import AccessMotion, Row, access_rows, motions, rank, statement_rows
from polyviz.analysis.trip_counts import SHORT, longest
from polyviz.transform.innermost import best_innermost
from polyviz.transform.tree import Path, coincident_members, node_at, statements_under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class Locality:
    """``best_innermost``: the member whose loop makes the accesses move least; ``tiling_helps`` when data that one
    pass over the inner loops no longer holds in cache is used again by an outer one; ``along_memory``: the members in
    the order in which the largest arrays lie in memory, as they are where that is no one order."""

    best_innermost: int
    tiling_helps: bool
    along_memory: tuple[int, ...]


def band_locality(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> Locality:
    """Judge the band at ``path``, which has no band below it; compilers run reductions in vector lanes."""
    band = node_at(tree, path)
    count = band.band_n_member()
    statements = [scop.statement(name) for name in statements_under(band)]
    prefix = band.get_prefix_schedule_multi_union_pw_aff()
    own = band.band_get_partial_schedule()
    outer = [statement_rows(prefix, statement) for statement in statements]
    inner = [statement_rows(own, statement) for statement in statements]
    known = list(zip(statements, outer, inner, strict=True))
    moves = [[_motions(*statement, member) for statement in known] for member in range(count)]
    best = best_innermost(scop, tree, path, serial_lanes=True, temporaries=dependences.privatizations)
    carries = not any(coincident_members(band))
    helps = any(
        _reuses(statement, rows, carries=carries) for statement, rows in zip(statements, inner, strict=True)
    )
    along = _along_memory(moves)
    return Locality(best, helps or _strides_disagree(moves, best), tuple(range(count)) if along is None else along)


def _along_memory(moves: Sequence[Sequence[Sequence[AccessMotion]]]) -> tuple[int, ...] | None:
    """The members from the first dimension of the arrays with most of them to the last; None where these disagree, or
    where some member moves none of their dimensions, or several."""
    rank_of_largest = max(
        (len(motion.change) for statements in moves for found in statements for motion in found), default=0
    )
    places: list[int] = []
    for statements in moves:
        largest = [motion.change for found in statements for motion in found if len(motion.change) == rank_of_largest]
        moved = {tuple(place for place, step in enumerate(change) if step) for change in largest}
        if len(moved) != 1 or len(only := next(iter(moved))) != 1:
            return None
        places.append(only[0])
    return tuple(sorted(range(len(moves)), key=places.__getitem__))


def _motions(
    statement: Statement, around: Sequence[Row], rows: Sequence[Row], member: int
) -> list[AccessMotion]:
    return motions(statement, [*around, *rows], len(around) + member, parts=True) or []


def _reuses(statement: Statement, rows: Sequence[Row], *, carries: bool) -> bool:
    """Whether some array of two or more moving dimensions is swept again and again by the band's loops.

    A loop that is known to be short sweeps nothing out of cache; where the band ``carries`` dependences, though, its
    first one sweeps what is inside it as often as it runs: steps of a time, however few, are steps. Where a linearised
    subscript means another cell in every iteration, memory is streamed in any order, and tiles would only cut its rows
    short.
    """
    linearised = (access.apart for access in statement.accesses if not access.exact)
    if any(apart is not None and apart.is_injective() for apart in linearised):
        return False
    short = {
        loop for loop in range(len(statement.iterators)) if longest(statement.domain, loop) <= SHORT
    }
    first = {loop for loop, factor in enumerate(rows[0]) if factor} if carries else set()
    depth = rank(_without(rows, short - first))
    for access in statement.accesses:
        if not access.relation.dim(isl.dim_type.out):
            continue
        subscripts = access_rows(access, len(statement.iterators))
        if subscripts is not None and 2 <= rank(_without(subscripts, short)) < depth:
            return True
    return False


def _without(rows: Sequence[Row], loops: set[int]) -> list[Row]:
    """``rows`` as they are while ``loops`` stand still."""
    return [tuple(Fraction(0) if loop in loops else factor for loop, factor in enumerate(row)) for row in rows]


def _strides_disagree(moves: Sequence[Sequence[Sequence[AccessMotion]]], best: int) -> bool:
    """Whether an access that strides in the innermost loop is contiguous in another one (a transposition)."""
    strided = {
        (motion.access.array, motion.access.text, motion.access.kind)
        for statement in moves[best]
        for motion in statement
        if motion.locality == "strided"
    }
    contiguous = {
        (motion.access.array, motion.access.text, motion.access.kind)
        for member, statements in enumerate(moves)
        if member != best
        for statement in statements
        for motion in statement
        if motion.locality == "unit"
    }
    return bool(strided & contiguous)
