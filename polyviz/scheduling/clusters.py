"""Clusters: statements that share a band, and what happens when clusters are given a common one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_limits import coalesced
from polyviz.scheduling.graph import DependenceGraph, Edge, Node
from polyviz.scheduling.rows import AffineRow, composed, multi_affine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.scheduling.band_search import FoundRow


@dataclass(frozen=True, slots=True)
class Cluster:
    """Statements that share the rows of one band; the band is empty when all their rows are found already."""

    names: tuple[str, ...]
    band: tuple[FoundRow, ...]

    @property
    def is_close(self) -> bool:
        """Whether the band was found by keeping dependent instances close; only such bands are merged."""
        return bool(self.band) and all(row.method == "close" for row in self.band)

    @property
    def coincident_rows(self) -> int:
        """How many rows of the band carry no coincidence relation."""
        return sum(row.coincident for row in self.band)

    def from_zero(self) -> Cluster:
        """The same order with every row shifted such that its first statement has no constant."""
        return replace(
            self, band=tuple(_shifted(row, -row.rows[self.names[0]].constant) for row in self.band)
        )

    def rows(self, name: str) -> tuple[AffineRow, ...]:
        """The rows of statement ``name`` in this band."""
        return tuple(row.rows[name] for row in self.band)


def cluster_graph(clusters: Sequence[Cluster], graph: DependenceGraph) -> DependenceGraph:
    """``clusters`` as nodes whose iterators are the rows of their bands, with the relations of ``graph``."""
    label = {name: f"cluster{number}" for number, cluster in enumerate(clusters) for name in cluster.names}
    place = {
        node.name: _placing(label[node.name], _cluster_with(node.name, clusters), node)
        for node in graph.nodes
    }
    around = {node.name: node.rows for node in graph.nodes}
    rows = {node.name: _cluster_with(node.name, clusters).rows(node.name) for node in graph.nodes}
    nodes = []
    for number, cluster in enumerate(clusters):
        members = [node for node in graph.nodes if node.name in cluster.names]
        images = [node.domain.apply(place[node.name]) for node in members]
        domain = images[0]
        for image in images[1:]:
            domain = domain.union(image)
        nodes.append(Node(f"cluster{number}", number, domain, parallel=cluster.coincident_rows > 0))
    validity, coincidence, proximity = (
        _between_clusters(edges, label, place)
        for edges in (graph.validity, graph.coincidence, graph.proximity)
    )
    reuse = tuple(group.between(label, place, around, rows) for group in graph.reuse)
    return DependenceGraph(tuple(nodes), validity, coincidence, proximity, reuse, graph.around)


def merged(clusters: Sequence[Cluster], band: Sequence[FoundRow]) -> Cluster:
    """One cluster whose rows are the rows between ``clusters`` (named as by :func:`cluster_graph`) put on theirs."""
    names = tuple(name for cluster in clusters for name in cluster.names)
    rows = []
    for found in band:
        of_statement = {
            name: composed(found.rows[f"cluster{number}"], cluster.rows(name))
            for number, cluster in enumerate(clusters)
            for name in cluster.names
        }
        rows.append(replace(found, rows=of_statement))
    return Cluster(names, tuple(rows))


def _shifted(found: FoundRow, constant: int) -> FoundRow:
    rows = {name: replace(row, constant=row.constant + constant) for name, row in found.rows.items()}
    return replace(found, rows=rows)


def _cluster_with(name: str, clusters: Sequence[Cluster]) -> Cluster:
    return next(cluster for cluster in clusters if name in cluster.names)


def _placing(label: str, cluster: Cluster, node: Node) -> isl.Map:
    rows = multi_affine(cluster.rows(node.name), node.domain.get_space())
    return isl.Map.from_multi_aff(rows).set_tuple_name(isl.dim_type.out, label)


def _between_clusters(
    edges: Sequence[Edge], label: Mapping[str, str], place: Mapping[str, isl.Map]
) -> tuple[Edge, ...]:
    united: dict[tuple[str, str], isl.Map] = {}
    for edge in edges:
        image = edge.relation.apply_domain(place[edge.source]).apply_range(place[edge.sink])
        key = (label[edge.source], label[edge.sink])
        united[key] = united[key].union(image) if key in united else image
    return tuple(Edge(source, sink, coalesced(relation)) for (source, sink), relation in united.items())
