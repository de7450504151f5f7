"""Why clusters share a band or stay apart, in sentences and in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.details import FusionDetails
from polyviz.model.isl_limits import solved
from polyviz.model.schedule import Decision
from polyviz.model.words import listed
from polyviz.scheduling.explanation import function_of
from polyviz.scheduling.rows import multi_affine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from polyviz.scheduling.band_search import BandState
    from polyviz.scheduling.clusters import Cluster
    from polyviz.scheduling.graph import DependenceGraph, Edge


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence without its full stop, and the numbers behind it."""

    text: str
    details: FusionDetails


def fusion_decision(selection: Sequence[Cluster], reason: Reason, *, merged: bool) -> Decision:
    """The entry of the log about ``selection``, clusters that were given a common band or not."""
    names = tuple(name for cluster in selection for name in cluster.names)
    verdict = "share a band" if merged else "stay apart"
    details = FusionDetails(
        clusters=tuple(cluster.names for cluster in selection), merged=merged, **reason.details
    )
    return Decision("fusion", f"{listed(names)} {verdict}: {reason.text}.", names, details)


def fusion_stopped() -> Decision:
    """The limit of the search was reached before every pair of clusters was tried."""
    return Decision(
        "limit", "The search for clusters that belong together was stopped at its limit: the rest stay apart."
    )


def brings_uses_together() -> Reason:
    """They were merged."""
    return Reason("a common order is legal and brings uses of a value together", {"because": "reuse"})


def reuse_of_their_own() -> Reason:
    """Products that share no more than operands."""
    text = "each is a product that uses its operands again by itself, and they share no more than operands"
    return Reason(text, {"because": "products"})


def not_close(selection: Sequence[Cluster]) -> Reason:
    """Some cluster has only rows that carry as much as possible, or none."""
    names = tuple(name for cluster in selection if not cluster.is_close for name in cluster.names)
    return Reason(f"the rows of {listed(names)} are not of a kind that can be shared", {"because": "rows"})


def depths_differ(selection: Sequence[Cluster], graph: DependenceGraph) -> Reason | None:
    """Loop nests of different depth, if that is what they are."""
    depths = tuple(_depth(cluster, graph) for cluster in selection)
    if len(set(depths)) == 1:
        return None
    pairs = zip(selection, depths, strict=True)
    text = ", ".join(f"{listed(cluster.names)}: {depth}" for cluster, depth in pairs)
    return Reason(f"their loops have different depths ({text})", {"because": "depth", "depths": depths})


def rows_lost(
    selection: Sequence[Cluster], union: Cluster, graph: DependenceGraph, enough: int | None = None
) -> Reason | None:
    """A common band that is shorter, or has fewer parallel rows, than one of its parts had.

    ``enough`` parallel rows may remain, however many there were.
    """
    longest = max(selection, key=lambda cluster: len(cluster.band))
    if len(union.band) < len(longest.band):
        text = (
            f"the common band would have {len(union.band)} rows, but that of {listed(longest.names)} "
            f"has {len(longest.band)}"
        )
        return Reason(text, {"because": "length", "rows": (len(union.band), len(longest.band))})
    best = max(selection, key=lambda cluster: cluster.coincident_rows)
    needed = best.coincident_rows if enough is None else min(enough, best.coincident_rows)
    if union.coincident_rows >= needed:
        return None
    lost = _lost_rows(best, union, graph)
    which = f" (lost: {', '.join(lost)} of {listed(best.names)})" if lost else ""
    text = f"only {union.coincident_rows} of {best.coincident_rows} parallel rows would remain{which}"
    parallel = (union.coincident_rows, best.coincident_rows)
    return Reason(text, {"because": "parallelism", "rows": parallel, "lost": lost})


def no_common_row() -> Reason:
    """Not even one row orders the parts together."""
    return Reason("no common row is legal", {"because": "legality"})


def no_parallel_row() -> Reason:
    """Some part has a parallel row, the whole would have none."""
    return Reason("no common row is parallel", {"because": "parallelism"})


def search_ended() -> Reason:
    """The limit of the search was reached before the common band was complete."""
    return Reason("the search for a common band was stopped at its limit", {"because": "limit"})


def uses_far_apart(state: BandState, selection: Sequence[Cluster], apart: AbstractSet[str]) -> Reason:
    """No relation of the parts ``apart`` to others has a small distance in the common band ``state``."""
    between = [
        edge for edge in state.graph.close if edge.source != edge.sink and {edge.source, edge.sink} & apart
    ]
    if not between:
        return Reason("they use no value of each other", {"because": "distance"})
    found = [(farthest(edge, state), edge) for edge in between]
    distances, edge = min(found, key=lambda item: _size(item[0]))
    places = {f"cluster{number}": listed(cluster.names) for number, cluster in enumerate(selection)}
    row = max(range(len(distances)), key=lambda position: _size(distances[position : position + 1]))
    limit = distances[row]
    how_far = (
        f"up to {limit} iterations apart" if limit is not None else "farther apart the larger the sizes are,"
    )
    text = (
        "no value is used again soon enough: even the closest uses, from "
        f"{places.get(edge.source, edge.source)} to {places.get(edge.sink, edge.sink)}, are {how_far} in row {row + 1}"
    )
    return Reason(text, {"because": "distance", "distances": distances})


def farthest(edge: Edge, state: BandState) -> tuple[int | None, ...]:
    """The largest distance between dependent instances in each row of a band; None where it grows with the sizes."""
    source = multi_affine(state.rows(edge.source), edge.relation.get_space().domain())
    sink = multi_affine(state.rows(edge.sink), edge.relation.get_space().range())
    pairs = edge.relation.apply_domain(isl.Map.from_multi_aff(source))
    distances = pairs.apply_range(isl.Map.from_multi_aff(sink)).deltas()
    distances = distances.project_out(isl.dim_type.param, 0, distances.dim(isl.dim_type.param))
    return tuple(_largest(distances, position) for position in range(distances.dim(isl.dim_type.set)))


def _largest(distances: isl.Set, position: int) -> int | None:
    ends = [
        solved(partial(distances.dim_max_val, position)),
        solved(partial(distances.dim_min_val, position)),
    ]
    values = [abs(end.to_python()) for end in ends if end is not None and end.is_int()]
    return max(values) if len(values) == len(ends) else None


def _size(distances: Sequence[int | None]) -> tuple[int, int]:
    """Fewer distances that grow with the sizes are closer, then shorter ones."""
    return sum(distance is None for distance in distances), sum(distance or 0 for distance in distances)


def _depth(cluster: Cluster, graph: DependenceGraph) -> int:
    return max(node.size for node in graph.nodes if node.name in cluster.names)


def _lost_rows(cluster: Cluster, union: Cluster, graph: DependenceGraph) -> tuple[str, ...]:
    """The parallel rows of ``cluster`` that are no parallel rows of ``union``, as functions of its first statement."""
    name = cluster.names[0]
    node = next(node for node in graph.nodes if node.name == name)
    kept = {row.rows[name].iterators for row in union.band if row.coincident}
    return tuple(
        function_of(row.rows[name], node.domain)
        for row in cluster.band
        if row.coincident and row.rows[name].iterators not in kept
    )
