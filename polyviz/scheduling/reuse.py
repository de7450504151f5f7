"""Groups of references and the reuse that a row can still serve, while a schedule is being built.

Source: Reddy, *Polyhedral Compilation for Domain Specific Languages* (2019), section 5: groups, their rank and
multiplicity, and relations that leave the problem with the first row that separates them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import Row, rank
from polyviz.scheduling.graph import Edge
from polyviz.scheduling.pieces import convex_pieces, distances
from polyviz.scheduling.rows import AffineRow, composed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from polyviz.analysis.references import Reference
    from polyviz.analysis.reuse import PatternReuse, Reuse


@dataclass(frozen=True, slots=True)
class PlacedReference:
    """A reference seen from the node that holds its statement.

    ``around`` are rows of the statement that are fixed already, ``place`` the iterators of the node as rows of the
    statement; None for a node that is the statement itself.
    """

    node: str
    reference: Reference
    around: tuple[AffineRow, ...] = ()
    place: tuple[AffineRow, ...] | None = None

    def rank(self, rows: Sequence[AffineRow]) -> int:
        """The number of subscripts that ``rows`` of the node leave open."""
        own = rows if self.place is None else [composed(row, self.place) for row in rows]
        fixed = [_linear(row) for row in (*self.around, *own)]
        return rank([*fixed, *self.reference.subscripts]) - rank(fixed)


@dataclass(frozen=True, slots=True)
class ReuseGroup:
    """The references of one pattern among the nodes of a graph, and the convex pieces of their reuse.

    ``label`` is the pattern as text. ``spatial`` holds the lines that one statement uses again, which rows are judged
    by; ``across`` those that it shares with others: where one ends on a line and another begins is an accident of where
    lines begin, but says that a common band may pay.
    """

    label: str
    references: tuple[PlacedReference, ...]
    temporal: tuple[Edge, ...]
    spatial: tuple[Edge, ...]
    across: tuple[Edge, ...]

    @property
    def is_used_again(self) -> bool:
        """Whether any cell or line of the group is touched more than once."""
        return bool(self.temporal or self.spatial or self.across)

    @property
    def multiplicity(self) -> int:
        """The number of references."""
        return len(self.references)

    def rank(self, rows: Mapping[str, Sequence[AffineRow]]) -> int:
        """The number of subscripts that the ``rows`` of each node leave open; that of the least fixed reference."""
        return max(placed.rank(rows[placed.node]) for placed in self.references)

    def only(self, names: Iterable[str]) -> ReuseGroup:
        """The references in the nodes ``names`` and the reuse between them."""
        wanted = frozenset(names)
        return ReuseGroup(
            self.label,
            tuple(placed for placed in self.references if placed.node in wanted),
            tuple(edge for edge in self.temporal if {edge.source, edge.sink} <= wanted),
            tuple(edge for edge in self.spatial if edge.source in wanted),
            tuple(edge for edge in self.across if {edge.source, edge.sink} <= wanted),
        )

    def kept(self, rows: Mapping[str, Sequence[AffineRow]]) -> ReuseGroup:
        """The group with the reuse that ``rows`` leave at one time: what they separate is lost for further rows."""
        return replace(
            self,
            temporal=tuple(edge for edge in self.temporal if not edge.is_separated(rows)),
            spatial=tuple(edge for edge in self.spatial if not edge.is_separated(rows)),
            across=tuple(edge for edge in self.across if not edge.is_separated(rows)),
        )

    def between(
        self,
        label: Mapping[str, str],
        place: Mapping[str, isl.Map],
        around: Mapping[str, tuple[AffineRow, ...]],
        rows: Mapping[str, tuple[AffineRow, ...]],
    ) -> ReuseGroup:
        """The group seen from clusters of statements: statement ``name`` is part of node ``label[name]``.

        ``place`` maps its instances to those of the node, and ``rows`` are the same as functions. What happens at one
        value of all rows of a cluster is served already.
        """
        references = tuple(
            PlacedReference(label[one.node], one.reference, around[one.node], rows[one.node])
            for one in self.references
        )

        def images(edges: Iterable[Edge]) -> tuple[Edge, ...]:
            moved = (
                edge.relation.apply_domain(place[edge.source]).apply_range(place[edge.sink]) for edge in edges
            )
            pieces = (piece for relation in moved for piece in _pieces(relation, uniform=False))
            return _distinct(piece for piece in pieces if piece.distance is None or any(piece.distance))

        across = tuple(edge for edge in images(self.across) if edge.source != edge.sink)
        return ReuseGroup(self.label, references, images(self.temporal), images(self.spatial), across)


def groups_of(reuse: Reuse) -> tuple[ReuseGroup, ...]:
    """The groups of a whole part, every statement a node."""
    labels = [pattern.references[0].label for pattern in reuse.patterns]
    return tuple(
        _group(f"{label} of {pattern.references[0].statement}" if labels.count(label) > 1 else label, pattern)
        for label, pattern in zip(labels, reuse.patterns, strict=True)
    )


def pressure(groups: Iterable[ReuseGroup]) -> int:
    """How crowded the registers get: each distinct cell of one iteration counts with the depth of its loops.

    The same subscripts in two statements are one cell, whatever the names of the statements.
    """
    depth: dict[tuple[str, tuple[str, ...]], int] = {}
    for group in groups:
        for placed in group.references:
            own = placed.reference
            cell = own.array, own.cell
            depth[cell] = max(depth.get(cell, 0), own.relation.dim(isl.dim_type.in_))
    return sum(depth.values())


def _group(label: str, pattern: PatternReuse) -> ReuseGroup:
    spatial = _distinct(edge for relation in pattern.spatial for edge in _pieces(relation, uniform=False))
    return ReuseGroup(
        label,
        tuple(PlacedReference(reference.statement, reference) for reference in pattern.references),
        _distinct(edge for relation in pattern.temporal for edge in _pieces(relation, uniform=True)),
        tuple(edge for edge in spatial if edge.source == edge.sink),
        tuple(edge for edge in spatial if edge.source != edge.sink),
    )


def _pieces(relation: isl.Map, *, uniform: bool) -> Iterator[Edge]:
    """Convex pieces of ``relation``.

    Those between instances of one statement that are not of one distance are left out where ``uniform`` is asked for:
    no row brings such instances together.
    """
    source = relation.get_tuple_name(isl.dim_type.in_)
    sink = relation.get_tuple_name(isl.dim_type.out)
    parameters = relation.params().simple_hull()
    for piece in convex_pieces(relation):
        found = distances(piece) if source == sink else None
        if found is not None:
            yield from (_translation(relation.get_space(), point, parameters) for point in found)
        elif source != sink or not uniform:
            yield Edge(source, sink, isl.Map.from_basic_map(piece))


def _translation(space: isl.Space, distance: isl.Point, parameters: isl.BasicSet) -> Edge:
    """All pairs at ``distance``: a row cannot tell where they are, and many relations become one.

    >>> space = isl.BasicMap("{ S[i, j] -> S[k, l] }").get_space()
    >>> edge = _translation(space, isl.Set("{ [1, -1] }").sample_point(), isl.BasicSet("{ : }"))
    >>> print(edge.distance, edge.relation)
    (1, -1) { S[i, j] -> S[k = 1 + i, l = -1 + j] }
    """
    functions = isl.MultiAff.identity(space)
    steps = [
        distance.get_coordinate_val(isl.dim_type.set, position)
        for position in range(functions.dim(isl.dim_type.out))
    ]
    for position, step in enumerate(steps):
        functions = functions.set_aff(position, functions.get_at(position).add_constant_val(step))
    pairs = isl.Map.from_multi_aff(functions).intersect_params(isl.Set.from_basic_set(parameters))
    name = space.get_tuple_name(isl.dim_type.in_)
    return Edge(name, name, pairs, tuple(step.to_python() for step in steps))


def _distinct(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """``edges`` without those that ask the same of a row."""
    found: dict[object, Edge] = {}
    for edge in edges:
        same = str(edge.relation) if edge.distance is None else (edge.source, edge.distance)
        found.setdefault(same, edge)
    return tuple(found.values())


def _linear(row: AffineRow) -> Row:
    return tuple(map(Fraction, row.iterators))
