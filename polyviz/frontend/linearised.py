"""Subscripts such as ``i * m + j`` with ``0 <= j < m``: no affine functions, but as good as two subscripts ``i, j``.

A number has one representation with digits in a mixed radix. So two references whose subscripts have the strides
``n * m``, ``m`` and ``1`` touch one cell exactly where their factors ``i``, ``j``, ``k`` in ``i * n * m + j * m + k``
are equal, if ``0 <= k < m``, ``0 <= j < n`` and ``0 <= i`` wherever they run. Taken up from delinearisation, Grosser,
Ramanujam, Pouchet, Sadayappan, Pop: *Optimistic Delinearization of Parametrically Sized Arrays* (2015), without the
optimism: what does not follow from the loops is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.frontend.affine import NotAffine
from polyviz.frontend.triangular import in_triangles
from polyviz.model.expression import Binary, Constant, Expression, Name, walk
from polyviz.model.linearised import NotLinearisedError, Splitter, chain, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.accesses import Reference
    from polyviz.frontend.parameters import ParameterTable
    from polyviz.frontend.place import Place
    from polyviz.model.linearised import Stride
    from polyviz.model.scop import Starts, Strides


@dataclass(frozen=True, slots=True)
class Digits:
    """Points to digits, and the strides of the digits of each subscript: their values, and as they are written; or
    where the rows begin, of which the first digit tells one."""

    relation: isl.Map
    strides: tuple[Strides, ...] = ()
    written: tuple[tuple[Stride, ...], ...] = ()
    starts: Starts | None = None


def told_apart(
    references: Sequence[Reference], parameters: ParameterTable, context: isl.Set
) -> tuple[Digits | None, ...]:
    """For each reference, points to digits that are equal to those of another one exactly where the cells are.

    None for the references to an array of which no subscript can be taken apart.
    """
    result: list[Digits | None] = [None] * len(references)
    places: dict[str, list[int]] = {}
    for place, reference in enumerate(references):
        places.setdefault(reference.element.array, []).append(place)
    for own in places.values():
        found = [references[place] for place in own]
        if all(reference.element.affine for reference in found):
            continue
        for place, digits in zip(own, _of_array(found, parameters, context), strict=False):
            result[place] = digits
    return tuple(result)


def _of_array(
    references: Sequence[Reference], parameters: ParameterTable, context: isl.Set
) -> tuple[Digits, ...]:
    """The digits of all ``references`` to one array; nothing where no subscript can be taken apart."""
    rank = len(references[0].element.subscripts)
    found = [_axis(references, axis, parameters, context) for axis in range(rank)]
    if not any(digits is not None for digits in found):
        triangle = in_triangles(references, context) if rank == 1 else None
        relations = triangle.relations if triangle is not None else ()
        return tuple(
            Digits(_named(one, reference), starts=triangle.starts if triangle is not None else None)
            for one, reference in zip(relations, references, strict=False)
        )
    columns = [
        [_along(reference.relation, axis) for reference in references] if digits is None else digits[0]
        for axis, digits in enumerate(found)
    ]
    strides = tuple(((),) if digits is None else digits[1] for digits in found)
    written = tuple(((),) if digits is None else digits[2] for digits in found)
    return tuple(
        Digits(_named(reduce(isl.Map.flat_range_product, parts), reference), strides, written)
        for reference, *parts in zip(references, *columns, strict=True)
    )


def _named(digits: isl.Map, reference: Reference) -> isl.Map:
    return digits.intersect_domain(reference.place.domain).set_tuple_name(isl.dim_type.out, reference.element.array)


def _axis(
    references: Sequence[Reference], axis: int, parameters: ParameterTable, context: isl.Set
) -> tuple[list[isl.Map], Strides, tuple[Stride, ...]] | None:
    """The digits of one subscript in each reference, and their strides; None where they need not or cannot be told."""
    subscripts = [reference.element.subscripts[axis] for reference in references]
    try:
        terms = [
            Splitter(reference.place.affine.is_affine, parameters.is_made_of_parameters).terms(subscript)
            for subscript, reference in zip(subscripts, references, strict=True)
        ]
        strides = chain({stride for found in terms for stride in found})
        if len(strides) == 1:
            return None
        digits = [
            _digits(found, strides, reference.place, context)
            for found, reference in zip(terms, references, strict=True)
        ]
        numbers = [tuple(_number(factor, references[0].place) for factor in stride) for stride in strides]
        return digits, tuple(reversed(numbers)), strides[::-1]
    except (NotAffine, NotLinearisedError):
        return None


def _digits(
    terms: dict[Stride, Expression], strides: Sequence[Stride], place: Place, context: isl.Set
) -> isl.Map:
    """The factor of each stride, the largest first, where all of them lie within their range."""
    values = [place.affine.value(terms.get(stride, Constant(0))) for stride in strides]
    here = place.domain.intersect_params(context)
    inside = here
    for value, (small, large) in zip(values, pairwise(strides), strict=False):
        inside = inside.intersect(value.lt_set(_ratio(small, large, place)))
    for value in values:
        inside = inside.intersect(value.ge_set(value.sub(value)))
    if not here.is_subset(inside):
        raise NotAffine("the loops do not tell that a factor stays within its range")
    return reduce(isl.Map.flat_range_product, [isl.Map.from_pw_aff(value) for value in reversed(values)])


def _ratio(small: Stride, large: Stride, place: Place) -> isl.PwAff:
    """How many times ``small`` goes into ``large``."""
    rest = ratio(small, large)
    if sum(any(isinstance(part, Name) for part in walk(factor)) for factor in rest) > 1:
        raise NotAffine("two strides differ by a product")
    return place.affine.value(reduce(lambda left, right: Binary("*", left, right), rest))


def _number(factor: Expression, place: Place) -> isl.Set:
    """The value of ``factor``, which is made of parameters."""
    return isl.Map.from_pw_aff(place.affine.value(factor)).range()


def _along(relation: isl.Map, axis: int) -> isl.Map:
    """One subscript of ``relation``."""
    kind = isl.dim_type.out
    own = relation.project_out(kind, axis + 1, relation.dim(kind) - axis - 1).project_out(kind, 0, axis)
    return own.reset_tuple_id(kind) if own.has_tuple_id(kind) else own
