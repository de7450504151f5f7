"""Linearised subscripts whose strides are sizes: ``A[i * m + j]`` with ``0 <= j < m``, told apart by the extraction.

What an access touches in rows is known from there; here the subscripts of the statements follow. Parts whose strides
differ by a number share a dimension: ``3 * (y * w + x) + c`` becomes ``[y, 3 * x + c]``, which is affine as well, and
along which memory goes without a step that only a call knows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.affine_values import sum_of
from polyviz.analysis.constant_rows import elements
from polyviz.model.expression import Binary, Constant, Element, Name, walk
from polyviz.model.linear import linear_terms
from polyviz.model.linearised import NotLinearisedError, Splitter, count_of, product, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.model.expression import Expression
    from polyviz.model.linearised import Stride
    from polyviz.model.scop import Access, Array, Scop, Statement

Subscripts = tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The dimensions that an array gets: the ``strides`` between neighbours along each, the largest first, and for each
    part of its subscript the dimension that it belongs to and how many steps it takes there at once."""

    strides: tuple[Stride, ...]
    places: tuple[tuple[int, int], ...]

    @property
    def extents(self) -> tuple[Expression, ...]:
        """The extents of all dimensions but the first."""
        return tuple(product(ratio(small, large)) for large, small in pairwise(self.strides))

    def subscripts(self, terms: Mapping[Stride, Expression]) -> Subscripts:
        """The subscripts for a sum of strides times factors; none where one of the strides belongs nowhere."""
        found: list[Expression | None] = [None] * len(self.strides)
        own = [_number_and_rest(stride) for stride in self.strides]
        for stride, factor in terms.items():
            number, rest = _number_and_rest(stride)
            place = next((place for place, one in enumerate(own) if one[1] == rest and not number % one[0]), None)
            if place is None:
                return ()
            steps = number // own[place][0]
            value, before = factor if steps == 1 else Binary("*", Constant(steps), factor), found[place]
            found[place] = value if before is None else Binary("+", before, value)
        return tuple(one or Constant(0) for one in found)

    def cells(self, parts: isl.Map, array: str) -> isl.Map:
        """``parts`` of subscripts as cells of the ``array`` with these dimensions."""
        sums: list[list[str]] = [[] for _ in self.strides]
        for part, (place, steps) in enumerate(self.places):
            sums[place].append(f"{steps} * d{part}")
        names = ", ".join(f"d{part}" for part in range(len(self.places)))
        cells = ", ".join(map(" + ".join, sums))
        change = isl.Map(f"{{ {array}[{names}] -> {array}[{cells}] }}", parts.get_ctx())
        return parts.apply_range(change.align_params(parts.get_space()))


@dataclass(frozen=True, slots=True)
class SizedRows:
    """The ``extents`` of the rows of an array, the ``sizes`` of all its dimensions, and its subscripts in rows."""

    layout: _Layout
    sizes: tuple[isl.PwAff | None, ...]
    parts: Mapping[Expression, Subscripts]

    @property
    def extents(self) -> tuple[Expression, ...]:
        """The extents of the rows; none where all parts share one dimension."""
        return self.layout.extents

    def subscripts(self, _statement: Statement, subscript: Expression) -> Subscripts:
        """A subscript for each dimension in the place of ``subscript``."""
        return self.parts[subscript]

    def access(self, _statement: Statement, access: Access) -> Access:
        """``access`` in rows; it may still be one that does not always happen."""
        assert access.apart is not None
        exact = access.exact or bool(access.strides)
        reason = "" if exact else access.reason
        cells = self.layout.cells(access.apart, access.array)
        return replace(access, relation=cells, exact=exact, reason=reason, apart=None, strides=())


def sized_rows(arrays: Iterable[Array], scop: Scop) -> dict[str, SizedRows]:
    """The rows of those of ``arrays`` that have strides, by name."""
    found = ((array.name, _rows(array, scop)) for array in arrays if array.strides)
    return {name: rows for name, rows in found if rows is not None}


def _rows(array: Array, scop: Scop) -> SizedRows | None:
    """The rows of ``array`` by its strides; None where its subscripts or extents cannot be told in their terms."""
    layout = _layout(array)
    parts = None if layout is None else _parts(array, scop, layout)
    if layout is None or not parts:
        return None
    if not layout.extents:
        return SizedRows(layout, array.extents, parts)
    count = _count(array, scop, layout)
    sizes = [None if one is None else _size(one, scop) for one in (count, *layout.extents)]
    return SizedRows(layout, tuple(sizes), parts)


def _layout(array: Array) -> _Layout | None:
    """The dimensions of ``array``; None where the length of a row is not linear."""
    split = [_number_and_rest(stride) for stride in array.strides]
    if min(number for number, _ in split) <= 0:
        return None
    strides: list[Stride] = []
    places: list[tuple[int, int]] = []
    for _, group in groupby(zip(array.strides, split, strict=True), key=lambda one: one[1][1]):
        parts = list(group)
        last, (least, _) = parts[-1]
        places += [(len(strides), number // least) for _, (number, _) in parts]
        strides.append(last)
    layout = _Layout(tuple(strides), tuple(places))
    return layout if all(map(_is_linear, layout.extents)) else None


def _number_and_rest(stride: Stride) -> tuple[int, Stride]:
    """The product of the factors of ``stride`` that are numbers, and the others.

    >>> _number_and_rest((Constant(3), Constant(4), Name("n")))
    (12, (Name(name='n'),))
    """
    numbers = [factor.value for factor in stride if isinstance(factor, Constant) and isinstance(factor.value, int)]
    return prod(numbers), tuple(factor for factor in stride if not isinstance(factor, Constant))


def _is_linear(expression: Expression) -> bool:
    return linear_terms(expression) is not None


def _parts(array: Array, scop: Scop, layout: _Layout) -> dict[Expression, Subscripts]:
    """For each subscript of ``array`` those along the dimensions of ``layout``; nothing where one has other strides."""
    splitter = Splitter(_is_linear, _Sizes(scop))
    found: dict[Expression, Subscripts] = {}
    for element in (element for statement in scop.statements for element in elements(array.name, statement)):
        try:
            subscripts = layout.subscripts(splitter.terms(element.subscripts[0]))
        except NotLinearisedError:
            return {}
        if not subscripts:
            return {}
        found[element.subscripts[0]] = subscripts
    return found


class _Sizes:
    """Whether an expression is made of the parameters of a part."""

    def __init__(self, scop: Scop) -> None:
        self._names = {one.name for one in scop.parameters}

    def __call__(self, expression: Expression) -> bool:
        leaves = [node for node in walk(expression) if isinstance(node, Name | Element)]
        return all(isinstance(leaf, Name) and leaf.name in self._names for leaf in leaves)


def _count(array: Array, scop: Scop, layout: _Layout) -> Expression | None:
    """How many of its largest strides the part makes ``array`` of; None where that is no linear number of them."""
    length = array.extents[0]
    if length is None or array.creation is None:
        return None
    for parameter in scop.parameters:
        made_of = parameter.source.expression
        if made_of is not None and length.plain_is_equal(_size(Name(parameter.name), scop)):
            found = count_of(made_of, layout.strides[0])
            return found if found is not None and _is_linear(found) else None
    return None


def _size(extent: Expression, scop: Scop) -> isl.PwAff:
    """``extent``, which is linear, over the parameters."""
    found = sum_of(linear_terms(extent) or {}, scop.context.get_space())
    assert found is not None
    return isl.PwAff.from_aff(found)
