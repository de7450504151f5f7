"""The phases that the threads of one kernel go through, and the places between them where a barrier may stand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from polyviz.scheduling.superposed.parts import Group, Part, Serial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.analysis.loop_kinds import Term


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a barrier: after part ``position`` of a sequence; after the last part, before its loop goes on."""

    sequence: int
    position: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A place with the phases before and after it, the number of loops around it, and whether it ends a loop."""

    place: Place
    before: int
    after: int
    depth: int
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a phase stands in one sequence on the way to it: ``sequence`` has ``length`` parts, the phase is in
    ``position``; ``terms`` is the sequential loop around the sequence, None around the outermost one."""

    sequence: int
    position: int
    length: int
    terms: Mapping[str, Term] | None


@dataclass(frozen=True, slots=True)
class Phase:
    """One group of statements between barriers, and the way to it."""

    number: int
    group: Group
    way: tuple[Stop, ...]

    def after(self, level: int) -> frozenset[Place]:
        """The places passed from here to the end of this pass through the sequence at ``level``."""
        return frozenset(
            Place(stop.sequence, position)
            for stop in self.way[level:]
            for position in range(stop.position, stop.length - 1)
        )

    def before(self, level: int) -> frozenset[Place]:
        """The places passed from the begin of this pass through the sequence at ``level`` to here."""
        return frozenset(
            Place(stop.sequence, position) for stop in self.way[level:] for position in range(stop.position)
        )


def phases_of(parts: Sequence[Part]) -> tuple[Phase, ...]:
    """The phases of a kernel in their order."""
    sequences = iter(range(len(list(_serials(parts))) + 1))
    found = list(_walk(parts, None, (), sequences))
    return tuple(Phase(number, group, way) for number, (group, way) in enumerate(found))


def gaps_of(phases: Sequence[Phase]) -> tuple[Gap, ...]:
    """Every place for a barrier; the ends of loops come last."""
    between: list[Gap] = []
    ends: list[Gap] = []
    stops = {stop.sequence: (depth, stop) for phase in phases for depth, stop in enumerate(phase.way)}
    for sequence, (depth, stop) in sorted(stops.items()):
        parts = [
            [phase.number for phase in phases if _is_in(phase, sequence, place)]
            for place in range(stop.length)
        ]
        for place, (before, after) in enumerate(pairwise(parts)):
            between.append(Gap(Place(sequence, place), before[-1], after[0], depth))
        if depth:
            ends.append(Gap(Place(sequence, stop.length - 1), parts[-1][-1], parts[0][0], depth, wraps=True))
    return (*between, *ends)


def without_host_loops(parts: Sequence[Part], host: Sequence[Mapping[str, Term]]) -> tuple[Part, ...]:
    """``parts`` without the sequential loops that the host runs around the kernel already."""
    result: list[Part] = []
    for part in parts:
        if isinstance(part, Group):
            result.append(part)
            continue
        inner = without_host_loops(part.parts, host)
        on_host = any(all(row.get(name) == term for name, term in part.terms.items()) for row in host)
        result += inner if on_host else (Serial(part.names, part.terms, inner),)
    return tuple(result)


def _is_in(phase: Phase, sequence: int, position: int) -> bool:
    return any((stop.sequence, stop.position) == (sequence, position) for stop in phase.way)


def _walk(
    parts: Sequence[Part],
    terms: Mapping[str, Term] | None,
    way: tuple[Stop, ...],
    sequences: Iterator[int],
) -> Iterator[tuple[Group, tuple[Stop, ...]]]:
    number = next(sequences)
    for position, part in enumerate(parts):
        here = (*way, Stop(number, position, len(parts), terms))
        if isinstance(part, Group):
            yield part, here
        else:
            yield from _walk(part.parts, part.terms, here, sequences)


def _serials(parts: Sequence[Part]) -> Iterator[Serial]:
    for part in parts:
        if isinstance(part, Serial):
            yield part
            yield from _serials(part.parts)
