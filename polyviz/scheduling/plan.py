"""The order that the engine found, before it becomes an isl tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.scheduling.rows import multi_affine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.scheduling.clusters import Cluster


@dataclass(frozen=True, slots=True)
class Leaf:
    """Statements whose instances at one time need no order among themselves."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BandPlan:
    """The rows of a cluster and what runs inside them; ``mark`` is the name of a mark above the band, or empty."""

    cluster: Cluster
    inner: Plan
    mark: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The statements of the band."""
        return self.cluster.names


@dataclass(frozen=True, slots=True)
class SequencePlan:
    """Parts one after the other."""

    parts: tuple[Plan, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The statements of all parts."""
        return tuple(name for part in self.parts for name in part.names)


Plan = Leaf | BandPlan | SequencePlan


def tree_of(plan: Plan, domain: isl.UnionSet) -> isl.Schedule:
    """The schedule tree of ``plan`` over the instances of ``domain``."""
    spaces = {part.get_tuple_name(): part for part in _sets(domain)}
    node = isl.Schedule.from_domain(domain).get_root().child(0)
    return _planted(node, plan, spaces).get_schedule()


def _planted(node: isl.ScheduleNode, plan: Plan, domains: dict[str, isl.Set]) -> isl.ScheduleNode:
    """``node`` with ``plan`` below it; the result stands where ``node`` stood."""
    if isinstance(plan, BandPlan):
        with_band = node.insert_partial_schedule(_partial_schedule(plan.cluster, domains))
        with_inner = _planted(with_band.child(0), plan.inner, domains).parent()
        return with_inner.insert_mark(isl.Id(plan.mark)) if plan.mark else with_inner
    if isinstance(plan, SequencePlan):
        filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(plan.parts))
        for part in plan.parts:
            filters = filters.add(_union(part.names, domains))
        sequence = node.insert_sequence(filters)
        for position, part in enumerate(plan.parts):
            sequence = _planted(sequence.child(position).child(0), part, domains).parent().parent()
        return sequence
    return node


def _partial_schedule(cluster: Cluster, domains: dict[str, isl.Set]) -> isl.MultiUnionPwAff:
    pieces = []
    for name in cluster.names:
        rows = multi_affine(cluster.rows(name), domains[name].get_space())
        pieces.append(isl.UnionPwMultiAff.from_pw_multi_aff(isl.PwMultiAff.from_multi_aff(rows)))
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = whole.union_add(piece)
    return isl.MultiUnionPwAff.from_union_pw_multi_aff(whole)


def _union(names: Sequence[str], domains: dict[str, isl.Set]) -> isl.UnionSet:
    whole = isl.UnionSet.from_set(domains[names[0]])
    for name in names[1:]:
        whole = whole.union(isl.UnionSet.from_set(domains[name]))
    return isl.UnionSet.universe(whole)


def _sets(domain: isl.UnionSet) -> list[isl.Set]:
    parts = domain.get_set_list()
    return [parts.get_at(position) for position in range(parts.n_set())]
