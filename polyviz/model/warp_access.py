"""How the lanes of a warp meet memory in one access: which step there is between neighbours, how many transactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

StrideKind = Literal["contiguous", "broadcast", "strided", "single", "unknown"]
Lanes = tuple[int, ...]
WARP = 32
SEGMENT = 128
"""Bytes of global memory that one transaction moves."""
COUNTED = 4096
"""So many executions of an access by a warp between two barriers the emulator counts."""
_FAR = 2**32
"""Cells from one row of an array to the next where nobody knows: another segment in any case."""


@dataclass(frozen=True, slots=True)
class Motion:
    """How neighbours move in one access.

    ``strides``: per subscript how far the cell moves from one thread to its neighbour along x, None where that is not
    a fixed number. ``kind`` sums that up for memory: neighbours there (``contiguous``), the same cell (``broadcast``),
    further apart (``strided``), one thread along x only (``single``). It holds for ``piece`` lanes in a row, 0 for all.
    ``expected`` are the segments that a request of the first warp needs when its first cell begins one.
    """

    strides: tuple[int | None, ...]
    kind: StrideKind
    piece: int
    expected: int | None


@dataclass(frozen=True, slots=True)
class WarpAccess:
    """What each lane of a warp adds to the subscripts of an access, None where that is not known.

    ``row`` lanes are neighbours along x; ``together`` cells are taken at once. ``alone``: one thread along x only.
    ``whole``: every warp of a block does the same.
    """

    lanes: tuple[Lanes | None, ...]
    row: int
    count: int
    together: int = 1
    alone: bool = False
    whole: bool = True

    def motion(self, itemsize: int, steps: Sequence[int] | None = None) -> Motion:
        """How the lanes move where one more of a subscript is ``steps`` cells away; without, rows are far apart.

        >>> rows = WarpAccess((tuple(lane // 8 for lane in range(32)), tuple(lane % 8 for lane in range(32))), 32, 32)
        >>> rows.motion(8)
        Motion(strides=(0, 1), kind='contiguous', piece=8, expected=4)
        >>> rows.motion(8, (1, 100))
        Motion(strides=(0, 1), kind='strided', piece=8, expected=8)
        """
        strides = tuple(self._stride(lanes) for lanes in self.lanes)
        if self.alone or self.row < 2:
            return Motion(strides, "single", 0, None)
        places = self._places(steps)
        if places is None:
            return Motion(strides, "unknown", 0, None)
        apart = [places[lane + 1] - places[lane] for lane in range(self.row - 1)]
        same = next((lane for lane, step in enumerate(apart) if step != apart[0]), len(apart))
        kind: StrideKind = "strided"
        if abs(apart[0]) in (0, self.together):
            kind = "contiguous" if apart[0] else "broadcast"
        return Motion(strides, kind, 0 if same == len(apart) else same + 1, self._segments(places, itemsize))

    def _stride(self, lanes: Lanes | None) -> int | None:
        if lanes is None or self.alone:
            return None
        return lanes[1] - lanes[0] if self.row > 1 else 0

    def _places(self, steps: Sequence[int] | None) -> list[int] | None:
        """The cell of each lane, counted from that of the first."""
        if steps is None:
            steps = [_FAR ** (len(self.lanes) - 1 - axis) for axis in range(len(self.lanes))]
        places = [0] * self.count
        for lanes, step in zip(self.lanes, steps, strict=True):
            if lanes is None:
                return None
            places = [place + step * moved for place, moved in zip(places, lanes, strict=True)]
        return places

    def _segments(self, places: Sequence[int], itemsize: int) -> int | None:
        if not self.whole:
            return None
        first = min(places)
        return len(
            {
                segment
                for place in places
                for segment in range(
                    (place - first) * itemsize // SEGMENT,
                    ((place - first + self.together) * itemsize - 1) // SEGMENT + 1,
                )
            }
        )
