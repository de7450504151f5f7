"""Which arrays carry values into the part and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.scop import Statement


def arrays_read_from_before(
    statements: Sequence[Statement], schedule: isl.Schedule, context: isl.Set
) -> set[str]:
    """Arrays of which some read may see a value from before the part: no certain write precedes it everywhere.

    >>> arrays_read_from_before((), isl.Schedule.from_domain(isl.UnionSet("{ }")), isl.Set("{ : }"))
    set()
    """
    reads, writes = _accesses(statements, "read"), _accesses(statements, "write", exact_only=True)
    information = isl.UnionAccessInfo.from_sink(reads.intersect_params(context))
    information = information.set_must_source(writes).set_schedule(schedule)
    return _array_names(information.compute_flow().get_may_no_source())


def arrays_maybe_written(statements: Sequence[Statement]) -> set[str]:
    """Arrays with a write that is not certain; such a write may leave the old content."""
    return {
        access.array
        for statement in statements
        for access in statement.accesses
        if access.kind == "write" and not access.exact
    }


def arrays_written(statements: Sequence[Statement]) -> set[str]:
    """Arrays with any write."""
    return {
        access.array for statement in statements for access in statement.accesses if access.kind == "write"
    }


def _accesses(statements: Sequence[Statement], kind: str, *, exact_only: bool = False) -> isl.UnionMap:
    result = isl.UnionMap("{ }")
    for statement in statements:
        for access in statement.accesses:
            if access.kind == kind and (access.exact or not exact_only):
                result = result.union(isl.UnionMap.from_map(access.relation))
    return result


def _array_names(relation: isl.UnionMap) -> set[str]:
    names: set[str] = set()
    relation.foreach_map(lambda part: names.add(part.get_tuple_name(isl.dim_type.out)))
    return names
