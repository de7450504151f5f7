"""Subscripts as relations: which cell of an array a reference means at each point."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.certainty import are_negligible
from polyviz.frontend.integers import constant_integer
from polyviz.frontend.reasons import why
from polyviz.model.expression import Binary, Compare, Conditional, Constant, Element, Expression, Unary

if TYPE_CHECKING:
    from polyviz.frontend.place import Place
    from polyviz.frontend.program import Program
    from polyviz.frontend.symbols import ArrayDraft


class Cells:
    """Relates references to cells, with Python's meaning of negative subscripts: they count from the end."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def resolved(self, element: Element, place: Place) -> Element:
        """``element`` with its subscripts made non-negative where they count from the end, and marked affine or not.

        A negative number stays one: each target counts it from the end. An affine subscript that is negative in some
        iteration whatever the parameters are gets the extent added there.
        """
        draft = self._draft(element)
        subscripts = tuple(
            self._counted_from_start(draft, axis, subscript, place)
            for axis, subscript in enumerate(element.subscripts)
        )
        affine = all(
            self._value(draft, axis, part, place) is not None for axis, part in enumerate(subscripts)
        )
        return replace(element, subscripts=subscripts, affine=affine)

    def relation(self, element: Element, place: Place) -> tuple[isl.Map, str]:
        """The cells per point of ``place``, and the reason when they are only an over-approximation."""
        draft = self._draft(element)
        parts: list[isl.Map] = []
        reasons: list[str] = []
        for axis, subscript in enumerate(element.subscripts):
            value = self._value(draft, axis, subscript, place)
            if value is None:
                reasons.append(_why(subscript, place))
                parts.append(self._anywhere(draft, axis, place))
            else:
                parts.append(isl.Map.from_pw_aff(value))
        if parts:
            relation = reduce(isl.Map.flat_range_product, parts)
        else:
            relation = isl.Map.from_domain_and_range(place.affine.universe(), isl.Set("{ [] }"))
        relation = relation.intersect_domain(place.domain).set_tuple_name(isl.dim_type.out, element.array)
        return relation.coalesce(), "; ".join(reasons)

    def with_ends(self, relation: isl.Map, array: str) -> isl.Map:
        """``relation`` of an access to ``array`` that may happen, with the cells that it means where it is negative.

        Subscripts that are negative only for some sizes count from the end too. Those of accesses that surely happen
        are refused when the kernel is called; others are met while the loops run, whose order has to allow for them.
        """
        draft = self._program.arrays.get(array)
        cells = relation.intersect_params(self._program.context()).range()
        axes = range(cells.dim(isl.dim_type.set))
        if draft is None or not any(_may_be_negative(cells, axis) for axis in axes):
            return relation
        meant = reduce(isl.Map.flat_product, [self._meant(draft, axis, cells) for axis in axes])
        both = relation.reset_tuple_id(isl.dim_type.out).apply_range(meant).set_tuple_name(isl.dim_type.out, array)
        return relation if both.is_subset(relation) else relation.union(both).coalesce()

    def _meant(self, draft: ArrayDraft, axis: int, cells: isl.Set) -> isl.Map:
        """The positions along ``axis`` that a subscript may mean."""
        itself = isl.Map("{ [x] -> [x] }")
        if not _may_be_negative(cells, axis):
            return itself
        extent = self.extent(draft, axis)
        if extent is None:
            return itself.union(isl.Map("{ [x] -> [y] : x < 0 <= y }"))
        distance = isl.Map("{ [[x] -> [y]] -> [y - x] : x < 0 <= y }")
        return itself.union(distance.intersect_range(isl.Set.from_pw_aff(extent)).domain().unwrap())

    def extent(self, draft: ArrayDraft, axis: int) -> isl.PwAff | None:
        """The extent along ``axis`` over the parameters, None where the source does not tell."""
        expression = draft.extents[axis]
        if expression is None:
            return None
        return AffineReader((), self._program.parameters).value(expression).project_domain_on_params()

    def _draft(self, element: Element) -> ArrayDraft:
        return self._program.arrays.get(element.array) or self._program.scalars[element.array]

    def _value(self, draft: ArrayDraft, axis: int, subscript: Expression, place: Place) -> isl.PwAff | None:
        constant = constant_integer(subscript)
        if constant is not None and constant < 0:
            subscript = Binary("-", self._program.extent(draft, axis), Constant(-constant))
        try:
            return place.affine.value(subscript)
        except NotAffine:
            return None

    def _counted_from_start(
        self, draft: ArrayDraft, axis: int, subscript: Expression, place: Place
    ) -> Expression:
        constant = constant_integer(subscript)
        if constant is not None and constant < 0:
            return Unary("-", Constant(-constant))
        value = self._value(draft, axis, subscript, place)
        if value is None or constant is not None or not place.bounded:
            return subscript
        context = self._program.context()
        here = place.domain.intersect_params(context)
        negative = here.intersect(value.lt_set(value.sub(value)))
        running = here.params()
        if negative.is_empty() or not are_negligible(running.subtract(negative.params()), running):
            return subscript
        shifted = Binary("+", subscript, self._program.extent(draft, axis))
        if here.is_subset(negative):
            return shifted
        return Conditional(Compare(("<",), (subscript, Constant(0))), shifted, subscript)

    def _anywhere(self, draft: ArrayDraft, axis: int, place: Place) -> isl.Map:
        """Every position along ``axis``, within the extent where it is known."""
        cells = isl.Set("{ [x] : x >= 0 }")
        extent = self.extent(draft, axis)
        if extent is not None:
            cells = cells.intersect(_below(extent))
        return isl.Map.from_domain_and_range(place.affine.universe(), cells)


def _may_be_negative(cells: isl.Set, axis: int) -> bool:
    return not cells.upper_bound_val(isl.dim_type.set, axis, isl.Val(-1)).is_empty()


def _below(extent: isl.PwAff) -> isl.Set:
    """The integers ``x < extent``."""
    return isl.Set.from_pw_aff(extent).apply(isl.Map("{ [e] -> [x] : x < e }"))


def _why(subscript: Expression, place: Place) -> str:
    try:
        place.affine.value(subscript)
    except NotAffine as problem:
        return why("the subscript", subscript, problem)
    return ""
