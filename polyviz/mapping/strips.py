"""Strips: a parallel loop around loops that stride, cut so that its points run innermost, in vector lanes.

In ``for j: { for i: r[j] += q[i] * A[i, j]; for i: A[i, j] -= q[i] * r[j] }`` both inner loops walk down columns of A.
With 64 columns at a time, and the loop over these inside the loops over i, every access has unit stride, and the second
loop finds in cache what the first one has read. Threads share the strips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import band_properties
from polyviz.analysis.carried import visits
from polyviz.analysis.order_below import keeps_order_below
from polyviz.analysis.parallelism import last_is_parallel
from polyviz.analysis.strides import motions, statement_rows
from polyviz.mapping.innermost import mark_vector
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.tile import split_into_tiles
from polyviz.transform.tree import Path, band_at, bands, isolate_member, kind_of, statements_under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop, Statement

STRIP = 64
"""Iterations of the outer loop at a time: some vectors for every access, and few enough that the rows which the inner
loops walk stay in the second cache."""


def cut_into_strips(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with strips where they make all strided inner loops contiguous, and what is said of it."""
    decisions: list[Decision] = []
    found = zip(list(bands(tree)), band_properties(scop, dependences, tree), strict=True)
    done: list[Path] = []
    for (path, band), properties in found:
        if any(path[: len(other)] == other for other in done) or not _has_branches(band):
            continue
        parallel = [member for member, about in enumerate(properties.members) if about.coincident]
        changed = _in_strips(scop, dependences, tree, path, parallel if properties.permutable else [])
        if changed is not None:
            tree = changed
            done.append(path)
            decisions.append(sunk_decision(statements_under(band)))
    return tree, tuple(decisions)


def _has_branches(band: isl.ScheduleNode) -> bool:
    return kind_of(band.child(0)) in ("sequence", "set")


def _in_strips(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, members: Sequence[int]
) -> isl.Schedule | None:
    """The first suitable one of ``members`` of the band at ``path`` in strips; None where there is none.

    Its tiles come first of all, its points last.
    """
    count = band_at(tree, path).band_n_member()
    for member in members:
        if not _helps(scop, tree, path, member):
            continue
        order = (member, *(other for other in range(count) if other != member))
        changed, alone = isolate_member(permute_members(tree, path, order)[0], path, 0)
        changed, points = _sunk(split_into_tiles(changed, alone, (STRIP,), scaled=True), (*alone, 0))
        if keeps_order_below(scop, dependences, changed, points):
            return changed
    return None


def sinks(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> bool:
    """Whether the last member of the band at ``path`` should run inside the bands below it, and may."""
    band = band_at(tree, path)
    if not _has_branches(band) or not _helps(scop, tree, path, band.band_n_member() - 1):
        return False
    changed, below = _sunk(tree, path)
    return keeps_order_below(scop, dependences, changed, below)


def sunk(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> isl.Schedule:
    """``tree`` with the last member of the band at ``path`` below all others, marked where it is parallel there."""
    tree, below = _sunk(tree, path)
    walk = list(zip(bands(tree), visits(scop, dependences, tree), strict=True))
    paths = [place for (place, _), _ in walk]
    for (place, _), visit in reversed(walk):
        innermost = not any(other != place and other[: len(place)] == place for other in paths)
        if place[: len(below)] == below and innermost and last_is_parallel(visit):
            tree = mark_vector(tree, place)
    return tree


def _sunk(tree: isl.Schedule, path: Path) -> tuple[isl.Schedule, Path]:
    """The changed tree, and where what was below the member is now."""
    tree, alone = isolate_member(tree, path, band_at(tree, path).band_n_member() - 1)
    return band_at(tree, alone).band_sink().get_schedule(), alone


def sunk_decision(statements: tuple[str, ...]) -> Decision:
    """What is said of it."""
    text = (
        f"the last loop of the band runs {STRIP} iterations at a time, innermost: the loops inside it would jump "
        "through memory, these do not"
    )
    return Decision("strips", text, statements, {"size": STRIP})


def _helps(scop: Scop, tree: isl.Schedule, path: Path, member: int) -> bool:
    """Whether some loop inside the band at ``path`` strides, and no access would in that member of the band."""
    outer = band_at(tree, path)
    inner = [band for other, band in bands(tree) if other != path and other[: len(path)] == path]
    if not any(_must_stride(scop, band) for band in inner):
        return False
    return all(_is_contiguous(scop.statement(name), outer, member) for name in statements_under(outer))


def _must_stride(scop: Scop, band: isl.ScheduleNode) -> bool:
    """Whether some statement under ``band`` jumps through memory whichever of the loops that may go there is last."""
    last = band.band_n_member() - 1
    choices = range(last + 1) if band.band_get_permutable() else (last,)
    statements = [scop.statement(name) for name in statements_under(band)]
    return any(
        not any(_is_contiguous(statement, band, member) for member in choices) for statement in statements
    )


def _is_contiguous(statement: Statement, band: isl.ScheduleNode, member: int) -> bool:
    """Whether every access of ``statement`` stays or goes to a neighbour from iteration to iteration of ``member``."""
    prefix = band.get_prefix_schedule_multi_union_pw_aff()
    rows = statement_rows(prefix.flat_range_product(band.band_get_partial_schedule()), statement)
    found = motions(statement, rows, prefix.dim(isl.dim_type.out) + member)
    return found is None or all(motion.locality != "strided" for motion in found)
