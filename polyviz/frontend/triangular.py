"""Subscripts such as ``i * (i + 1) // 2 + j`` with ``0 <= j <= i``: rows of growing length, one behind the other.

Where row ``r`` begins at ``Q(r)``, a polynomial of the second degree, it has room for ``Q(r + 1) - Q(r)`` elements. So
the references to an array whose subscripts are ``Q(r) + q`` with ``0 <= q < Q(r + 1) - Q(r)`` touch one cell exactly
where their rows and their places ``q`` in them are equal. Packed triangles of matrices are stored so, by rows or
columns and with their diagonal or without it, and so are the distances of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.frontend.affine import NotAffine
from polyviz.model.linear import written
from polyviz.model.polynomials import Polynomial, collected, polynomial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.frontend.accesses import Reference
    from polyviz.frontend.place import Place
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Starts

_SHIFTS = (0, 1, -1, 2, -2)
"""How far a row or its elements may be counted from elsewhere, nearest first."""


@dataclass(frozen=True, slots=True)
class Triangle:
    """Points to row and place, reference by reference, and where the rows begin."""

    relations: tuple[isl.Map, ...]
    starts: Starts


@dataclass(frozen=True, slots=True)
class _Rows:
    """Row ``r`` begins at ``square * r * r + slope * r``; the slope is a sum of a number and parameters."""

    square: Fraction
    slope: Polynomial

    def room(self, row: Polynomial) -> Polynomial:
        """The elements of ``row``."""
        return _sum((row, 2 * self.square), ({(): Fraction(1)}, self.square), (self.slope, Fraction(1)))

    def start(self, name: str, shift: int) -> Polynomial:
        """Where the row begins that is ``shift`` after the one called ``name``."""
        twice = 2 * self.square * shift
        return _sum(
            ({(name, name): Fraction(1)}, self.square),
            ({(name,): Fraction(1)}, twice),
            ({(): Fraction(1)}, self.square * shift * shift),
            (_times(self.slope, name), Fraction(1)),
            (self.slope, Fraction(shift)),
        )


def in_triangles(references: Sequence[Reference], context: isl.Set) -> Triangle | None:
    """Rows and places of all ``references``, to one array with one subscript; None where the loops do not tell them."""
    values = [polynomial(reference.element.subscripts[0]) for reference in references]
    known = [value for value in values if value is not None]
    if len(known) < len(references) or not any(map(_squares, known)):
        return None
    places = [reference.place for reference in references]
    for rows in _candidates(next(value for value in known if _squares(value))):
        try:
            found = [_row_and_place(rows, *one, context) for one in zip(known, places, strict=True)]
            if all(relation is not None for relation in found):
                starts = _starts(rows, places[0])
                return Triangle(tuple(relation for relation in found if relation is not None), starts)
        except NotAffine:
            continue
    return None


def _candidates(value: Polynomial) -> Iterator[_Rows]:
    """Where rows may begin, as far as one subscript tells: its places may grow with the row, too."""
    for name in _squares(value):
        slope = {
            tuple(other for other in names if other != name): part
            for names, part in value.items()
            if names.count(name) == 1
        }
        for shift in _SHIFTS:
            yield _Rows(value[name, name], _sum((slope, Fraction(1)), ({(): Fraction(1)}, Fraction(shift))))


def _squares(value: Polynomial) -> list[str]:
    return [names[0] for names in value if len(names) == 2 and names[0] == names[1]]


def _row_and_place(rows: _Rows, value: Polynomial, place: Place, context: isl.Set) -> isl.Map | None:
    """The row and the place in it of each point, the nearest row by name first; None where none is certain."""
    here = place.domain.intersect_params(context)
    for row, inside in _readings(rows, value):
        room, ordinal = rows.room(row), _terms(inside)
        terms = _terms(row), ordinal, _terms(room)
        if any(one is None for one in terms):
            continue
        found, position, length = (place.affine.value(written(one)) for one in terms if one is not None)
        if here.is_subset(position.ge_set(position.sub(position)).intersect(position.lt_set(length))):
            return isl.Map.from_pw_aff(found).flat_range_product(isl.Map.from_pw_aff(position))
    return None


def _readings(rows: _Rows, value: Polynomial) -> Iterator[tuple[Polynomial, Polynomial]]:
    """Rows that ``value`` may lie in, each with what is left for the place."""
    for name in _squares(value):
        for shift in _SHIFTS:
            row = _sum(({(name,): Fraction(1)}, Fraction(1)), ({(): Fraction(1)}, Fraction(shift)))
            yield row, _sum((value, Fraction(1)), (rows.start(name, shift), Fraction(-1)))
    if not _squares(value):
        yield {}, value


def _starts(rows: _Rows, place: Place) -> Starts:
    """Twice the coefficients, which are whole numbers."""
    square: Polynomial = {(): rows.square}
    twice = [_terms(_sum((part, Fraction(2)))) for part in (square, rows.slope)]
    numbers = [isl.Map.from_pw_aff(place.affine.value(written(one))).range() for one in twice if one is not None]
    if len(numbers) < len(twice):
        raise NotAffine("rows begin at no whole numbers")
    return numbers[0], numbers[1]


def _terms(value: Polynomial) -> Terms | None:
    """``value`` as a linear combination with whole coefficients; None where it is none."""
    if any(len(names) > 1 or part.denominator != 1 for names, part in value.items()):
        return None
    return {names[0] if names else "": int(part) for names, part in value.items()}


def _times(value: Polynomial, name: str) -> Polynomial:
    return {tuple(sorted((*names, name))): part for names, part in value.items()}


def _sum(*parts: tuple[Polynomial, Fraction]) -> Polynomial:
    """The sum of polynomials times factors."""
    return collected((names, factor * part) for value, factor in parts for names, part in value.items())
