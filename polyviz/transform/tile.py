"""Tiling: loops over tiles around loops over the points of a tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import loops_text
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    coincident_members,
    insert_mark,
    members,
    replace_rows,
    statements_under,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


LARGEST_TILE = 2**31 - 1
"""Far beyond every array; a tile and its neighbour still count in 64 bits."""


def is_tile_size(size: object) -> bool:
    """Whether ``size`` is a number of iterations that a tile can have; True is none."""
    return type(size) is int and 1 <= size <= LARGEST_TILE


@dataclass(frozen=True, slots=True)
class Tile(Move):
    """Run the loops of a band tile by tile, with ``sizes`` per loop, outermost first.

    The tile band counts tiles (``floor(row / size)``), the point band keeps the rows. Marks ``tile`` and ``point``
    stand above them: the mark ``tile`` takes ``path``, the tile band is at ``(*path, 0)``, the point band at
    ``(*path, 0, 0, 0)``. Legal wherever the band is permutable.
    """

    name: ClassVar[str] = "tile"
    sizes: tuple[int, ...] = ()

    @property
    def extent(self) -> int:
        """One loop per size."""
        return len(self.sizes)

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every permutable band, even of a single loop (then it is strip-mining)."""
        return tuple(path for path, band in bands(tree) if band.band_get_permutable())

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """Two bands in place of one."""
        band = band_at(tree, self.path)
        self._validate(band)
        tree = split_into_tiles(tree, self.path, self.sizes)
        tree = insert_mark(insert_mark(tree, (*self.path, 0), "point"), self.path, "tile")
        text = f"{loops_text(band)} tiled by {' × '.join(map(str, self.sizes))}."
        return tree, Decision("tile", text, statements_under(band), {"path": self.path, "sizes": self.sizes})

    def _validate(self, band: isl.ScheduleNode) -> None:
        if len(self.sizes) != band.band_n_member():
            raise OptionError(
                f"{loops_text(band)} in one band, but the number of tile sizes is {len(self.sizes)}."
            )
        wrong = next((size for size in self.sizes if not is_tile_size(size)), None)
        if wrong is not None:
            raise OptionError(f"A tile size is a whole number from 1 to {LARGEST_TILE}, not {wrong!r}.")


def tile_band(tree: isl.Schedule, path: Path, sizes: Sequence[int]) -> tuple[isl.Schedule, Decision]:
    """``Tile(path, sizes)`` applied to ``tree``.

    >>> tree = isl.Schedule('{ domain: "{ S[i] : 0 <= i < 9 }", child: { schedule: "[{ S[i] -> [i] }]" } }')
    >>> tiled, decision = tile_band(tree, (0,), [4])
    >>> print(tiled.get_map())
    { S[i] -> [o0, i] : -3 + i <= 4o0 <= i }
    >>> decision.text
    'Loop i is tiled by 4.'
    """
    return Tile(path, tuple(sizes)).apply(tree)


def split_into_tiles(
    tree: isl.Schedule, path: Path, sizes: Sequence[int], *, scaled: bool = False
) -> isl.Schedule:
    """The band at ``path`` as loops over tiles, and its rows as loops over points at ``(*path, 0)``, without marks.

    Loops over tiles count tiles, or, when ``scaled``, run over the multiples of their size.
    """
    band = band_at(tree, path)
    coincident = coincident_members(band)
    tiles = [_tile_row(row, size, scaled=scaled) for row, size in zip(members(band), sizes, strict=True)]
    ones = isl.MultiVal.zero(band.band_get_space())
    for position in range(len(sizes)):
        ones = ones.set_val(position, isl.Val(1))
    two_bands = band.band_tile(ones).get_schedule()
    two_bands = replace_rows(two_bands, path, tiles, coincident=coincident)
    return replace_rows(two_bands, (*path, 0), members(band), coincident=coincident)


def _tile_row(row: isl.UnionPwAff, size: int, *, scaled: bool) -> isl.UnionPwAff:
    number = row.scale_down_val(isl.Val(size)).floor()
    return number.scale_val(isl.Val(size)) if scaled else number
