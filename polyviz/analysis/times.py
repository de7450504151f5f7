"""When instances run: any schedule as one map per statement into one common time space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def sets_of(union: isl.UnionSet) -> Iterator[isl.Set]:
    """The sets of ``union``, one per statement.

    >>> [str(one) for one in sets_of(isl.UnionSet("{ S[1] }"))]
    ['{ S[1] }']
    """
    sets = union.get_set_list()
    return (sets.get_at(place) for place in range(sets.n_set()))


def maps_of(union: isl.UnionMap) -> Iterator[isl.Map]:
    """The maps of a union map, one per pair of spaces."""
    maps = union.get_map_list()
    return (maps.get_at(position) for position in range(maps.n_map()))


def times_by_statement(schedule: isl.UnionMap) -> dict[str, isl.Map]:
    """One map per statement name into a common nameless time space; shorter tuples are padded with zeros.

    >>> times = times_by_statement(isl.UnionMap("{ S[i] -> [i, 1, i]; T[i] -> [i] }"))
    >>> print(times["T"])
    { T[i] -> [i, 0, 0] }
    """
    maps = [_nameless(relation) for relation in maps_of(schedule)]
    length = max((relation.dim(isl.dim_type.out) for relation in maps), default=0)
    times: dict[str, isl.Map] = {}
    for relation in maps:
        name = relation.get_tuple_name(isl.dim_type.in_)
        padded = _padded(relation, length)
        times[name] = times[name].union(padded) if name in times else padded
    return times


def union_of(maps: Iterable[isl.Map], parameters: isl.Space) -> isl.UnionMap:
    """The union of ``maps`` over the parameter space ``parameters``."""
    result = isl.UnionMap.empty(parameters)
    for relation in maps:
        result = result.union(isl.UnionMap.from_map(relation))
    return result


def _nameless(relation: isl.Map) -> isl.Map:
    flat = relation.flatten_range() if relation.get_space().range().is_wrapping() else relation
    return flat.reset_tuple_id(isl.dim_type.out)


def _padded(relation: isl.Map, length: int) -> isl.Map:
    present = relation.dim(isl.dim_type.out)
    longer = relation.add_dims(isl.dim_type.out, length - present)
    for position in range(present, length):
        longer = longer.fix_val(isl.dim_type.out, position, 0)
    return longer
