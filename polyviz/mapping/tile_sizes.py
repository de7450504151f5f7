"""Tile sizes: how many iterations of each loop of a band make one tile, from the caches and the number of cores.

Sizes are powers of two for elements of eight bytes; smaller ones fit all the better. Upper bounds stand where larger
tiles gain nothing although the caches would hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Literal

from polyviz.model.processor import Processor

if TYPE_CHECKING:
    from polyviz.analysis import BandProperties
    from polyviz.mapping.locality import Locality

Tile = Sequence[int] | Literal[False] | None

_ASSUMED = Processor(0, 0, 32 * 1024, 512 * 1024, 1)
"""Where no processor is known, as for text that is only read."""
_DOUBLE = 8
_ARRAYS = 2
"""A stencil reads one array and writes another."""
_ROWS_IN_USE = 16
"""Rows that a few neighbouring rows of a stencil read and write, of all its arrays; they stay in the first cache."""
_PAGE = 512
"""Elements of a page: longer pieces of a row gain nothing from the hardware that loads ahead within pages."""
_PAGES = 64
"""Pages whose places a core has at hand; a tile that goes down columns should not touch more rows."""
_WHOLE_ROW = 1024
"""Longer than a row of a three-dimensional array: such rows are not cut."""
_SHORT_ROW = 128
"""The length of the rows, and the number of planes, that a three-dimensional array is expected to have."""
_MANY_STEPS = 512
"""Steps over time, which threads share in rows of tiles: each should find one."""
_MANY_ROWS = 1024
"""Rows of a two-dimensional array. As many tiles as there are in one row of them can be at work at once."""
_MOST_ROWS = 64
"""Rows of a tile that is to leave enough of them to every front."""
_MOST_PLANES = 16
_MOST_STEPS = 16
_FEW_ROWS = 4
"""Rows of tiles at least, where no processor is known."""


@dataclass(frozen=True, slots=True)
class TileSizes:
    """The tile sizes for bands on one processor; ``given`` by the user, or False, for none, or None.

    ``height``: how many steps over time a row of tiles has at most, where calls take so few that threads would find too
    few rows.

    >>> TileSizes(None, Processor(64, 32, 48 * 1024, 2048 * 1024, 2)).wavefront
    (32, 64, 256)
    >>> TileSizes(None, Processor(32, 16, 32 * 1024, 256 * 1024, 64)).wavefront
    (16, 32, 256)
    """

    given: Tile
    processor: Processor | None = None
    height: int | None = None

    @property
    def threads(self) -> int:
        """How many rows of tiles there should be at least, where the steps over time are known to be few."""
        return _FEW_ROWS if self.processor is None else max(2, self.processor.cores)

    @property
    def _known(self) -> Processor:
        return self.processor or _ASSUMED

    @property
    def side(self) -> int:
        """Of a square in the first cache, as a transposition touches it."""
        return _power(isqrt(self._known.l1_data // _DOUBLE), 16, _PAGES)

    @property
    def row(self) -> int:
        """The piece of a row that stays in the first cache together with its neighbours."""
        return _power(self._known.l1_data // (_ROWS_IN_USE * _DOUBLE), 64, _PAGE)

    @property
    def rows(self) -> int:
        """Such pieces in half of the second cache."""
        return _power(self._known.l2 // 2 // (self.row * _DOUBLE * _ARRAYS), 16, _MOST_ROWS)

    @property
    def planes(self) -> int:
        """The sides of a prism of whole rows that stays in the second cache while a tile moves along with the time."""
        return _power(isqrt(self._known.l2 // (_SHORT_ROW * _DOUBLE * _ARRAYS)), 4, _MOST_PLANES)

    @property
    def steps(self) -> int:
        """Over time, where every core is to have a row of tiles."""
        return _power(_MANY_STEPS // self._known.cores, 4, _MOST_STEPS)

    @property
    def wavefront(self) -> tuple[int, int, int]:
        """Tiles of a band that carries dependences: outermost (time), between, innermost (the vector loop)."""
        return self.rows // 2, self.rows, self.row

    @property
    def _few_rows(self) -> tuple[int, int, int]:
        """The same where several rows run together: a group of rows takes all steps of the time while it is in the
        first cache, so tiles may be small, which leaves more of them to each front and less waiting at its end."""
        return self.steps, _power(_MANY_ROWS // self._known.cores, 8, self.rows // 2), self.row

    @property
    def _few_planes(self) -> tuple[int, int, int, int]:
        """The same in three dimensions, where a front has few tiles. Each core takes a tile of its share of the planes,
        a row of tiles behind the one before it: the steps of a tile, which move it, take their part of the share."""
        share = _SHORT_ROW // self._known.cores
        planes = _power(share // 2, 4, self.planes)
        steps = _power((share - planes) // 2, 2, _MOST_STEPS // 2)
        return steps, planes, 3 * self.planes // 2, _WHOLE_ROW

    def of_band(
        self, found: BandProperties, locality: Locality | None, order: Sequence[int]
    ) -> tuple[int, ...]:
        """The tile size of each member in its old position; empty for a band that is not tiled."""
        count = len(order)
        if self.given is False or not found.permutable or count < 2:
            return ()
        if self.given is not None:
            return tuple(self.given[min(position, len(self.given) - 1)] for position in range(count))
        carries = not any(member.coincident for member in found.members)
        # Around further loops a band is tiled only to find parallel wavefronts: its own locality is theirs.
        helps = carries if locality is None else locality.tiling_helps
        if not helps:
            return ()
        return tuple(self._default(member, order, carries=carries) for member in range(count))

    def _default(self, member: int, order: Sequence[int], *, carries: bool) -> int:
        if not carries:
            # The outermost loop is cut smaller, so that every thread finds work.
            return self.side // 2 if member == 0 else self.side
        first, between, last = self.wavefront
        if member == order[-1]:
            return last
        if member == 0:
            return first
        return between if len(order) <= len(self.wavefront) else self.planes

    def of_stencil(self, order: Sequence[int], *, chains: bool, together: bool = False) -> tuple[int, ...]:
        """The sizes of a band with short dependences, by old position, its points in ``order``: of rows or ``chains``.

        ``together``: several rows run in one vector loop. Chains get shorter rows than stencils in three dimensions,
        since only full tiles of them have constant bounds.
        """
        members = range(len(order))
        if together:
            *outer, last = self._few_rows if len(order) <= len(self._few_rows) else self._few_planes
            inside = dict(zip(order[:-1], (*outer, *(outer[-1:] * len(order))), strict=False))
            return tuple(last if member == order[-1] else inside[member] for member in members)
        of_chains = self.steps, self.rows, self.row
        of_planes = self.rows // 2, self.planes, _WHOLE_ROW
        first, between, last = of_chains if chains else of_planes
        return tuple(last if member == order[-1] else first if member == 0 else between for member in members)

    def of_line(self, order: Sequence[int]) -> tuple[int, ...]:
        """The same for stencils along a line, several steps of which run together: the time, and columns. Higher tiles
        make fewer rows of them, which threads share less evenly; longer ones keep more threads waiting for the first.
        """
        return tuple((3 * max(self.steps, 8), self.row)[order.index(member)] for member in (0, 1))

    def concurrent(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes of a band whose tiles all start at once: diamonds with equal sides, unless the user gave some."""
        if self.given is not None:
            return sizes
        side = self.row if len(sizes) == 2 else self.rows
        return (side, side, *sizes[2:])


def row_height(steps: int, threads: int, most: int) -> int:
    """How many of the ``steps`` over time, ``most`` at most, are a row of tiles, for ``threads`` that take rows in turn
    to have about as many of them.

    >>> row_height(8, 2, 16), row_height(40, 2, 16), row_height(500, 2, 16)
    (4, 10, 16)
    """
    turns = -(-steps // (threads * most))
    return -(-steps // (threads * turns))


def _power(fitting: int, least: int, most: int) -> int:
    """The largest power of two that fits, within bounds, which are powers of two as well."""
    return max(least, min(most, 1 << max(fitting, 1).bit_length() - 1))
