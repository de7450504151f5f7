"""The integer program of one row, put together from named parts.

Unknowns, all non-negative: for each node the coefficients of iterators (as differences ``positive - negative``), of
parameters, and a constant; for each bound its coefficients of parameters (also differences) and a constant.
Parameter coefficients and constants of nodes need no sign: only differences matter, and a negative one is the same as a
positive one on all others. Sources: Bondhugula et al., *A practical automatic polyhedral parallelizer and locality
optimizer* (2008), section 3; Verdoolaege and Janssens, *Scheduling for PPCG* (2017), section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from polyviz.model.isl_limits import solved
from polyviz.scheduling.program import IntegerProgram
from polyviz.scheduling.rows import AffineRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.scheduling.farkas import ConeTable, Matrix
    from polyviz.scheduling.graph import Edge, Node

# Larger coefficients make loops that nobody wants; a row that needs one counts as not found.
COEFFICIENT_LIMIT = 64
CONSTANT_LIMIT = 1_000_000

PER_PARAMETER = " per parameter"
"""What the name of the objective ends in that belongs to a bound's growth with the parameters."""


# A linear map from unknowns to the coefficients of an affine form on an edge: (coefficient, unknown, factor), where the
# coefficients are those of the constant, the parameters, the iterators of the source and those of the sink.
Form = list[tuple[int, int, int]]
# In place of an unknown: the number one.
_ONE = -1


@dataclass(frozen=True, slots=True)
class NodeUnknowns:
    """Where the unknowns of a node are: ranges of columns."""

    negative: range
    positive: range
    parameters: range
    constant: int


@dataclass(frozen=True, slots=True)
class BoundUnknowns:
    """Where the unknowns of a bound ``u . parameters + w`` are."""

    negative: range
    positive: range
    constant: int


