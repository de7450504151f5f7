"""Subscripts that are negative in some iterations, and count from the end there: right, and easily overlooked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.frontend.points import smallest_point
from polyviz.frontend.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable

    import islpy as isl

    from polyviz.frontend.accesses import Reference


def wrapping_notes(statement: str, references: Iterable[Reference], context: isl.Set) -> list[str]:
    """Which elements are surely counted from the end, in some iterations only: each with the first of these."""
    notes: dict[str, None] = {}
    for reference in (one for one in references if one.sure and not one.reason):
        for axis, subscript in enumerate(reference.written.subscripts):
            if reference.element.subscripts[axis] != subscript:
                notes |= dict.fromkeys(_notes(statement, reference, axis, context))
    return list(notes)


def _notes(statement: str, reference: Reference, axis: int, context: isl.Set) -> Iterable[str]:
    place = reference.place
    value = place.affine.value(reference.written.subscripts[axis])
    here = place.domain.intersect_params(context)
    negative = here.intersect(value.lt_set(value.sub(value)))
    if here.is_subset(negative):
        return  # It counts from the end throughout, as its author must have meant.
    first = smallest_point(negative.flatten())
    iteration = ", ".join(f"{name} = {at}" for name, at in zip(place.affine.iterators, first.values, strict=True))
    element = spelled(reference.written)
    yield (
        f"{statement}: at {iteration} a subscript of `{element}` is negative, and counts from the end of "
        f"`{reference.written.array}`, as in Python. Begin the loop later if that is not meant."
    )
