"""For all points of a relation: a condition on schedule coefficients, through the affine form of Farkas' lemma.

An affine form is non-negative on a non-empty polyhedron exactly when its coefficients lie in a cone, which isl computes
(``coefficients``). The cone knows nothing of the schedule; an edge's *distance* ``row_sink - row_source`` is put in for
the form by a linear map from the unknowns of a row problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from polyviz.model.isl_limits import solved
from polyviz.scheduling.pieces import convex_pieces, simpler_pieces

if TYPE_CHECKING:
    from collections.abc import Callable

Matrix = NDArray[np.int64]

# Operations of isl for one cone. Relations of ordinary loops take less than a tenth; beyond it the elimination behind
# `coefficients` grows so fast that ten times as many operations take a thousand times as long.
CONE_OPERATIONS = 3_000
# A program of which several relations were beyond it has many like them, which are given up sooner.
_AFTER_FAILURES = 4
_FEW_OPERATIONS = 500


@dataclass(frozen=True, slots=True)
class Cone:
    """Coefficients ``(constant, parameters, source iterators, sink iterators)`` of the forms that are >= 0.

    A coefficient vector ``y`` is in the cone when ``inequalities @ y >= 0`` and ``equalities @ y == 0``. A cone that is
    not ``exact`` belongs to a larger relation and leaves some of these forms out.
    """

    inequalities: Matrix
    equalities: Matrix
    exact: bool = True


class ConeTable:
    """Cones of basic relations, each computed once: the same relation takes part in many row problems."""

    def __init__(self) -> None:
        self._known: dict[str, Cone] = {}
        self.inexact = 0
        """The number of convex relations whose cone would have taken isl too long."""
        # Keyed by identity: the relations of a graph are asked for in every row, and comparing them is slow.
        self._of_relation: dict[int, tuple[isl.Map, list[Cone]]] = {}

    def cones(self, relation: isl.Map) -> list[Cone]:
        """One cone per convex piece of ``relation``."""
        if id(relation) not in self._of_relation:
            found = [self._cone(piece) for piece in convex_pieces(relation)]
            self._of_relation[id(relation)] = relation, found
        return self._of_relation[id(relation)][1]

    def _cone(self, piece: isl.BasicMap) -> Cone:
        key = str(piece)
        if key not in self._known:
            operations = CONE_OPERATIONS if self.inexact < _AFTER_FAILURES else _FEW_OPERATIONS
            self._known[key] = cone_of(piece, operations)
            self.inexact += not self._known[key].exact
        return self._known[key]


def cone_of(piece: isl.BasicMap, operations: int = CONE_OPERATIONS) -> Cone:
    """The cone of the affine forms that are non-negative on ``piece``.

    When isl needs more than ``operations`` for it, the cone of a larger relation with fewer constraints: what it admits
    is still non-negative on ``piece``.

    >>> cone_of(isl.BasicMap("{ S[i] -> T[j] : j = i + 1 and i >= 0 }")).inequalities.tolist()
    [[0, 1, 1], [1, 0, 1]]
    """
    exact = solved(_coefficients(piece), operations)
    if exact is not None:
        return _cone(exact)
    *simpler, last = simpler_pieces(piece)
    found = (solved(_coefficients(larger), operations) for larger in simpler)
    cone = next((cone for cone in found if cone is not None), None)
    return replace(_cone(cone if cone is not None else _coefficients(last)()), exact=False)


def _coefficients(piece: isl.BasicMap) -> Callable[[], isl.BasicSet | isl.Set]:
    return isl.Set.from_basic_set(piece.wrap()).coefficients


def _cone(coefficients: isl.BasicSet | isl.Set) -> Cone:
    order = (isl.dim_type.cst, isl.dim_type.param, isl.dim_type.set, isl.dim_type.div)
    basic = coefficients if isinstance(coefficients, isl.BasicSet) else coefficients.get_basic_sets()[0]
    # The cone contains its apex: the constant column of the matrix is zero.
    return Cone(
        _matrix(basic.inequalities_matrix(*order))[:, 1:], _matrix(basic.equalities_matrix(*order))[:, 1:]
    )


def _matrix(matrix: isl.Mat) -> Matrix:
    rows, columns = matrix.rows(), matrix.cols()
    values = [
        [matrix.get_element_val(row, column).to_python() for column in range(columns)] for row in range(rows)
    ]
    return np.array(values, dtype=np.int64).reshape(rows, columns)
