"""The loops that an order really has: which of them run more than once, and which are tiled, whatever made them so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.carried import visits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.analysis.carried import Rows
    from polyviz.exercises.answer import Answer
    from polyviz.model.schedule import Schedule

_PARAMETER = isl.dim_type.param


def repeats(answer: Answer, schedule: Schedule) -> list[bool]:
    """For each loop of ``schedule``, depth first: has it two iterations in some place, for sizes that are allowed?"""
    loops = _loops(answer, schedule)
    return [
        any(_chain(answer, loops, path, name).varies(-1) for name in loops[path[-1]].rows) for path in _paths(loops)
    ]


def tiled_together(answer: Answer, schedule: Schedule) -> int:
    """The most loops of one nest that are tiled together: all their loops over tiles stand outside those over points.

    A loop over points has an end that no size moves, given the loops outside it, although all its values together have
    none. That is so however the order was written: by moves, as a map, or as loops.
    """
    loops = _loops(answer, schedule)
    chains: dict[tuple[str, tuple[int, ...]], _Chain] = {}
    for path in _paths(loops):
        for name in loops[path[-1]].rows:
            inside = tuple(number for number in path if name in loops[number].rows)
            chains.pop((name, inside[:-1]), None)
            chains[name, inside] = _chain(answer, loops, path, name)
    return max((chain.tiled_together() for chain in chains.values()), default=0)


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop; ``tile_above`` says of a loop over points that a move made how far out its loop over tiles is."""

    rows: Rows
    depth: int
    tile_above: int | None


def _loops(answer: Answer, schedule: Schedule) -> list[_Loop]:
    rows = [
        (row, visit.depth + place)
        for visit in visits(answer.scop, answer.dependences, schedule.tree)
        for place, row in enumerate(visit.rows)
    ]
    above = [
        len(band.members) if member.role == "point" else None for band in schedule.bands for member in band.members
    ]
    return [_Loop(row, depth, tile) for (row, depth), tile in zip(rows, above, strict=True)]


def _paths(loops: list[_Loop]) -> Iterator[tuple[int, ...]]:
    """For each loop the numbers of the loops around it and its own, outermost first."""
    around: list[int] = []
    for number, loop in enumerate(loops):
        del around[loop.depth :]
        around.append(number)
        yield tuple(around)


def _chain(answer: Answer, loops: list[_Loop], path: tuple[int, ...], name: str) -> _Chain:
    statement = answer.scop.statement(name)
    inside = [loops[number] for number in path if name in loops[number].rows]
    return _Chain(
        statement.domain.intersect_params(answer.scop.context),
        tuple(loop.rows[name] for loop in inside),
        tuple(loop.tile_above for loop in inside),
    )


@dataclass(frozen=True, slots=True)
class _Chain:
    """The loops around one statement: the value of each for every instance."""

    domain: isl.Set
    rows: tuple[isl.Map, ...]
    tiles_above: tuple[int | None, ...]

    def varies(self, place: int) -> bool:
        """Whether the loop has two values for the same values of all loops outside it."""
        place %= len(self.rows)
        return not self._values(place, self._outside(place)).is_single_valued()

    def tiled_together(self) -> int:
        """The largest number of loops over points that a place in the chain parts from their loops over tiles."""
        spans = [(tile, place) for place in range(len(self.rows)) for tile in self._tile_of(place)]
        return max((sum(tile < cut <= place for tile, place in spans) for cut in range(1, len(self.rows))), default=0)

    def _tile_of(self, place: int) -> list[int]:
        """The place of the loop over tiles for the loop over points at ``place``; nothing where it is no such loop."""
        if not self.varies(place) or self._follows_a_later_loop(place):
            return []
        if not self._is_bounded(place, 0):
            return [outside - 1 for outside in range(1, place + 1) if self._is_bounded(place, outside)][:1]
        # With sizes written as numbers every loop has a fixed end; the mark of a move tells then.
        above = self.tiles_above[place]
        return [] if above is None else [place - above]

    def _follows_a_later_loop(self, place: int) -> bool:
        """Whether a loop further in decides the value of this one, as for the inner of two levels of tiles."""
        return any(
            self._values(place, self.rows[later]).is_single_valued() for later in range(place + 1, len(self.rows))
        )

    def _is_bounded(self, place: int, outside: int) -> bool:
        """Whether the number of its values has a limit for all sizes, within one iteration of the ``outside`` loops."""
        values = self._values(place, self._outside(outside))
        apart = values.reverse().apply_range(values).deltas()
        bounded: bool = apart.project_out(_PARAMETER, 0, apart.dim(_PARAMETER)).is_bounded()
        return bounded

    def _outside(self, count: int) -> isl.Map:
        """The values of the outermost ``count`` loops for every instance."""
        together = isl.Map.from_domain(self.domain)
        for row in self.rows[:count]:
            together = together.flat_range_product(row)
        return together

    def _values(self, place: int, given: isl.Map) -> isl.Map:
        """From what is ``given`` to the values that the loop at ``place`` takes there."""
        return given.intersect_domain(self.domain).reverse().apply_range(self.rows[place])
