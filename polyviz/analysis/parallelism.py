"""Which loops may run their iterations at the same time, which only as a reduction, and what forbids the rest."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.carried import Constraint, backward, forward, undecided, visits, visits_with
from polyviz.analysis.loop_names import iteration_text, loop_name
from polyviz.analysis.possible_sizes import possible_sizes
from polyviz.analysis.witness import conflict_words, parameters_text, smallest_pair, violation_of
from polyviz.model.dependences import CarriedDependence, Dependence, LoopParallelism
from polyviz.model.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from polyviz.analysis.carried import BandVisit, Rows
    from polyviz.analysis.witness import Pair
    from polyviz.model.dependences import Dependences, Violation
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True)
class MemberProperties:
    """What the dependences say of one member of a band.

    ``coincident``: zero distance over every dependence that reaches the band, so that the loop stays parallel when
    the band is permuted or tiled; ``reduction_parallel``: not coincident, but only because of reductions. ``parallel``
    and ``parallel_as_reduction`` are the weaker facts about the loop where it stands, inside the members before it.
    """

    coincident: bool
    reduction_parallel: bool
    parallel: bool
    parallel_as_reduction: bool


@dataclass(frozen=True, slots=True)
class BandProperties:
    """What the dependences say of one band; ``permutable`` when no member runs against a dependence."""

    permutable: bool
    members: tuple[MemberProperties, ...]
    statements: tuple[str, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class _Culprit:
    """The pairs of one dependence that a loop carries."""

    dependence: Dependence
    pairs: isl.Map


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a loop carries ``nothing``, or something but only reductions; ``culprits`` are what forbids more.

    ``carries`` names the dependences between its iterations that no loop around it separates.
    """

    nothing: bool
    only_reductions: bool
    culprits: tuple[_Culprit, ...] = ()
    carries: tuple[CarriedDependence, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found for a tree; trees do not change, so that it stays true."""

    scop: Scop
    dependences: Dependences
    tree: isl.Schedule
    properties: tuple[BandProperties, ...]


# Those who shape a tree ask for it band by band.
_RECENT: deque[_Known] = deque(maxlen=8)


def band_properties(scop: Scop, dependences: Dependences, tree: isl.Schedule) -> tuple[BandProperties, ...]:
    """The properties of every band of ``tree`` in depth-first order, exactly, from ``dependences.validity_relations``.

    ``tree`` must be a schedule of the part; whether it is legal :func:`polyviz.check` tells.
    """
    for known in tuple(_RECENT):
        if known.tree is tree and known.dependences is dependences and known.scop is scop:
            return known.properties
    properties = tuple(_properties(visit) for visit in visits(scop, dependences, tree))
    _RECENT.append(_Known(scop, dependences, tree, properties))
    return properties


def keep_properties(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, properties: tuple[BandProperties, ...]
) -> None:
    """Have :func:`band_properties` know those of ``tree``, which is another tree but for its flags and marks."""
    _RECENT.append(_Known(scop, dependences, tree, properties))


def last_is_parallel(visit: BandVisit) -> bool:
    """Whether the last member of a band carries nothing where it stands, inside the members before it."""
    left = reduce(undecided, visit.rows[:-1], visit.constraints)
    return _carries_nothing(left, visit.rows[-1])


def first_is_parallel(visit: BandVisit) -> bool:
    """Whether the first member of a band carries nothing where it stands."""
    return _carries_nothing(visit.constraints, visit.rows[0])


def parallelism(
    scop: Scop, dependences: Dependences, schedule: Schedule | isl.Schedule
) -> tuple[LoopParallelism, ...]:
    """For every loop of ``schedule`` (the original order too), outermost first: is it parallel, and if not why.

    The witness is the smallest pair of instances in different iterations of the loop, equal in the loops around it,
    that a dependence ties. A scalar of which every iteration gets a copy ties nothing, and the explanation names it.
    """
    tree = schedule.tree if isinstance(schedule, Schedule) else schedule
    return tuple(
        loop
        for visit, copies in _both(scop, dependences, tree)
        for _, loop in _loops(scop, visit, copies, range(len(visit.rows)))
    )


def loop_parallelism(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, number: int
) -> LoopParallelism:
    """What :func:`parallelism` says of one loop, by its place among all of them; nothing is found out about others."""
    return parallelism_of(scop, dependences, tree, (number,))[number]


def parallelism_of(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, numbers: Collection[int]
) -> dict[int, LoopParallelism]:
    """What :func:`parallelism` says of the loops at the places ``numbers`` among all of them, and of no others.

    Raises KeyError where there are not that many.
    """
    found: dict[int, LoopParallelism] = {}
    first = 0
    for visit, copies in _both(scop, dependences, tree) if numbers else ():
        wanted = {number - first for number in numbers if first <= number < first + len(visit.rows)}
        for member, loop in _loops(scop, visit, copies, wanted):
            found[first + member] = loop
        if found.keys() >= {*numbers}:
            break
        first += len(visit.rows)
    return {number: found[number] for number in numbers}


def verdict_on_loop(scop: Scop, dependences: Dependences, tree: isl.Schedule, number: int) -> Verdict:
    """What a loop carries, by its place among all of them: :func:`loop_parallelism` for those who ask for no reasons.

    The pair of iterations that shows it takes several times as long to find. Raises KeyError where there are not that
    many loops.
    """
    first = 0
    for visit in visits(scop, dependences, tree):
        member = number - first
        if member < len(visit.rows):
            left = reduce(undecided, visit.rows[:member], visit.constraints)
            return _verdict(left, visit.rows[member])
        first += len(visit.rows)
    raise KeyError(number)


def _both(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> Iterator[tuple[BandVisit, tuple[Constraint, ...]]]:
    """Every band, with what copies of private scalars would tie in it."""
    copies = visits_with(tree, tuple(_copies(scop, dependences)))
    for visit, copied in zip(visits(scop, dependences, tree), copies, strict=True):
        yield visit, copied.constraints


def _copies(scop: Scop, dependences: Dependences) -> Iterator[Constraint]:
    """Every two instances that write the same private scalar, which they may do in any order."""
    for array in (found.array for found in dependences.privatizations):
        writing = [
            one
            for one in scop.statements
            if any(access.array == array and access.kind == "write" for access in one.accesses)
        ]
        for first in writing:
            for second in writing:
                pairs = isl.Map.from_domain_and_range(first.domain, second.domain)
                yield Constraint(
                    first.name, second.name, pairs, Dependence("output", array, first.name, second.name, pairs)
                )


def _properties(visit: BandVisit) -> BandProperties:
    members = []
    left = visit.constraints
    permutable = True
    for rows in visit.rows:
        ways = _both_ways(visit.constraints, rows)
        permutable = permutable and all(way.backward.is_empty() for way in ways)
        whole = _judged(visit.constraints, ways)
        here = whole if left is visit.constraints else _verdict(left, rows)
        members.append(
            MemberProperties(whole.nothing, whole.only_reductions, here.nothing, here.only_reductions)
        )
        left = undecided(left, rows)
    return BandProperties(permutable, tuple(members), visit.statements, visit.depth)


def _loops(
    scop: Scop, visit: BandVisit, copies: tuple[Constraint, ...], wanted: Collection[int]
) -> Iterator[tuple[int, LoopParallelism]]:
    """The ``wanted`` members of a band, each with what is found of its loop."""
    left = visit.constraints
    for member, rows in enumerate(visit.rows[: max(wanted, default=-1) + 1]):
        if member in wanted:
            yield member, _loop(scop, rows, visit.depth + member, _verdict(left, rows), _copied(copies, rows))
        left, copies = undecided(left, rows), undecided(copies, rows)


def _copied(copies: tuple[Constraint, ...], rows: Rows) -> tuple[str, ...]:
    """The private scalars that more than one iteration of the loop writes."""
    return tuple(
        dict.fromkeys(
            constraint.dependence.array
            for constraint in copies
            if constraint.dependence is not None and not forward(constraint, rows).is_empty()
        )
    )


@dataclass(frozen=True, slots=True)
class _Ways:
    """The pairs of one constraint that a loop keeps apart, by the direction it runs them in."""

    constraint: Constraint
    forward: isl.Map
    backward: isl.Map


def _both_ways(constraints: tuple[Constraint, ...], rows: Rows) -> tuple[_Ways, ...]:
    return tuple(
        _Ways(constraint, forward(constraint, rows), backward(constraint, rows))
        for constraint in constraints
        if constraint.dependence is not None
    )


def _carries_nothing(constraints: tuple[Constraint, ...], rows: Rows) -> bool:
    """What :func:`_verdict` says first, for those who ask no more: it ends where something is carried."""
    return all(
        forward(constraint, rows).is_empty() and backward(constraint, rows).is_empty()
        for constraint in constraints
        if constraint.dependence is not None
    )


def _verdict(constraints: tuple[Constraint, ...], rows: Rows) -> Verdict:
    return _judged(constraints, _both_ways(constraints, rows))


def _judged(constraints: tuple[Constraint, ...], ways: tuple[_Ways, ...]) -> Verdict:
    carried = [(way.constraint, way.forward.union(way.backward)) for way in ways]
    carried = [(constraint, pairs) for constraint, pairs in carried if not pairs.is_empty()]
    if not carried:
        return Verdict(nothing=True, only_reductions=False)
    disturbed = {constraint.source for constraint in constraints if constraint.dependence is None}
    strict = [
        (constraint, pairs)
        for constraint, pairs in carried
        if constraint.reduction is None or constraint.source in disturbed
    ]
    culprits = [
        _Culprit(found.dependence, pairs)
        for found, pairs in strict or carried
        if found.dependence is not None
    ]
    names = (constraint.dependence for constraint, _ in carried if constraint.dependence is not None)
    carries = dict.fromkeys(CarriedDependence(one.kind, one.array, one.source, one.sink) for one in names)
    return Verdict(
        nothing=False, only_reductions=not strict, culprits=tuple(culprits), carries=tuple(carries)
    )


def _loop(
    scop: Scop, rows: Rows, depth: int, verdict: Verdict, copied: tuple[str, ...]
) -> LoopParallelism:
    name = loop_name(scop, rows, depth)
    witness = None
    explanation = f"loop {name} is parallel: no dependence ties its iterations"
    if copied:
        explanation += f", since each has its own copy of {' and '.join(copied)}"
    if re.fullmatch(r"-?\d+", name):  # what was peeled, for instance: named by the value of its row
        over = ", ".join(sorted(rows))
        explanation = f"the loop over {over} has a single iteration: nothing is there to run beside it"
    if verdict.culprits:
        witness = _witness(scop, rows, name, verdict.culprits)
        explanation = f"loop {name} is not parallel: {witness.explanation}"
    if verdict.only_reductions and witness is not None:
        explanation = (
            f"loop {name} is parallel as a reduction: its iterations only accumulate into {witness.array} "
            f"({witness.explanation})"
        )
    return LoopParallelism(
        loop=name,
        depth=depth,
        statements=tuple(sorted(rows)),
        parallel=verdict.nothing,
        reduction_parallel=verdict.only_reductions,
        witness=witness,
        explanation=explanation,
        carries=verdict.carries,
    )


def _witness(scop: Scop, rows: Rows, name: str, culprits: tuple[_Culprit, ...]) -> Violation:
    """The pair that shows up for the smallest sizes; among equals a flow is understood most easily."""
    possible = possible_sizes(scop)
    found = [(culprit.dependence, smallest_pair(culprit.pairs, possible)) for culprit in culprits]
    dependence, pair = min(found, key=lambda item: (item[1].size, _KIND_ORDER[item[0].kind], item[1].source))
    return violation_of(dependence, pair, _iterations(scop, rows, name, dependence, pair))


_KIND_ORDER = {"flow": 0, "anti": 1, "output": 2, "input": 3, "reduction": 4}


def _iterations(scop: Scop, rows: Rows, name: str, dependence: Dependence, pair: Pair) -> str:
    does, cell, then = conflict_words(scop, dependence, pair)
    source, sink = scop.statement(dependence.source), scop.statement(dependence.sink)
    first = iteration_text(source, rows[source.name], name, pair.source, pair.parameters)
    second = iteration_text(sink, rows[sink.name], name, pair.sink, pair.parameters)
    source_line = "" if source is sink else f" (line {source.span.line})"
    return (
        f"iteration {first} {does} {cell} in {source.name}{source_line} and iteration {second} {then} it "
        f"in {sink.name} (line {sink.span.line}){parameters_text(pair.parameters)}"
    )