class RowProblem:
    """Collects constraints and objectives; :meth:`program` closes it.

    The objectives are minimised in the order in which they are added; ``objectives`` holds their names.
    """

    def __init__(self, nodes: Sequence[Node], cones: ConeTable) -> None:
        self._cones = cones
        self._parameters = nodes[0].parameters
        self._upper: list[int] = []
        self._inequalities: list[Matrix] = []
        self._equalities: list[Matrix] = []
        self._objectives: list[Matrix] = []
        self.objectives: list[str] = []
        self._order: list[int] = []
        self.bounds: list[BoundUnknowns] = []
        self.nodes = {node.name: self._add_node(node) for node in nodes}

    def legality(self, edges: Iterable[Edge]) -> None:
        """No edge is reversed: its distance is >= 0 everywhere."""
        for edge in edges:
            self._hold(edge, self._distance(edge))

    def coincidence(self, edges: Iterable[Edge]) -> None:
        """No edge is carried: its distance is 0 everywhere."""
        for edge in edges:
            form = self._matrix(self._distance(edge), edge)
            for cone in self._cones.cones(edge.relation):
                self._equalities += [cone.inequalities @ form, cone.equalities @ form]

    def bound(self, edges: Iterable[Edge], legal: Iterable[Edge] = ()) -> BoundUnknowns:
        """A new bound on the distance of ``edges``, from both sides unless the edge is part of ``legal``.

        Relations whose cone is not exact take no part: the larger ones in their place may have no bound at all.
        """
        unknowns = BoundUnknowns(
            self._new(self._parameters, CONSTANT_LIMIT),
            self._new(self._parameters, CONSTANT_LIMIT),
            self._new(1, CONSTANT_LIMIT)[0],
        )
        self.bounds.append(unknowns)
        limit = _bound_form(unknowns)
        ordered = {(edge.source, edge.sink): edge.relation for edge in legal}
        for edge in edges:
            distance = self._distance(edge)
            self._hold(edge, limit + _negated(distance), exactly=True)
            respected = ordered.get((edge.source, edge.sink))
            # What isl cannot decide quickly is bounded from both sides, which holds for it as well.
            if respected is None or not solved(partial(edge.relation.is_subset, respected)):
                self._hold(edge, limit + distance, exactly=True)
        return unknowns

    def carry(self, edges: Sequence[Edge]) -> range:
        """One unknown per edge, at most 1, that its distance reaches: 1 tells that the edge is carried."""
        carried = self._new(len(edges), 1)
        for edge, unknown in zip(edges, carried, strict=True):
            self._hold(edge, [*self._distance(edge), (0, unknown, -1)])
        return carried

    def carrying(self, edges: Iterable[Edge]) -> Matrix:
        """Constraints, for a search, under which every distance of ``edges`` is at least 1."""
        rows = [np.zeros((0, len(self._upper) + 1), dtype=np.int64)]
        for edge in edges:
            matrix = self._matrix([*self._distance(edge), (0, _ONE, -1)], edge)
            for cone in self._cones.cones(edge.relation):
                equal = cone.equalities @ matrix
                rows += [cone.inequalities @ matrix, equal, -equal]
        return np.vstack(rows)

    def minimise(self, name: str, *columns: Iterable[int], maximise: bool = False) -> None:
        """The next objective, called ``name`` in the log: the sum of the unknowns in ``columns``."""
        objective = np.zeros(len(self._upper), dtype=np.int64)
        for group in columns:
            objective[list(group)] += -1 if maximise else 1
        self._add_objective(name, objective)

    def minimise_distance(
        self, edges: Iterable[Edge], legal: Iterable[Edge] = (), name: str = "bound"
    ) -> None:
        """The next two objectives: a `bound` on the distance of ``edges``, first what grows with the parameters."""
        bound = self.bound(edges, legal)
        self.minimise(f"{name}{PER_PARAMETER}", bound.negative, bound.positive)
        self.minimise(name, [bound.constant])

    def minimise_parameters(self) -> None:
        """The next objective: small coefficients of parameters."""
        self.minimise("parameter coefficients", *(unknowns.parameters for unknowns in self.nodes.values()))

    def minimise_iterators(self) -> None:
        """The next objective: small coefficients of iterators, whatever their sign."""
        signed = (columns for node in self.nodes.values() for columns in (node.negative, node.positive))
        self.minimise("iterator coefficients", *signed)

    def prefer(self, weights: Mapping[str, Sequence[int]]) -> None:
        """The next objective: iterators with large ``weights``, one number per iterator and node, take part."""
        objective = np.zeros(len(self._upper), dtype=np.int64)
        for name, numbers in weights.items():
            unknowns = self.nodes.get(name)
            if unknowns is not None:
                objective[list(unknowns.negative)] -= np.array(numbers, dtype=np.int64)
                objective[list(unknowns.positive)] -= np.array(numbers, dtype=np.int64)
        self._add_objective("weight of the iterators, negated", objective)

    def program(self) -> IntegerProgram:
        """The integer program of all that was asked for; ties are broken unknown by unknown.

        Bounds come first, then each node from its last iterator to its first, so that trailing zeros are preferred and
        the order of the source survives ties.
        """
        size = len(self._upper)
        order = [column for bound in self.bounds for column in _interleaved(bound.negative, bound.positive)]
        for unknowns in self.nodes.values():
            pairs = _interleaved(reversed(unknowns.negative), reversed(unknowns.positive))
            order += [*pairs, *unknowns.parameters, unknowns.constant]
        return IntegerProgram(
            _unique(_padded(self._inequalities, size + 1)),
            _unique(_padded(self._equalities, size + 1)),
            _padded(self._objectives, size),
            tuple(order),
            np.array(self._upper, dtype=np.int64),
        )

    def row(self, name: str, values: Matrix) -> AffineRow:
        """The row of node ``name`` in a solution."""
        unknowns = self.nodes[name]
        iterators = values[list(unknowns.positive)] - values[list(unknowns.negative)]
        return AffineRow(
            tuple(int(value) for value in iterators),
            tuple(int(values[column]) for column in unknowns.parameters),
            int(values[unknowns.constant]),
        )

    def combination(self, name: str, vector: Sequence[int]) -> Matrix:
        """``vector . iterator coefficients`` of node ``name`` as a constraint row without its constant."""
        unknowns = self.nodes[name]
        row = np.zeros(len(self._upper) + 1, dtype=np.int64)
        for factor, negative, positive in zip(vector, unknowns.negative, unknowns.positive, strict=True):
            row[1 + positive] += factor
            row[1 + negative] -= factor
        return row

    def _add_objective(self, name: str, objective: Matrix) -> None:
        self.objectives.append(name)
        self._objectives.append(objective)

    def _add_node(self, node: Node) -> NodeUnknowns:
        return NodeUnknowns(
            self._new(node.size, COEFFICIENT_LIMIT),
            self._new(node.size, COEFFICIENT_LIMIT),
            self._new(self._parameters, COEFFICIENT_LIMIT),
            self._new(1, CONSTANT_LIMIT)[0],
        )

    def _new(self, count: int, upper: int) -> range:
        first = len(self._upper)
        self._upper += [upper] * count
        return range(first, first + count)

    def _distance(self, edge: Edge) -> Form:
        source, sink = self.nodes[edge.source], self.nodes[edge.sink]
        after_source = 1 + self._parameters + len(source.positive)
        return [
            *_negated(_row_form(source, 1 + self._parameters)),
            *_row_form(sink, after_source),
        ]

    def _matrix(self, form: Form, edge: Edge) -> Matrix:
        source, sink = self.nodes[edge.source], self.nodes[edge.sink]
        height = 1 + self._parameters + len(source.positive) + len(sink.positive)
        matrix = np.zeros((height, len(self._upper) + 1), dtype=np.int64)
        for component, column, factor in form:
            matrix[component, 1 + column] += factor
        return matrix

    def _hold(self, edge: Edge, form: Form, *, exactly: bool = False) -> None:
        """``form``, with the unknowns put in, is >= 0 on all pairs of ``edge``; ``exactly`` skips inexact cones."""
        matrix = self._matrix(form, edge)
        for cone in self._cones.cones(edge.relation):
            if exactly and not cone.exact:
                continue
            self._inequalities.append(cone.inequalities @ matrix)
            self._equalities.append(cone.equalities @ matrix)


