"""Strongly connected components of a dependence graph, in an order that respects it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from polyviz.scheduling.graph import DependenceGraph, Edge


def components(graph: DependenceGraph) -> list[tuple[str, ...]]:
    """The strongly connected components under validity: sources first, otherwise in the order of the source text."""
    names = graph.names
    reach = reachability(names, graph.validity)
    together = reach & reach.T
    members = {tuple(np.flatnonzero(row).tolist()) for row in together}
    return [tuple(names[place] for place in group) for group in topological(sorted(members), reach)]


def reachability(names: Sequence[str], edges: Iterable[Edge]) -> NDArray[np.bool_]:
    """Which node can be reached from which along ``edges``, every node from itself."""
    place = {name: position for position, name in enumerate(names)}
    reach = np.eye(len(names), dtype=bool)
    for edge in edges:
        reach[place[edge.source], place[edge.sink]] = True
    return closure(reach)


def closure(reach: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The transitive closure of a relation (Warshall)."""
    closed = reach.copy()
    for middle in range(len(closed)):
        closed |= np.outer(closed[:, middle], closed[middle])
    return closed


def topological(groups: Iterable[tuple[int, ...]], reach: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """``groups`` of node places, each after all it can be reached from; among equals the smallest place comes first."""
    remaining = sorted(groups)
    ordered: list[tuple[int, ...]] = []
    while remaining:
        ready = next(group for group in remaining if not _waits(group, remaining, reach))
        remaining.remove(ready)
        ordered.append(ready)
    return ordered


def position_of(groups: Iterable[Iterable[str]]) -> Mapping[str, int]:
    """The number of the group that each name is in."""
    return {name: number for number, group in enumerate(groups) for name in group}


def _waits(group: tuple[int, ...], others: Iterable[tuple[int, ...]], reach: NDArray[np.bool_]) -> bool:
    return any(reach[np.ix_(other, group)].any() for other in others if other != group)
