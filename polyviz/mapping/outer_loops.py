"""Which loop of a band runs on several threads, and the order of the band's outer loops for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyviz.analysis import BandProperties


@dataclass(frozen=True, slots=True)
class OuterChoice:
    """The order of a band's outer loops, the position of the parallel one, whether it is parallel along wavefronts."""

    order: tuple[int, ...]
    parallel: int | None
    wavefront: bool = False


@dataclass(frozen=True, slots=True)
class OuterLoops:
    """What the choice depends on: the band's properties and order, its surroundings; loops that are serial around it
    start its threads again and again."""

    found: BandProperties
    order: tuple[int, ...]
    tiled: bool
    has_inner_bands: bool
    parallel_around: bool
    serial_around: int

    def choose(self) -> OuterChoice:
        """The outermost loop that may run in parallel and has enough to do."""
        natural = tuple(range(len(self.order)))
        order = natural if self.tiled else self.order
        if self.parallel_around or self.serial_around > 1:
            return OuterChoice(order, None)
        coincident = [member for member in order if self.found.members[member].coincident]
        if coincident and self.found.permutable:
            return self._front(order, coincident[0])
        if not self.found.permutable:
            return self._in_place(order)
        if self.tiled:
            return OuterChoice(self.order, 1, wavefront=True)
        return OuterChoice(order, None)

    def _front(self, order: tuple[int, ...], member: int) -> OuterChoice:
        """Bring a parallel member to the front, unless that takes the best loop away from the innermost place."""
        if not self.tiled and member == order[-1] and len(order) > 1:
            position = len(order) - 1
            return OuterChoice(order, None if self._too_small(position) else position)
        moved = (member, *(other for other in order if other != member))
        return OuterChoice(moved, None if self._too_small(0) else 0)

    def _in_place(self, order: tuple[int, ...]) -> OuterChoice:
        for position, member in enumerate(order):
            if self.found.members[member].parallel:
                return OuterChoice(order, None if self._too_small(position) else position)
        return OuterChoice(order, None)

    def _too_small(self, position: int) -> bool:
        """Threads started again in every iteration of a loop around must find more than one loop of work."""
        serial = self.serial_around + position
        loops_inside = len(self.order) - position - 1 + int(self.has_inner_bands) + int(self.tiled)
        return serial > 1 or (serial == 1 and loops_inside < 1)
