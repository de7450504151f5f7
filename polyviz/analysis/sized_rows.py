"""Linearised subscripts whose strides are sizes: ``A[i * m + j]`` with ``0 <= j < m``, told apart by the extraction.

What an access touches in rows is known from there; here the subscripts of the statements follow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.constant_rows import elements
from polyviz.model.expression import Constant, Element, Name, walk
from polyviz.model.linear import linear_terms
from polyviz.model.linearised import NotLinearisedError, Splitter, count_of, product, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.model.expression import Expression
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Access, Array, Scop, Statement

_PARAMETER = isl.dim_type.param

Subscripts = tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class SizedRows:
    """The ``extents`` of the rows of an array, the ``sizes`` of all its dimensions, and its subscripts in rows."""

    extents: tuple[Expression, ...]
    sizes: tuple[isl.PwAff | None, ...]
    parts: Mapping[Expression, Subscripts]

    def subscripts(self, _statement: Statement, subscript: Expression) -> Subscripts:
        """A subscript for each part of ``subscript``."""
        return self.parts[subscript]

    def access(self, _statement: Statement, access: Access) -> Access:
        """``access`` in rows; it may still be one that does not always happen."""
        assert access.apart is not None
        exact = access.exact or bool(access.strides)
        reason = "" if exact else access.reason
        return replace(access, relation=access.apart, exact=exact, reason=reason, apart=None, strides=())


def sized_rows(arrays: Iterable[Array], scop: Scop) -> dict[str, SizedRows]:
    """The rows of those of ``arrays`` that have strides, by name."""
    found = ((array.name, _rows(array, scop)) for array in arrays if array.strides)
    return {name: rows for name, rows in found if rows is not None}


def _rows(array: Array, scop: Scop) -> SizedRows | None:
    """The rows of ``array`` by its strides; None where its subscripts or extents cannot be told in their terms."""
    extents = tuple(product(ratio(small, large)) for large, small in pairwise(array.strides))
    if not all(map(_is_linear, extents)):
        return None
    parts = _parts(array, scop)
    if not parts:
        return None
    count = _count(array, scop)
    sizes = [None if one is None else _size(one, scop) for one in (count, *extents)]
    return SizedRows(extents, tuple(sizes), parts)


def _is_linear(expression: Expression) -> bool:
    return linear_terms(expression) is not None


def _parts(array: Array, scop: Scop) -> dict[Expression, Subscripts]:
    """For each subscript of ``array`` its factors, that of the largest stride first; nothing where one has others."""
    splitter = Splitter(_is_linear, _Sizes(scop))
    found: dict[Expression, Subscripts] = {}
    for element in (element for statement in scop.statements for element in elements(array.name, statement)):
        try:
            terms = splitter.terms(element.subscripts[0])
        except NotLinearisedError:
            return {}
        if not terms.keys() <= set(array.strides):
            return {}
        found[element.subscripts[0]] = tuple(terms.get(stride, Constant(0)) for stride in array.strides)
    return found


class _Sizes:
    """Whether an expression is made of the parameters of a part."""

    def __init__(self, scop: Scop) -> None:
        self._names = {one.name for one in scop.parameters}

    def __call__(self, expression: Expression) -> bool:
        leaves = [node for node in walk(expression) if isinstance(node, Name | Element)]
        return all(isinstance(leaf, Name) and leaf.name in self._names for leaf in leaves)


def _count(array: Array, scop: Scop) -> Expression | None:
    """How many of its largest strides the part makes ``array`` of; None where that is no linear number of them."""
    length = array.extents[0]
    if length is None or array.creation is None:
        return None
    for parameter in scop.parameters:
        made_of = parameter.source.expression
        if made_of is not None and length.plain_is_equal(_size(Name(parameter.name), scop)):
            found = count_of(made_of, array.strides[0])
            return found if found is not None and _is_linear(found) else None
    return None


def _size(extent: Expression, scop: Scop) -> isl.PwAff:
    """``extent``, which is linear, over the parameters."""
    terms: Terms = linear_terms(extent) or {}
    space = scop.context.get_space()
    value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)).set_constant_val(isl.Val(terms.get("", 0)))
    for name, factor in terms.items():
        if name:
            place = space.find_dim_by_name(_PARAMETER, name)
            value = value.set_coefficient_val(_PARAMETER, place, isl.Val(factor))
    return isl.PwAff.from_aff(value)
