"""Which clusters get a common band: merged one pair after the other along the relations between them.

Source: Verdoolaege and Janssens, *Scheduling for PPCG* (2017), section 4.4; the cut between loop nests of different
depth is the smart fusion of Bondhugula et al. (2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import islpy as isl
import numpy as np

from polyviz.scheduling.band_search import BandState, RowRule, Workbench, find_band
from polyviz.scheduling.clusters import Cluster, cluster_graph, merged
from polyviz.scheduling.components import closure, position_of
from polyviz.scheduling.fusion_reasons import (
    Reason,
    brings_uses_together,
    depths_differ,
    farthest,
    fusion_decision,
    fusion_stopped,
    no_common_row,
    no_parallel_row,
    not_close,
    reuse_of_their_own,
    rows_lost,
    search_ended,
    uses_far_apart,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.schedule import Decision
    from polyviz.scheduling.graph import DependenceGraph, Edge

Fusion = Literal["none", "smart", "max"]

# Fusion pays when a value is used again within this many iterations of each loop.
SMALL_DISTANCE = 2


@dataclass(frozen=True, slots=True)
class FusionRule:
    """How eagerly clusters are merged.

    ``none`` merges nothing; ``max`` whatever has a common legal row; ``smart`` only where both have loops of the same
    depth, no parallel row and no band depth is lost, and some value is used again at a small constant distance.
    ``mixed_depths`` lifts the condition on the depth, and asks for a use nearby in every cluster; ``parallel_rows`` is
    the number of parallel rows that is enough, so that others may be lost. ``products`` names statements that use
    each of their operands again by themselves: to share one with others gives them less than tiles of their own.
    """

    fusion: Fusion
    row_rule: RowRule
    mixed_depths: bool = False
    parallel_rows: int | None = None
    products: frozenset[str] = frozenset()

    def fuse(
        self, clusters: Sequence[Cluster], graph: DependenceGraph, workbench: Workbench
    ) -> tuple[list[Cluster], list[Decision]]:
        """The clusters that remain, and why those that touch each other were merged or not."""
        current = list(clusters)
        decisions: list[Decision] = []
        refused: set[frozenset[str]] = set()
        candidates = () if self.fusion == "none" else _candidates(current, graph, everything=self.fusion == "max")
        while candidates:
            pair = _next_pair(current, candidates, refused)
            if pair is None:
                break
            if workbench.budget.is_spent:
                decisions.append(fusion_stopped())
                break
            selection = _between(current, graph, pair)
            union, reason = self._merge(selection, graph, workbench)
            decisions.append(fusion_decision(selection, reason, merged=union is not None))
            if union is None:
                refused.add(_pair_key(current, pair))
                continue
            position = min(current.index(cluster) for cluster in selection)
            current = [cluster for cluster in current if cluster not in selection]
            current.insert(position, union)
        return current, decisions

    def _merge(
        self, selection: Sequence[Cluster], graph: DependenceGraph, workbench: Workbench
    ) -> tuple[Cluster | None, Reason]:
        if not all(cluster.is_close for cluster in selection):
            return None, not_close(selection)
        inside = graph.only(name for cluster in selection for name in cluster.names)
        if self.fusion == "smart" and self._are_products(inside):
            return None, reuse_of_their_own()
        if self.fusion == "smart" and not self.mixed_depths:
            reason = depths_differ(selection, graph)
            if reason is not None:
                return None, reason
        between = cluster_graph(selection, inside)
        state = find_band(between, self.row_rule, workbench)
        union = merged(selection, state.found)
        reason = self._objection(selection, union, inside)
        if reason is not None:
            return None, search_ended() if workbench.budget.is_spent else reason
        if self.fusion == "smart":
            apart = set(between.names) - _gaining(state)
            if apart and (self.mixed_depths or apart == set(between.names)):
                return None, uses_far_apart(state, selection, apart)
        return union, brings_uses_together()

    def _are_products(self, graph: DependenceGraph) -> bool:
        """Whether all that runs are products none of which hands anything on to another."""
        return self.products.issuperset(graph.names) and all(edge.source == edge.sink for edge in graph.validity)

    def _objection(
        self, selection: Sequence[Cluster], union: Cluster, graph: DependenceGraph
    ) -> Reason | None:
        if not union.band:
            wanted = self.parallel_rows is not None and any(cluster.coincident_rows for cluster in selection)
            return no_parallel_row() if wanted else no_common_row()
        return None if self.fusion == "max" else rows_lost(selection, union, graph, self.parallel_rows)


def _candidates(
    clusters: Sequence[Cluster], graph: DependenceGraph, *, everything: bool
) -> tuple[tuple[Edge, int], ...]:
    """The edges along which clusters may be merged, each with the number of iterators that it aligns."""
    group = position_of(cluster.names for cluster in clusters)
    edges = (*graph.close, *graph.validity) if everything else graph.close
    between = (edge for edge in edges if group[edge.source] != group[edge.sink])
    return tuple((edge, _alignment(edge.relation)) for edge in between)


def _next_pair(
    clusters: Sequence[Cluster], candidates: Sequence[tuple[Edge, int]], refused: set[frozenset[str]]
) -> tuple[int, int] | None:
    """The pair of touching clusters whose edge aligns most iterators, that was not refused before."""
    group = position_of(cluster.names for cluster in clusters)
    best: tuple[int, tuple[int, int]] | None = None
    for edge, alignment in candidates:
        first, second = sorted((group[edge.source], group[edge.sink]))
        if first == second or not (clusters[first].is_close and clusters[second].is_close):
            continue
        if best is not None and (-alignment, (first, second)) >= best:
            continue
        if _pair_key(clusters, (first, second)) not in refused:
            best = (-alignment, (first, second))
    return best and best[1]


def _alignment(relation: isl.Map) -> int:
    """The number of equalities that hold between source and sink iterators."""
    hull = relation.affine_hull()
    kinds = (isl.dim_type.in_, isl.dim_type.out, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst)
    return int(hull.equalities_matrix(*kinds).rows())


def _pair_key(clusters: Sequence[Cluster], pair: tuple[int, int]) -> frozenset[str]:
    return frozenset(name for place in pair for name in clusters[place].names)


def _between(clusters: Sequence[Cluster], graph: DependenceGraph, pair: tuple[int, int]) -> list[Cluster]:
    """The clusters of ``pair`` and all that lie on a validity path between them: these have to come along."""
    group = position_of(cluster.names for cluster in clusters)
    reach = np.eye(len(clusters), dtype=bool)
    for edge in graph.validity:
        reach[group[edge.source], group[edge.sink]] = True
    reach = closure(reach)
    first, second = pair
    return [
        cluster
        for place, cluster in enumerate(clusters)
        if place in pair
        or (reach[first, place] and reach[place, second])
        or (reach[second, place] and reach[place, first])
    ]


def _gaining(state: BandState) -> set[str]:
    """The clusters with a relation to another one that has a small constant distance in every row."""
    found: set[str] = set()
    for edge in state.graph.close:
        ends = {edge.source, edge.sink}
        if len(ends) > 1 and not ends <= found and _is_near(edge, state):
            found |= ends
    return found


def _is_near(edge: Edge, state: BandState) -> bool:
    distances = farthest(edge, state)
    return all(distance is not None and distance <= SMALL_DISTANCE for distance in distances)
