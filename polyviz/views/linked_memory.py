"""Where the accesses of an instance go in memory: what the cache of the linked views is fed with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

from polyviz.model.expression import Branch, walk
from polyviz.model.isl_callbacks import pieces_of
from polyviz.views.sizes import SET, binding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.scop import Access, Array, Scop, Statement
    from polyviz.views.linked_schema import LinkedAccessModel, LinkedArrayModel

_INPUT = isl.dim_type.in_
_OUTPUT = isl.dim_type.out
_PARAMETER = isl.dim_type.param
_DIVISION = isl.dim_type.div
_ELEMENT_BYTES = 8


def accesses_model(statement: Statement, values: Mapping[str, int]) -> list[LinkedAccessModel]:
    """The array references of ``statement`` as an instance makes them: it reads before it writes.

    What both branches of a condition on data do is done once, and what only one of them does perhaps.
    """
    found = [access for access in statement.accesses if access.relation.dim(_OUTPUT) > 0]
    if any(isinstance(node, Branch) for instruction in statement.body for node in walk(instruction)):
        found = _once_each(found)
    return [_access_model(one, values) for one in sorted(found, key=lambda access: access.kind == "write")]


def _once_each(accesses: Sequence[Access]) -> list[Access]:
    """Without those that do the same with the same cells as one before."""
    found: list[Access] = []
    for access in accesses:
        same = (one for one in found if (one.array, one.kind) == (access.array, access.kind))
        if not any(one.relation.is_equal(access.relation) for one in same):
            found.append(access)
    return found


def _access_model(access: Access, values: Mapping[str, int]) -> LinkedAccessModel:
    cells = _subscripts(access, values)
    return {
        "array": access.array,
        "kind": access.kind,
        "text": access.text or access.array,
        "subscripts": cells if access.exact else None,
        "conditional": cells is not None and not access.exact,
    }


def _subscripts(access: Access, values: Mapping[str, int]) -> list[list[int]] | None:
    """Per dimension the coefficients of the iterators and the constant; None where that is not all there is to say."""
    if not access.relation.is_single_valued():
        return None
    pieces = [piece for _, piece in pieces_of(isl.PwMultiAff.from_map(access.relation))]
    if len(pieces) != 1:
        return None
    functions = [pieces[0].get_at(place) for place in range(access.relation.dim(_OUTPUT))]
    if any(one.dim(_DIVISION) > 0 or not one.get_denominator_val().is_one() for one in functions):
        return None
    return [_row(one, values) for one in functions]


def _row(function: isl.Aff, values: Mapping[str, int]) -> list[int]:
    constant = function.get_constant_val().to_python()
    for place in range(function.dim(_PARAMETER)):
        factor = function.get_coefficient_val(_PARAMETER, place).to_python()
        constant += factor * values.get(str(function.get_dim_name(_PARAMETER, place)), 0)
    iterators = range(function.dim(_INPUT))
    return [
        *(int(function.get_coefficient_val(_INPUT, place).to_python()) for place in iterators),
        int(constant),
    ]


def array_model(
    array: Array, scop: Scop, values: Mapping[str, int], element_bytes: int | None = None
) -> LinkedArrayModel:
    """The shape of ``array`` for ``values``: what the source says, else as far as it is touched.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, n):\\n    for i in range(n):\\n        A[i, 2] = 0")
    >>> array_model(part.array("A"), part, {"n": 5})
    {'name': 'A', 'extents': [5, 3], 'element_bytes': 8}
    """
    bound = binding(values, scop.context.get_ctx())
    sizes = [_extent(array, axis, scop, bound) for axis in range(array.rank)]
    known = [size for size in sizes if size is not None]
    return {
        "name": array.name,
        "extents": known if len(known) == array.rank else None,
        "element_bytes": element_bytes or (np.dtype(array.dtype).itemsize if array.dtype else _ELEMENT_BYTES),
    }


def _extent(array: Array, axis: int, scop: Scop, bound: isl.Set) -> int | None:
    written = array.extents[axis] if axis < len(array.extents) else None
    if written is not None:
        return _largest(isl.Set.from_pw_aff(written).intersect_params(bound), 0)
    last = [
        _largest(access.relation.intersect_domain(statement.domain).intersect_params(bound).range(), axis)
        for statement in scop.statements
        for access in statement.accesses
        if access.array == array.name
    ]
    ends = [value + 1 for value in last if value is not None]
    return max(ends) if ends and len(ends) == len(last) else None


def _largest(cells: isl.Set, axis: int) -> int | None:
    """The largest value of a coordinate; None where there is none."""
    if cells.is_empty() or not cells.dim_has_upper_bound(SET, axis):
        return None
    return int(cells.dim_max_val(axis).to_python())
