"""A schedule for reading: no loop is moved or tiled, and the outermost parallel loops are marked as what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.mapping.innermost import mark_loop
from polyviz.mapping.marked import Mapped, marks_of, work_below
from polyviz.model.plan import PARALLEL
from polyviz.model.schedule import Decision
from polyviz.transform.tree import bands

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path


def as_scheduled(scop: Scop, tree: isl.Schedule) -> Mapped:
    """``tree`` with a mark above the outermost of the loops whose iterations may run in any order."""
    for number, (path, member) in reversed(list(enumerate(_parallel(tree)))):
        tree = mark_loop(tree, path, member, f"{PARALLEL}:{number}")
    places = [path for path, name in marks_of(tree) if name.startswith(PARALLEL)]
    work = tuple(work_below(scop, tree, number, path) for number, path in enumerate(places))
    text = "The order is that of the schedule, written out for reading: nothing is tiled, moved or vectorised."
    return Mapped(tree, work=work, decisions=(Decision("as scheduled", text),))


def _parallel(tree: isl.Schedule) -> Iterator[tuple[Path, int]]:
    """The bands with a parallel loop, and which of their loops it is; none inside another."""
    found: list[Path] = []
    for path, band in bands(tree):
        member = next((one for one in range(band.band_n_member()) if band.band_member_get_coincident(one)), None)
        if member is not None and not any(path[: len(one)] == one for one in found):
            found.append(path)
            yield path, member
