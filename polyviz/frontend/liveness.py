"""Which arrays carry values into the part and out of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_limits import solved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.scop import Access, AccessKind, Statement

_OPERATIONS = 300_000
"""For the liveness of one array; about a third of a second."""


@dataclass(frozen=True, slots=True)
class ReadFromBefore:
    """Names of arrays of which some read sees a value from before the part, and of those where isl could not tell."""

    certain: frozenset[str]
    undecided: frozenset[str]

    @property
    def possible(self) -> frozenset[str]:
        """Both: what is undecided counts as read, which is always safe."""
        return self.certain | self.undecided


def arrays_read_from_before(
    statements: Sequence[Statement], schedule: isl.Schedule, context: isl.Set
) -> ReadFromBefore:
    """Arrays of which some read may see a value from before the part: no certain write of the cell comes earlier.

    >>> schedule = isl.Schedule.from_domain(isl.UnionSet("{ }"))
    >>> arrays_read_from_before((), schedule, isl.Set("{ : }")).possible
    frozenset()
    """
    times = schedule.get_map()
    reads = _timed(statements, times, "read")
    writes = _timed(statements, times, "write", exact_only=True)
    exposed = {
        name: name not in writes or _is_exposed(relation.intersect_params(context), writes[name])
        for name, relation in reads.items()
    }
    return ReadFromBefore(
        frozenset(name for name, answer in exposed.items() if answer),
        frozenset(name for name, answer in exposed.items() if answer is None),
    )


def arrays_maybe_written(statements: Sequence[Statement]) -> set[str]:
    """Arrays with a write that is not certain; such a write may leave the old content."""
    return {access.array for access in _accesses(statements, "write") if not access.exact}


def arrays_maybe_unwritten(statements: Sequence[Statement], context: isl.Set) -> set[str]:
    """Arrays that are written, but for some sizes of ``context`` not for certain: loops may be empty, guards false."""
    certain: dict[str, isl.Set] = {}
    for statement in statements:
        for access in statement.accesses:
            if access.kind == "write":
                sizes = (
                    access.relation.domain().params() if access.exact else isl.Set.empty(context.get_space())
                )
                known = certain.get(access.array)
                certain[access.array] = sizes if known is None else known.union(sizes)
    return {name for name, sizes in certain.items() if not context.is_subset(sizes)}


def arrays_written(statements: Sequence[Statement]) -> set[str]:
    """Arrays with any write."""
    return {access.array for access in _accesses(statements, "write")}


def _is_exposed(reads: isl.Map, writes: isl.Map) -> bool | None:
    """Whether a (time, cell) of ``reads`` has no earlier time at which ``writes`` reaches the cell; None: too hard."""
    later = isl.Map.lex_lt(writes.get_space().domain())
    covered = writes.reverse().apply_range(later).reverse()
    is_covered = solved(lambda: reads.is_subset(covered), _OPERATIONS)
    return None if is_covered is None else not is_covered


def _timed(
    statements: Sequence[Statement], times: isl.UnionMap, kind: AccessKind, *, exact_only: bool = False
) -> dict[str, isl.Map]:
    """For each array the cells touched at each time."""
    parts: dict[str, list[isl.Map]] = {}
    for statement in statements:
        time = _time_of(statement, times)
        for access in statement.accesses:
            if access.kind == kind and (access.exact or not exact_only):
                parts.setdefault(access.array, []).append(time.reverse().apply_range(access.relation))
    return {name: reduce(isl.Map.union, relations) for name, relations in parts.items()}


def _time_of(statement: Statement, times: isl.UnionMap) -> isl.Map:
    return isl.Map.from_union_map(times.intersect_domain(isl.UnionSet.from_set(statement.domain)))


def _accesses(statements: Sequence[Statement], kind: AccessKind) -> list[Access]:
    return [access for statement in statements for access in statement.accesses if access.kind == kind]
