"""From groups and sequential loops to scattering functions, one list of dimensions per statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis.loop_kinds import row_texts
from polyviz.model.superposition import Dimension
from polyviz.scheduling.superposed.parts import Group, ParallelLoop, Part
from polyviz.scheduling.superposed.source_order import SourceOrder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.analysis.loop_kinds import Term
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis, Scattering

AXES: tuple[Axis, ...] = ("x", "y", "z")
Under = tuple["Mapping[str, Term]", ...]
Dimensions = dict[str, tuple[Dimension, ...]]


def outer_scatterings(
    scop: Scop, parts: Sequence[Part], tiles: Mapping[str, Mapping[Axis, int]]
) -> Mapping[str, Scattering]:
    """The block level: sequential loops of the host, kernels, and the tiled block loops with y before x.

    ``tiles`` holds the tile sizes per statement and axis.
    """

    def blocks(group: Group, _under: Under) -> Dimensions:
        return {name: space_dimensions(scop, group, name, tiles[name]) for name in group.names}

    return _in_order(scop, _scattered(scop, parts, (), blocks))


def regular_scatterings(scop: Scop, parts: Sequence[Part]) -> Mapping[str, Scattering]:
    """The thread level: phases with their sequential loops, thread loops from z to x, the order of one thread."""
    source = SourceOrder.of(scop)

    def threads(group: Group, under: Under) -> Dimensions:
        # A reduction out of the order of the source is left to the loops of one thread when nobody shares it.
        known = [*under, *(loop.terms for loop in group.loops if loop.ordered)]
        rest = source.remaining(group.names, known)
        return {name: (*space_dimensions(scop, group, name, {}), *rest[name]) for name in group.names}

    return _in_order(scop, _scattered(scop, parts, (), threads))


def space_dimensions(scop: Scop, group: Group, name: str, tiles: Mapping[Axis, int]) -> tuple[Dimension, ...]:
    """The space loops of a group for one statement, the last axis first."""
    return tuple(
        _space(scop, name, axis, loop, tiles.get(axis))
        for axis, loop in reversed(list(zip(AXES, group.loops, strict=False)))
    )


def _space(scop: Scop, name: str, axis: Axis, loop: ParallelLoop, tile: int | None) -> Dimension:
    text = loop.terms[name].text(scop.statement(name).iterators)
    return Dimension("loop", text, axis, tile, reduction=name in loop.reducing, ordered=loop.ordered)


def _scattered(
    scop: Scop, parts: Sequence[Part], under: Under, finish: Callable[[Group, Under], Dimensions]
) -> Dimensions:
    """Per statement: the position of its part, then the part's own dimensions."""
    found: Dimensions = {}
    for position, part in enumerate(parts):
        place = Dimension("scalar", str(position))
        if isinstance(part, Group):
            inner = finish(part, under)
        else:
            rows = row_texts(scop, part.terms)
            below = _scattered(scop, part.parts, (*under, part.terms), finish)
            inner = {name: (Dimension("loop", rows[name]), *dimensions) for name, dimensions in below.items()}
        found.update({name: (place, *dimensions) for name, dimensions in inner.items()})
    return found


def _in_order(scop: Scop, found: Dimensions) -> Dimensions:
    return {statement.name: found[statement.name] for statement in scop.statements}