def _row_form(node: NodeUnknowns, first_iterator: int) -> Form:
    form = [(0, node.constant, 1)]
    form += [(1 + place, column, 1) for place, column in enumerate(node.parameters)]
    form += [(first_iterator + place, column, 1) for place, column in enumerate(node.positive)]
    form += [(first_iterator + place, column, -1) for place, column in enumerate(node.negative)]
    return form


def _bound_form(bound: BoundUnknowns) -> Form:
    form = [(0, bound.constant, 1)]
    form += [(1 + place, column, 1) for place, column in enumerate(bound.positive)]
    form += [(1 + place, column, -1) for place, column in enumerate(bound.negative)]
    return form


def _negated(form: Form) -> Form:
    return [(component, column, -factor) for component, column, factor in form]


def _interleaved(first: Iterable[int], second: Iterable[int]) -> list[int]:
    return [column for pair in zip(first, second, strict=True) for column in pair]


def _padded(rows: Sequence[Matrix], width: int) -> Matrix:
    """All ``rows`` below each other, widened by zeros for the unknowns that came later."""
    parts = [np.atleast_2d(part) for part in rows]
    whole = np.zeros((sum(len(part) for part in parts), width), dtype=np.int64)
    first = 0
    for part in parts:
        whole[first : first + len(part), : part.shape[1]] = part
        first += len(part)
    return whole


def _unique(rows: Matrix) -> Matrix:
    """``rows`` without duplicates, multiples and empty ones."""
    divisor = np.gcd.reduce(rows, axis=1, keepdims=True)
    present = divisor[:, 0] > 0
    reduced = rows[present] // divisor[present]
    # By their bytes: sorting long rows, as numpy.unique does, takes longer than solving.
    first = {row.tobytes(): place for place, row in reversed(list(enumerate(reduced)))}
    return reduced[sorted(first.values())]
