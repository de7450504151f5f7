"""Value-based and memory-based dependences of one array, by isl's exact dataflow analysis.

Value-based dependences keep only neighbours in time: a read depends on the last write before it (Feautrier, *Dataflow
analysis of array and scalar references*, 1991). A may write never hides what came before it, so every may write up to
the nearest must write is a neighbour. The memory order is contained in the transitive closure of the neighbours:
between two conflicting accesses that are no neighbours lies a must write, which is ordered with both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.times import maps_of, union_of
from polyviz.model.dependences import DependenceKind

if TYPE_CHECKING:
    from polyviz.analysis.accesses import ArrayAccesses


@dataclass(frozen=True, slots=True)
class Times:
    """The original execution order, forwards and backwards, as maps into one time space."""

    forward: isl.UnionMap
    backward: isl.UnionMap

    @classmethod
    def of(cls, times: dict[str, isl.Map], parameters: isl.Space) -> Times:
        """Both directions of the order that ``times`` gives."""
        backward = (relation.neg() for relation in times.values())
        return cls(union_of(times.values(), parameters), union_of(backward, parameters))


Relations = dict[DependenceKind, isl.UnionMap]


def last_writers(accesses: ArrayAccesses, order: isl.UnionMap) -> isl.UnionFlow:
    """For each read the writes that may have left the value it sees, and the reads that may see an older value."""
    return _nearest(accesses.reads, accesses.writes, accesses.must_writes, order)


def value_based(accesses: ArrayAccesses, times: Times) -> Relations:
    """Dependences between neighbours in time, by kind."""
    reads, writes, must = accesses.reads, accesses.writes, accesses.must_writes
    return {
        "flow": last_writers(accesses, times.forward).get_may_dependence(),
        "anti": _nearest(reads, writes, must, times.backward).get_may_dependence().reverse(),
        "output": _nearest(writes, writes, must, times.forward).get_may_dependence(),
        "input": _nearest(reads, reads, reads, times.forward).get_may_dependence(),
    }


def memory_based(accesses: ArrayAccesses, times: Times) -> Relations:
    """Dependences between all pairs of instances that touch a cell, by kind."""
    reads, writes = accesses.reads, accesses.writes
    return {
        "flow": _ordered_pairs(writes, reads, times.forward),
        "anti": _ordered_pairs(reads, writes, times.forward),
        "output": _ordered_pairs(writes, writes, times.forward),
        "input": _ordered_pairs(reads, reads, times.forward),
    }


def _nearest(
    sinks: isl.UnionMap, sources: isl.UnionMap, must_sources: isl.UnionMap, order: isl.UnionMap
) -> isl.UnionFlow:
    """For each sink the sources before it in ``order``, back to the nearest must source."""
    information = isl.UnionAccessInfo.from_sink(sinks)
    information = information.set_must_source(must_sources).set_may_source(sources.subtract(must_sources))
    return information.set_schedule_map(order).compute_flow()


def _ordered_pairs(sources: isl.UnionMap, sinks: isl.UnionMap, order: isl.UnionMap) -> isl.UnionMap:
    touching = sources.apply_range(sinks.reverse())
    pairs = isl.UnionMap.empty(touching.get_space())
    times = {relation.get_tuple_name(isl.dim_type.in_): relation for relation in maps_of(order)}
    for relation in maps_of(touching):
        source = times[relation.get_tuple_name(isl.dim_type.in_)]
        sink = times[relation.get_tuple_name(isl.dim_type.out)]
        pairs = pairs.union(isl.UnionMap.from_map(relation.intersect(source.lex_lt_map(sink))))
    return pairs
