"""Concurrent start: bands whose tiles along one front of the iteration space can all start at the same time.

Tiles of the usual band of a stencil, (t, t + i), start one after the other along a wavefront. Where one row is a
multiple of the time minus another row, the front of the tiles is parallel to the face of the iteration space where
time begins, so that all tiles on it can start at once: diamonds. Source: Bandishti, Pananilath, Bondhugula, *Tiling
stencil computations to maximize parallelism* (2012), partial concurrent start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.details import ConcurrentStartDetails
from polyviz.model.isl_limits import solved
from polyviz.model.schedule import Decision
from polyviz.model.words import listed
from polyviz.scheduling.band_search import BandState, FoundRow
from polyviz.scheduling.carrying import CarryingRows
from polyviz.scheduling.explanation import function_of, functions_of, listing_of
from polyviz.scheduling.independence import iterator_rows, rank
from polyviz.scheduling.rows import AffineRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.scheduling.band_search import Workbench
    from polyviz.scheduling.clusters import Cluster
    from polyviz.scheduling.graph import DependenceGraph, Edge, Node

# A steeper time makes thinner diamonds, and in the end no better tiles than a wavefront.
STEEPEST = 4


@dataclass(frozen=True, slots=True)
class ConcurrentStart:
    """A cluster whose first two rows add up to ``factor`` times the time ``face``, or why there is none."""

    cluster: Cluster
    decision: Decision
    found: bool


def with_concurrent_start(cluster: Cluster, graph: DependenceGraph, workbench: Workbench) -> ConcurrentStart:
    """``cluster``, the nodes of ``graph``, with another first row where that makes tiles start at the same time.

    The condition: one row carries every dependence of the band, its smallest values are a face of the iteration space
    of every statement, and some multiple of it minus a row of the band is legal and adds the dimension that is lost.
    """
    objection = _objection(cluster)
    if objection:
        return _refused(cluster, objection)
    face = _time(graph, workbench)
    if face is None:
        return _refused(cluster, "no single row carries every dependence")
    corner = next(
        (node.name for node in graph.nodes if not _is_face(face.rows[node.name], node.domain)), None
    )
    if corner is not None:
        node = next(node for node in graph.nodes if node.name == corner)
        function = function_of(face.rows[corner], node.domain)
        return _refused(
            cluster, f"where {function} is smallest, {corner} has a corner, not a face to start from"
        )
    for band, factor in _opposed(cluster, face, graph):
        return _accepted(replace(cluster, band=band), face, factor, graph)
    return _refused(cluster, f"up to {STEEPEST} times the time, minus a row of the band, is not legal")


def _objection(cluster: Cluster) -> str:
    if not cluster.is_close:
        return "its rows carry as much as possible instead of being permutable"
    if cluster.coincident_rows:
        return "the band has a parallel row, whose tiles start at the same time anyway"
    return ""


def _time(graph: DependenceGraph, workbench: Workbench) -> FoundRow | None:
    """The smallest row that carries every validity relation."""
    row = CarryingRows().next_row(BandState(graph), workbench)
    return row if row is not None and next(iter(row.objectives.values())) == 0 else None


def _is_face(row: AffineRow, domain: isl.Set) -> bool:
    """Whether the points of ``domain`` with the smallest value of ``row`` lose one dimension only."""
    # What isl cannot tell quickly is no face, and below no legal row.
    value = isl.Map.from_multi_aff(isl.MultiAff.from_aff(row.affine(domain.get_space()))).intersect_domain(
        domain
    )
    lowest = solved(lambda: value.intersect_range(value.range().lexmin()).domain().affine_hull())
    whole = solved(domain.affine_hull)
    if lowest is None or whole is None:
        return False
    return _free_dimensions(lowest) == _free_dimensions(whole) - 1


def _free_dimensions(hull: isl.BasicSet) -> int:
    kinds = (isl.dim_type.set, isl.dim_type.param, isl.dim_type.div, isl.dim_type.cst)
    matrix = hull.equalities_matrix(*kinds)
    size = hull.dim(isl.dim_type.set)
    equations = sum(
        any(not matrix.get_element_val(row, column).is_zero() for column in range(size))
        for row in range(matrix.rows())
    )
    return int(size) - equations


def _opposed(
    cluster: Cluster, face: FoundRow, graph: DependenceGraph
) -> Iterator[tuple[tuple[FoundRow, ...], int]]:
    """Bands of full rank that start with a row and the one opposed to it, the least steep first."""
    for factor in range(1, STEEPEST + 1):
        for place, row in enumerate(cluster.band[1:], 1):
            opposed = _difference(factor, face, row)
            band = (opposed, row, *cluster.band[1:place], *cluster.band[place + 1 :])
            if _keeps_rank(cluster, band, graph) and all(
                _respects(edge, opposed.rows) for edge in graph.validity
            ):
                yield band, factor


def _difference(factor: int, face: FoundRow, row: FoundRow) -> FoundRow:
    """``factor`` times ``face`` minus ``row``."""
    rows = {name: _minus(factor, face.rows[name], other) for name, other in row.rows.items()}
    times = "the time" if factor == 1 else f"{factor} times the time"
    return FoundRow(rows, "close", False, {}, note=f"it is {times} minus the next row")


def _minus(factor: int, face: AffineRow, row: AffineRow) -> AffineRow:
    return AffineRow(
        tuple(factor * ours - theirs for ours, theirs in zip(face.iterators, row.iterators, strict=True)),
        tuple(factor * ours - theirs for ours, theirs in zip(face.parameters, row.parameters, strict=True)),
        factor * face.constant - row.constant,
    )


def _keeps_rank(cluster: Cluster, band: tuple[FoundRow, ...], graph: DependenceGraph) -> bool:
    return all(_rank(node, band) == _rank(node, cluster.band) for node in graph.nodes)


def _rank(node: Node, band: tuple[FoundRow, ...]) -> int:
    return rank(iterator_rows([*node.rows, *(row.rows[node.name] for row in band)]))


def _respects(edge: Edge, rows: Mapping[str, AffineRow]) -> bool:
    """Whether no pair of ``edge`` runs backwards."""
    spaces = edge.relation.get_space()
    source = isl.Map.from_multi_aff(isl.MultiAff.from_aff(rows[edge.source].affine(spaces.domain())))
    sink = isl.Map.from_multi_aff(isl.MultiAff.from_aff(rows[edge.sink].affine(spaces.range())))
    return bool(solved(edge.relation.intersect(source.lex_gt_map(sink)).is_empty))


def _accepted(cluster: Cluster, face: FoundRow, factor: int, graph: DependenceGraph) -> ConcurrentStart:
    times = functions_of(face, graph)
    listing = listing_of(times)
    text = (
        f"Tiles of the first two rows start at the same time: together they are {factor} times {listing}, which "
        "carries every dependence and starts on a face of the iteration space."
    )
    details = ConcurrentStartDetails(found=True, time=times, factor=factor, reason="")
    return ConcurrentStart(cluster, Decision("concurrent start", text, cluster.names, details), True)


def _refused(cluster: Cluster, reason: str) -> ConcurrentStart:
    text = f"No tiles of {listed(cluster.names)} start at the same time: {reason}."
    details = ConcurrentStartDetails(found=False, time={}, factor=0, reason=reason)
    return ConcurrentStart(cluster, Decision("concurrent start", text, cluster.names, details), False)
