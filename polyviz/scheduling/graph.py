"""What remains to be scheduled: nodes (statements or clusters of them) and the relations between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.times import maps_of
from polyviz.model.isl_limits import coalesced
from polyviz.scheduling.pieces import convex_pieces
from polyviz.scheduling.records import side_by_side
from polyviz.scheduling.rows import AffineRow, multi_affine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.scheduling.band_search import FoundRow
    from polyviz.scheduling.problem import SchedulingProblem
    from polyviz.scheduling.reuse import ReuseGroup


@dataclass(frozen=True, slots=True)
class Node:
    """A statement, or a cluster acting as one, with the rows found so far over its iterators.

    ``position`` is its place in the order of the source; ``parallel`` tells of a cluster that it has a parallel row.
    """

    name: str
    position: int
    domain: isl.Set
    rows: tuple[AffineRow, ...] = ()
    parallel: bool = False

    @property
    def size(self) -> int:
        """The number of iterators."""
        return int(self.domain.dim(isl.dim_type.set))

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return int(self.domain.dim(isl.dim_type.param))


@dataclass(frozen=True, slots=True)
class Edge:
    """Pairs of instances of two nodes that a schedule has to order, to bound or to keep together.

    ``distance`` is that of all pairs where they are instances of one node and have only one, as far as it is known.
    """

    source: str
    sink: str
    relation: isl.Map
    distance: tuple[int, ...] | None = None

    def pieces(self) -> list[Edge]:
        """The edge apart into convex relations."""
        return [
            replace(self, relation=isl.Map.from_basic_map(piece)) for piece in convex_pieces(self.relation)
        ]

    def is_separated(self, rows: Mapping[str, Sequence[AffineRow]]) -> bool:
        """Whether ``rows`` give some pair different times."""
        if self.distance is not None:
            return any(row.along(self.distance) for row in rows[self.source])
        return not self.relation.is_subset(self._at_one_time(rows))

    def together(self, rows: Mapping[str, Sequence[AffineRow]]) -> Edge | None:
        """The pairs that ``rows`` leave at the same time; None when there are none."""
        remaining = self.relation.intersect(self._at_one_time(rows))
        return None if remaining.is_empty() else replace(self, relation=remaining)

    def _at_one_time(self, rows: Mapping[str, Sequence[AffineRow]]) -> isl.Map:
        source = multi_affine(rows[self.source], self.relation.get_space().domain())
        sink = multi_affine(rows[self.sink], self.relation.get_space().range())
        return isl.Map.from_multi_aff(source).apply_range(isl.Map.from_multi_aff(sink).reverse())


@dataclass(frozen=True, slots=True)
class DependenceGraph:
    """Nodes and the relations that still matter to them: the same three families as in ``Dependences``.

    ``reuse`` holds what can be used again, apart by pattern, for schedulers that ask for it; ``around`` the rows of
    the bands around, outermost first.
    """

    nodes: tuple[Node, ...]
    validity: tuple[Edge, ...]
    coincidence: tuple[Edge, ...]
    proximity: tuple[Edge, ...]
    reuse: tuple[ReuseGroup, ...] = ()
    around: tuple[FoundRow, ...] = ()

    @classmethod
    def of(cls, problem: SchedulingProblem, reuse: tuple[ReuseGroup, ...] = ()) -> DependenceGraph:
        """All statements of ``problem`` with all its relations, and the ``reuse`` groups of its statements."""
        parameters = problem.domain.get_space().params()
        nodes = tuple(
            Node(
                statement.name,
                position,
                statement.domain.intersect_params(problem.scop.context).align_params(parameters),
            )
            for position, statement in enumerate(problem.scop.statements)
        )
        domain = problem.domain
        known = problem.dependences
        validity, coincidence, proximity = (
            _edges(relation.intersect_domain(domain).intersect_range(domain), parameters)
            for relation in (known.validity, known.coincidence, known.proximity)
        )
        beside = side_by_side(problem.scop, {(edge.source, edge.sink) for edge in (*validity, *proximity)})
        proximity = (*proximity, *_edges(beside.intersect_domain(domain).intersect_range(domain), parameters))
        return cls(nodes, validity, coincidence, proximity, reuse)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes, in the order of the source."""
        return tuple(node.name for node in self.nodes)

    @property
    def close(self) -> tuple[Edge, ...]:
        """The relations that fusion serves: one cell used again, or one cache line."""
        return (*self.proximity, *(edge for group in self.reuse for edge in group.across))

    def only(self, names: Iterable[str]) -> DependenceGraph:
        """The nodes ``names`` and the relations inside them."""
        wanted = frozenset(names)
        groups = (group.only(wanted) for group in self.reuse)
        validity, coincidence, proximity = (
            tuple(edge for edge in edges if edge.source in wanted and edge.sink in wanted)
            for edges in (self.validity, self.coincidence, self.proximity)
        )
        return DependenceGraph(
            tuple(node for node in self.nodes if node.name in wanted),
            validity,
            coincidence,
            proximity,
            tuple(group for group in groups if group.references),
            self.around,
        )

    def after(self, band: Sequence[FoundRow]) -> DependenceGraph:
        """What remains once the loops of ``band`` surround everything: pairs at different times are done with."""
        rows = {node.name: tuple(found.rows[node.name] for found in band) for node in self.nodes}
        nodes = tuple(replace(node, rows=(*node.rows, *rows[node.name])) for node in self.nodes)
        validity, coincidence, proximity = (
            tuple(left for edge in edges if (left := edge.together(rows)) is not None)
            for edges in (self.validity, self.coincidence, self.proximity)
        )
        reuse = tuple(group.kept(rows) for group in self.reuse)
        return DependenceGraph(nodes, validity, coincidence, proximity, reuse, (*self.around, *band))


def _edges(relation: isl.UnionMap, parameters: isl.Space) -> tuple[Edge, ...]:
    return tuple(
        Edge(
            part.get_tuple_name(isl.dim_type.in_),
            part.get_tuple_name(isl.dim_type.out),
            coalesced(part.align_params(parameters)),
        )
        for part in maps_of(relation)
    )
