"""What the two searches hand over: groups of statements with parallel loops, inside sequential loops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.analysis.carried import Constraint, undecided
from polyviz.analysis.loop_kinds import Term, inside, row_maps
from polyviz.scheduling.components import reachability, topological
from polyviz.scheduling.graph import Edge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from polyviz.model.scop import Scop
    from polyviz.model.superposition import LoopKind


@dataclass(frozen=True, slots=True)
class ParallelLoop:
    """A row that is forall or a reduction over some statements.

    ``weight`` is the sum of the cost derivatives of its iterators (the lower, the better for neighbouring threads),
    ``depth`` the sum of their places. ``reducing`` are the statements that accumulate across its iterations.
    ``ordered``: run by one thread, it respects the order of the source.
    """

    terms: Mapping[str, Term]
    kind: LoopKind
    weight: Fraction
    depth: int
    reducing: frozenset[str] = frozenset()
    ordered: bool = True

    def only(self, names: Sequence[str]) -> ParallelLoop:
        """The loop over fewer statements."""
        terms = {name: self.terms[name] for name in names}
        return replace(self, terms=terms, reducing=self.reducing.intersection(names))


@dataclass(frozen=True, slots=True)
class Group:
    """Statements with common space loops; the first loop becomes axis x, the next ones y and z."""

    names: tuple[str, ...]
    loops: tuple[ParallelLoop, ...] = ()


@dataclass(frozen=True, slots=True)
class Serial:
    """A sequential loop around parts that run one after the other."""

    names: tuple[str, ...]
    terms: Mapping[str, Term]
    parts: tuple[Part, ...]


Part = Group | Serial


@dataclass(frozen=True, slots=True)
class Scene:
    """What one level of a search looks at.

    ``constraints`` are those that the sequential loops ``under`` leave open, ``free`` the iterators per statement that
    no loop has taken, ``enclosing`` the parallel loops found on the levels above.
    """

    names: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    free: Mapping[str, tuple[int, ...]]
    under: tuple[Mapping[str, Term], ...] = ()
    enclosing: tuple[ParallelLoop, ...] = ()

    def components(self) -> Iterator[Scene]:
        """The strongly connected components, each after all it depends on, else in the order of the source."""
        edges = [
            Edge(found.source, found.sink, found.pairs)
            for found in self.constraints
            if found.dependence is not None
        ]
        reach = reachability(self.names, edges)
        together = reach & reach.T
        members = {
            tuple(place for place in range(len(self.names)) if row[place]) for row in together.tolist()
        }
        for group in topological(sorted(members), reach):
            yield self.only([self.names[place] for place in group])

    def only(self, names: Sequence[str]) -> Scene:
        """The scene with fewer statements."""
        return Scene(
            tuple(names),
            inside(self.constraints, names),
            {name: self.free[name] for name in names},
            tuple({name: terms[name] for name in names} for terms in self.under),
            tuple(loop.only(names) for loop in self.enclosing),
        )

    def within(self, scop: Scop, terms: Mapping[str, Term], parallel: Sequence[ParallelLoop]) -> Scene:
        """The scene inside the sequential loop ``terms``, with the ``parallel`` loops of this level pushed down."""
        taken = [terms, *(loop.terms for loop in parallel)]
        free = {
            name: tuple(place for place in places if all(row[name].iterator != place for row in taken))
            for name, places in self.free.items()
        }
        left = undecided(self.constraints, row_maps(scop, terms))
        return Scene(self.names, left, free, (*self.under, terms), (*self.enclosing, *parallel))


def groups_of(
    parts: Sequence[Part], under: tuple[Mapping[str, Term], ...] = ()
) -> Iterator[tuple[Group, tuple[Mapping[str, Term], ...]]]:
    """Every group in its order, with the sequential loops around it."""
    for part in parts:
        if isinstance(part, Group):
            yield part, under
        else:
            yield from groups_of(part.parts, (*under, part.terms))


def restricted(parts: Sequence[Part], names: Sequence[str]) -> tuple[Part, ...]:
    """``parts`` with only the statements ``names``; what is left empty is dropped."""
    result: list[Part] = []
    for part in parts:
        kept = tuple(name for name in part.names if name in names)
        if not kept:
            continue
        if isinstance(part, Group):
            result.append(Group(kept, tuple(loop.only(kept) for loop in part.loops)))
        else:
            terms = {name: part.terms[name] for name in kept}
            result.append(Serial(kept, terms, restricted(part.parts, kept)))
    return tuple(result)
