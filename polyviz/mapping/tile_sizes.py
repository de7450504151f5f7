"""Tile sizes: how many iterations of each loop of a band make one tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from polyviz.analysis import BandProperties
    from polyviz.mapping.locality import Locality

Tile = Sequence[int] | Literal[False] | None

PARALLEL_TILE = (32, 64)
"""Tiles of a band with a parallel loop: the outermost one smaller, so that every thread finds work; a 64 x 64 tile of
doubles fills most of a first-level cache."""
WAVEFRONT_TILE = (32, 64, 256)
"""Tiles of a band that carries dependences: outermost (time), between, innermost (the vector loop, kept long)."""
CROWDED_TILE = 16
"""The loops between, when there are two or more of them."""
ROW_TILE = (32, 16, 1024)
"""The same for stencils in three dimensions: few rows, so that they stay in the second-level cache while the tile moves
along with the time, and whole ones, so that what is special at their ends hardly counts."""
BLOCK_TILE = (16, 32, 256)
"""The same where several rows run together: a group of rows takes all steps of the time while it is in the first-level
cache, so tiles may be small, which leaves more of them to each front and less waiting at its end."""
BLOCK_ROW_TILE = (8, 16, 24, 1024)
"""The same in three dimensions: few steps of the time, since a front over a short dimension has few tiles."""
LINE_TILE = (48, 256)
"""The same for stencils along a line, several steps of which run together: the time, and columns. Higher tiles make
fewer rows of them, which threads share less evenly; longer ones keep more threads waiting for the first."""
CHAIN_TILE = (16, 64, 256)
"""The same where chains run side by side: shorter rows, since only full tiles of them have constant bounds."""


def tile_sizes_of(
    found: BandProperties, locality: Locality | None, order: Sequence[int], tile: Tile
) -> tuple[int, ...]:
    """The tile size of each member in its old position; empty for a band that is not tiled."""
    count = len(order)
    if tile is False or not found.permutable or count < 2:
        return ()
    if tile is not None:
        return tuple(tile[min(position, len(tile) - 1)] for position in range(count))
    carries = not any(member.coincident for member in found.members)
    # Around further loops a band is tiled only to find parallel wavefronts: its own locality is theirs.
    helps = carries if locality is None else locality.tiling_helps
    if not helps:
        return ()
    return tuple(_default_size(member, order, carries=carries) for member in range(count))


def _default_size(member: int, order: Sequence[int], *, carries: bool) -> int:
    if not carries:
        return PARALLEL_TILE[0] if member == 0 else PARALLEL_TILE[1]
    if member == order[-1]:
        return WAVEFRONT_TILE[2]
    if member == 0:
        return WAVEFRONT_TILE[0]
    return WAVEFRONT_TILE[1] if len(order) <= len(WAVEFRONT_TILE) else CROWDED_TILE


def stencil_sizes(order: Sequence[int], *, chains: bool, together: bool = False) -> tuple[int, ...]:
    """The sizes of a band with short dependences by old position, its points in ``order``; of rows or of ``chains``.

    ``together``: several rows run in one vector loop.
    """
    members = range(len(order))
    if together:
        *outer, last = BLOCK_TILE if len(order) <= len(BLOCK_TILE) else BLOCK_ROW_TILE
        inside = dict(zip(order[:-1], (*outer, *(outer[-1:] * len(order))), strict=False))
        return tuple(last if member == order[-1] else inside[member] for member in members)
    first, between, last = CHAIN_TILE if chains else ROW_TILE
    return tuple(last if member == order[-1] else first if member == 0 else between for member in members)


def concurrent_sizes(sizes: tuple[int, ...], tile: Tile) -> tuple[int, ...]:
    """The sizes of a band whose tiles all start at once: diamonds with equal sides, unless the user gave ``tile``."""
    if tile is not None:
        return sizes
    side = WAVEFRONT_TILE[2] if len(sizes) == 2 else WAVEFRONT_TILE[1]
    return (side, side, *sizes[2:])
