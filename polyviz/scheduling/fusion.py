"""Which clusters get a common band: merged one pair after the other along the relations between them.

Source: Verdoolaege and Janssens, *Scheduling for PPCG* (2017), section 4.4; the cut between loop nests of different
depth is the smart fusion of Bondhugula et al. (2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import islpy as isl
import numpy as np

from polyviz.model.schedule import Decision
from polyviz.scheduling.band_search import BandState, RowRule, Workbench, find_band
from polyviz.scheduling.clusters import Cluster, cluster_graph, merged
from polyviz.scheduling.components import closure, position_of
from polyviz.scheduling.rows import multi_affine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.scheduling.graph import DependenceGraph, Edge

Fusion = Literal["none", "smart", "max"]

# Fusion pays when a value is used again within this many iterations of each loop.
SMALL_DISTANCE = 2


@dataclass(frozen=True, slots=True)
class FusionRule:
    """How eagerly clusters are merged.

    ``none`` merges nothing; ``max`` whatever has a common legal row; ``smart`` only where both have loops of the same
    depth, no parallel row and no band depth is lost, and some value is used again at a small constant distance.
    """

    fusion: Fusion
    row_rule: RowRule

    def fuse(
        self, clusters: Sequence[Cluster], graph: DependenceGraph, workbench: Workbench
    ) -> tuple[list[Cluster], list[Decision]]:
        """The clusters that remain, and why those that touch each other were merged or not."""
        current = list(clusters)
        decisions: list[Decision] = []
        refused: set[frozenset[str]] = set()
        while self.fusion != "none":
            pair = _next_pair(current, graph, refused, everything=self.fusion == "max")
            if pair is None:
                break
            selection = _between(current, graph, pair)
            union, reason = self._merge(selection, graph, workbench)
            names = tuple(name for cluster in selection for name in cluster.names)
            if union is None:
                refused.add(_pair_key(current, pair))
                decisions.append(Decision("fusion", f"{_listed(names)} stay apart: {reason}.", names))
                continue
            decisions.append(Decision("fusion", f"{_listed(names)} share a band: {reason}.", names))
            position = min(current.index(cluster) for cluster in selection)
            current = [cluster for cluster in current if cluster not in selection]
            current.insert(position, union)
        return current, decisions

    def _merge(
        self, selection: Sequence[Cluster], graph: DependenceGraph, workbench: Workbench
    ) -> tuple[Cluster | None, str]:
        if not all(cluster.is_close for cluster in selection):
            return None, "one that lies between them has no row of this kind"
        names = [name for cluster in selection for name in cluster.names]
        inside = graph.only(names)
        if self.fusion == "smart" and len({_depth(cluster, graph) for cluster in selection}) > 1:
            return None, "their loops have different depths"
        between = cluster_graph(selection, inside)
        state = find_band(between, self.row_rule, workbench)
        union = merged(selection, state.found)
        reason = self._objection(selection, union)
        if reason:
            return None, reason
        if self.fusion == "smart" and not _profitable(state):
            return None, "no value is used again soon enough"
        return union, "a common order is legal and brings uses of a value together"

    def _objection(self, selection: Sequence[Cluster], union: Cluster) -> str:
        if not union.band:
            return "no common row is legal"
        if self.fusion == "max":
            return ""
        if len(union.band) < max(len(cluster.band) for cluster in selection):
            return "the common band would be shorter"
        parallel = max(cluster.coincident_rows for cluster in selection)
        if union.coincident_rows < parallel:
            return f"only {union.coincident_rows} of {parallel} parallel rows would remain"
        return ""


def _depth(cluster: Cluster, graph: DependenceGraph) -> int:
    return max(node.size for node in graph.nodes if node.name in cluster.names)


def _next_pair(
    clusters: Sequence[Cluster], graph: DependenceGraph, refused: set[frozenset[str]], *, everything: bool
) -> tuple[int, int] | None:
    """The pair of touching clusters whose edge aligns most iterators, that was not refused before."""
    group = position_of(cluster.names for cluster in clusters)
    best: tuple[int, tuple[int, int]] | None = None
    edges = (*graph.proximity, *graph.validity) if everything else graph.proximity
    for edge in edges:
        first, second = sorted((group[edge.source], group[edge.sink]))
        if first == second or not (clusters[first].is_close and clusters[second].is_close):
            continue
        if _pair_key(clusters, (first, second)) in refused:
            continue
        weight = -_alignment(edge.relation)
        if best is None or (weight, (first, second)) < best:
            best = (weight, (first, second))
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


def _profitable(state: BandState) -> bool:
    """Whether some relation between different clusters has a small constant distance in every row."""
    return any(edge.source != edge.sink and _close(edge, state) for edge in state.graph.proximity)


def _close(edge: Edge, state: BandState) -> bool:
    source = multi_affine(state.rows(edge.source), edge.relation.get_space().domain())
    sink = multi_affine(state.rows(edge.sink), edge.relation.get_space().range())
    distances = edge.relation.apply_domain(isl.Map.from_multi_aff(source))
    distances = distances.apply_range(isl.Map.from_multi_aff(sink))
    return bool(distances.deltas().is_subset(_small_box(distances)))


def _small_box(distances: isl.Map) -> isl.Set:
    box = isl.Set.universe(distances.deltas().get_space())
    for position in range(box.dim(isl.dim_type.set)):
        box = box.lower_bound_val(isl.dim_type.set, position, isl.Val(-SMALL_DISTANCE))
        box = box.upper_bound_val(isl.dim_type.set, position, isl.Val(SMALL_DISTANCE))
    return box


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
