"""Subscripts that certainly leave their array, found before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.errors import OutOfBoundsError
from polyviz.frontend.certainty import are_multiples, are_negligible
from polyviz.frontend.points import smallest_point
from polyviz.frontend.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.frontend.build import Check
    from polyviz.frontend.cells import Cells
    from polyviz.frontend.program import Program


def check_bounds(program: Program, cells: Cells, checks: Iterable[Check], context: isl.Set) -> None:
    """Raise ``OutOfBoundsError`` for a reference that leaves its array whenever its statement runs at all.

    Only extents that the source states are compared, and only what holds for all parameter values in ``context``, or
    for all but one value of some size where the extent varies: everything else depends on the values at call time.
    Of slices, which NumPy lets end with the array, also what holds only where one size is a multiple of a number.
    """
    for check in checks:
        if not check.reference.reason:
            _check(program, cells, check, context)


def _check(program: Program, cells: Cells, check: Check, context: isl.Set) -> None:
    reference = check.reference
    name = reference.element.array
    draft = program.arrays.get(name) or program.scalars[name]
    here = reference.relation.domain().intersect_params(context)
    for axis in range(draft.rank):
        extent = cells.extent(draft, axis)
        if extent is None:
            continue
        outside = _outside(reference.place.affine.value(reference.written.subscripts[axis]), extent, here)
        running = here.params()
        sound = running.subtract(outside.domain().params())
        varies = extent.involves_dims(isl.dim_type.param, 0, extent.dim(isl.dim_type.param))
        is_certain = are_negligible(sound, running) if varies else sound.is_empty()
        if program.uncut(reference.span):
            is_certain = is_certain or are_multiples(sound, running)
        if is_certain and not outside.is_empty():
            raise _error(program, check, axis, outside, extent)


def _outside(subscript: isl.PwAff, extent: isl.PwAff, here: isl.Set) -> isl.Map:
    """The points with their subscript where Python would raise: below ``-extent``, or not below ``extent``."""
    wrong = isl.Set.from_pw_aff(extent).apply(isl.Map("{ [e] -> [x] : x >= e or x < -e }"))
    return isl.Map.from_pw_aff(subscript).intersect_domain(here).intersect_range(wrong)


def _without_idle_parameters(points: isl.Set) -> isl.Set:
    """``points`` without the parameters that play no part, so that a message names only those that do."""
    for position in reversed(range(points.dim(isl.dim_type.param))):
        if not points.involves_dims(isl.dim_type.param, position, 1):
            points = points.project_out(isl.dim_type.param, position, 1)
    return points


def _error(
    program: Program, check: Check, axis: int, outside: isl.Map, extent: isl.PwAff | None
) -> OutOfBoundsError:
    reference = check.reference
    point = smallest_point(_without_idle_parameters(outside.wrap().flatten()))
    names = list(reference.place.affine.iterators)
    values = dict(zip([*point.parameters, *names], [*point.parameters.values(), *point.values], strict=False))
    subscript = point.values[-1]
    iteration = ", ".join(f"{name} = {values[name]}" for name in names)
    sizes = ", ".join(f"{name} = {value}" for name, value in point.parameters.items())
    where = " with ".join(part for part in (iteration, sizes) if part)
    dimension = f" of dimension {axis}" if len(reference.element.subscripts) > 1 else ""
    limit = (
        "" if extent is None else f", and the extent{dimension} is {_extent_text(extent, point.parameters)}"
    )
    text = spelled(reference.element)
    span = reference.span
    return OutOfBoundsError(
        f"`{program.source.segment(span) if span else text}` leaves the array `{reference.element.array}`.",
        span=span,
        text=program.source.text,
        reason=f"{f'At {where} the' if where else 'The'} subscript is {subscript}{limit}.",
        hint="Correct the range of the loop or the subscript.",
    )


def _extent_text(extent: isl.PwAff, parameters: dict[str, int]) -> str:
    value = isl.Set.from_pw_aff(extent)
    for name, number in parameters.items():
        position = value.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            value = value.fix_val(isl.dim_type.param, position, isl.Val(number))
    return str(value.sample_point().get_coordinate_val(isl.dim_type.set, 0))
