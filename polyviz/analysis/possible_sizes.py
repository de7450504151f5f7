"""For which sizes a part can run at all: those with which every element that it surely touches is in its array."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import islpy as isl

from polyviz.analysis.accesses import restricted
from polyviz.model.isl_limits import SMALL, LimitError, at_most

if TYPE_CHECKING:
    from polyviz.model.scop import Scop

_SET = isl.dim_type.set
_known: WeakKeyDictionary[Scop, isl.Set] = WeakKeyDictionary()


def possible_sizes(scop: Scop) -> isl.Set:
    """The parameter values under which no access that surely happens leaves an array whose extents are known, and of
    which no array is empty that is accessed somewhere.

    A counterexample is looked for among these first: a kernel refuses the others when it is called. Where isl would
    need long, they are all values of the context.

    >>> import polyviz as pv
    >>> print(possible_sizes(pv.extract("for i in range(n):\\n    A[i] = A[i - 1]")))
    [n, A_shape_0] -> {  : A_shape_0 >= n and A_shape_0 >= 0 }
    """
    if scop not in _known:
        try:
            with at_most(10 * SMALL):
                _known[scop] = _within(scop)
        except LimitError:
            _known[scop] = scop.context
    return _known[scop]


def _within(scop: Scop) -> isl.Set:
    arrays = {array.name: array for array in scop.arrays}
    possible = scop.context
    for statement in scop.statements:
        for access in statement.accesses:
            if not access.exact:
                nowhere = statement.domain.subtract(access.relation.domain())
                possible = possible.subtract(nowhere.params())
                continue
            cells = restricted(scop, statement, access).range()
            for axis, extent in enumerate(arrays[access.array].extents):
                if extent is not None:
                    possible = possible.subtract(_outside(cells, axis, extent).params())
    return possible.coalesce()


def _outside(cells: isl.Set, axis: int, extent: isl.PwAff) -> isl.Set:
    """The positions along ``axis`` that are no position of an array of this ``extent``."""
    after = cells.dim(_SET) - axis - 1
    places = cells.project_out(_SET, axis + 1, after).project_out(_SET, 0, axis).reset_tuple_id()
    beyond = isl.Set.from_pw_aff(extent).apply(isl.Map("{ [e] -> [x] : x < 0 or x >= e }"))
    return places.intersect(beyond)
