"""Dependences between statement instances, and what they say about a schedule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import islpy as isl

from polyviz.model.display import Displayable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.scop import Scop

DependenceKind = Literal["flow", "anti", "output", "input", "reduction"]


@dataclass(frozen=True, slots=True)
class Dependence:
    """The dependences of one kind through one array between two statements: source instances to sink instances."""

    kind: DependenceKind
    array: str
    source: str
    sink: str
    relation: isl.Map


@dataclass(frozen=True, slots=True)
class Privatization:
    """A scalar temporary whose values never leave one iteration of its ``depth`` outermost common loops.

    Each such iteration may get a copy of its own, so anti and output dependences between different copies do not
    constrain the schedule. ``last`` holds, for a scalar that stays visible after the part, the instances whose write
    is the final value; ``None`` when nobody looks at it afterwards.
    """

    array: str
    depth: int
    last: isl.UnionSet | None
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Dependences(Displayable):
    """All dependences of a part.

    ``relations`` holds them apart by kind, array and statement pair. ``kind`` tells value-based (only the last write
    reaches a read) from memory-based (every pair that touches one cell). ``flow``, ``anti``, ``output``, ``input`` and
    ``reduction`` are their unions; reduction dependences are also contained in the other kinds.
    ``validity`` must not be reversed by a schedule: flow, anti and output, less what privatization removes.
    ``proximity`` should be close in time, ``coincidence`` decides which loops are parallel. ``notes`` are sentences
    about everything that is not exact.
    """

    kind: Literal["value", "memory"]
    relations: tuple[Dependence, ...]
    privatizations: tuple[Privatization, ...]
    validity: isl.UnionMap
    proximity: isl.UnionMap
    coincidence: isl.UnionMap
    validity_relations: tuple[Dependence, ...]
    notes: tuple[str, ...] = ()

    @property
    def flow(self) -> isl.UnionMap:
        """Write to a later read of the same cell."""
        return self._union("flow")

    @property
    def anti(self) -> isl.UnionMap:
        """Read to a later write of the same cell."""
        return self._union("anti")

    @property
    def output(self) -> isl.UnionMap:
        """Write to a later write of the same cell."""
        return self._union("output")

    @property
    def input(self) -> isl.UnionMap:
        """Read to a later read of the same cell."""
        return self._union("input")

    @property
    def reduction(self) -> isl.UnionMap:
        """Between the accumulation steps of one reduction."""
        return self._union("reduction")

    def _union(self, kind: DependenceKind) -> isl.UnionMap:
        result = isl.UnionMap.empty(self.validity.get_space().params())
        for dependence in self.relations:
            if dependence.kind == kind:
                result = result.union(isl.UnionMap.from_map(dependence.relation))
        return result


@dataclass(frozen=True, slots=True)
class Violation:
    """Two concrete instances that a schedule executes in the wrong order (or at the same time).

    ``source_instance`` and ``sink_instance`` are integer tuples; ``parameters`` the values that expose the violation.
    """

    kind: DependenceKind
    array: str
    source: str
    source_instance: tuple[int, ...]
    sink: str
    sink_instance: tuple[int, ...]
    parameters: Mapping[str, int]
    explanation: str


@dataclass(frozen=True, slots=True, repr=False)
class Legality(Displayable):
    """The verdict on a schedule: true when no dependence is reversed.

    ``scop`` is the part that was checked, so that a view can draw a violation; None where nobody said.
    """

    violations: tuple[Violation, ...] = ()
    scop: Scop | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return not self.violations

    def __str__(self) -> str:
        if not self.violations:
            return "legal: every dependence is respected"
        return "illegal: " + "; ".join(violation.explanation for violation in self.violations)


@dataclass(frozen=True, slots=True)
class CarriedDependence:
    """A dependence, by its names, some of whose pairs lie in different iterations of a loop."""

    kind: DependenceKind
    array: str
    source: str
    sink: str


@dataclass(frozen=True, slots=True)
class LoopParallelism:
    """Whether the iterations of one loop may run at the same time.

    ``witness`` is a pair of iterations that forbids it, None for a parallel loop. ``reduction_parallel`` tells that
    only reduction dependences stand in the way. ``statements`` are those inside the loop, ``depth`` counts from 0;
    ``carries`` are the dependences between its iterations that no loop around it separates.
    """

    loop: str
    depth: int
    statements: tuple[str, ...]
    parallel: bool
    reduction_parallel: bool
    witness: Violation | None
    explanation: str
    carries: tuple[CarriedDependence, ...] = ()
