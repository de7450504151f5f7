"""Candidate rows: one free iterator of each statement, the most profitable combination first.

A dependence depends on two iterators only, so all combinations are judged from a table of pairs, and those that hold a
hopeless pair need not be formed. Small searches look at every combination; large ones stop at a limit and say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from polyviz.analysis.loop_kinds import Distances, Span, Term, Terms
from polyviz.scheduling.superposed.retiming import retimed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.model.superposition import LineCost, LoopKind
    from polyviz.scheduling.superposed.parts import Scene

FULL_SEARCH = 64
"""Up to so many combinations all of them are tested and logged."""
MOST_VISITS = 20_000
"""The limit of a larger search: partial combinations looked at."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tested combination; ``changed`` when it had to be reversed or shifted to be legal.

    ``obstacle``: where it is a reduction, why threads cannot share it; empty where they can.
    The other fields are those of :class:`polyviz.scheduling.superposed.parts.ParallelLoop`.
    """

    terms: Terms
    kind: LoopKind
    weight: Fraction
    depth: int
    reducing: frozenset[str]
    ordered: bool
    changed: bool
    obstacle: str

    @property
    def priority(self) -> tuple[bool, Fraction, int]:
        """Rows as they are come first, then those that save most, of equals the inner ones."""
        return self.changed, self.weight, -self.depth


@dataclass(slots=True)
class RowSearch:
    """All combinations of a scene worth looking at, best first; ``cut`` tells that the limit was reached."""

    scene: Scene
    costs: Mapping[str, LineCost]
    distances: Distances = field(init=False)
    cut: bool = field(default=False, init=False)
    _visits: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.distances = Distances(self.scene.constraints)

    def candidates(self) -> list[Candidate]:
        """The combinations in the order in which they are offered."""
        found = [self._judged(dict(zip(self.scene.names, places, strict=True))) for places in self._places()]
        return sorted(found, key=lambda candidate: candidate.priority)

    def _places(self) -> Iterator[tuple[int, ...]]:
        choices = [self.scene.free[name] for name in self.scene.names]
        if prod(map(len, choices)) <= FULL_SEARCH:
            yield from product(*choices)
        else:
            yield from self._extended(())

    def _extended(self, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """All combinations that begin with ``chosen`` and hold no hopeless pair."""
        if len(chosen) == len(self.scene.names):
            yield chosen
            return
        name = self.scene.names[len(chosen)]
        for place in self.scene.free[name]:
            if self._visits >= MOST_VISITS:
                self.cut = True
                return
            self._visits += 1
            longer = (*chosen, place)
            if not self._is_hopeless(longer):
                yield from self._extended(longer)

    def _is_hopeless(self, chosen: tuple[int, ...]) -> bool:
        """Whether the newest choice can be in no legal row, reversed or shifted, with those before it."""
        names = self.scene.names[: len(chosen)]
        terms = {name: Term(place) for name, place in zip(names, chosen, strict=True)}
        newest = names[-1]
        return any(
            _is_hopeless(span, own=found.source == found.sink)
            for found, span in self.distances.spans(terms)
            if newest in (found.source, found.sink)
            and not self.distances.is_reduction(found, self.scene.names)
        )

    def _judged(self, places: Mapping[str, int]) -> Candidate:
        terms = {name: Term(place) for name, place in places.items()}
        kind, changed = self.distances.kind(terms), False
        if kind == "violation":
            other = retimed(terms, self.distances)
            if other is not None:
                terms, kind, changed = other, self.distances.kind(other), True
        weight = sum((self._derivative(name, place) for name, place in places.items()), Fraction(0))
        is_reduction = kind == "reduction"
        return Candidate(
            terms=terms,
            kind=kind,
            weight=weight,
            depth=sum(places.values()),
            reducing=self.distances.reducing(terms) if is_reduction else frozenset(),
            ordered=self.distances.is_forward(terms),
            changed=changed,
            obstacle=self._obstacle(terms) if is_reduction else "",
        )

    def _obstacle(self, terms: Terms) -> str:
        """Partial sums can be joined in the end, which is too late for a statement that depends on a step of one."""
        others = terms.keys() - self.distances.reducing(terms)
        if others:
            return f"{', '.join(sorted(others))} alternates with its steps"
        return "" if self.distances.shares_cells(terms) else "its cells move along the row"

    def _derivative(self, name: str, place: int) -> Fraction:
        return list(self.costs[name].derivatives.values())[place]


def _is_hopeless(span: Span, *, own: bool) -> bool:
    if own:
        return not span.is_forward and not span.moved(-1, 0).is_forward
    return span.low is None and span.high is None
