"""How many integer points a set has, exactly, without walking through them one by one.

Dimensions are summed away from the innermost: between affine bounds the sum of a polynomial is a polynomial again
(Faulhaber's formula). Where a bound is rounded, the outermost dimension is walked through instead.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.witness import fixed
from polyviz.model.isl_callbacks import pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.model.scop import Scop

_SET = isl.dim_type.set
_PARAMETER = isl.dim_type.param
_DIVISION = isl.dim_type.div

# Exponents of the variables to a coefficient.
Polynomial = dict[tuple[int, ...], Fraction]
Affine = tuple[tuple[int, ...], int]


class _RoundedBoundError(Exception):
    """A bound that is no affine function of the outer dimensions; the message is for nobody."""


def instance_counts(scop: Scop, parameter_values: Mapping[str, int]) -> dict[str, int]:
    """How often each statement runs for the given sizes."""
    inside = ((part.name, part.domain.intersect_params(scop.context)) for part in scop.statements)
    return {name: count_points(fixed(domain, parameter_values)) for name, domain in inside}


def count_points(points: isl.Set) -> int:
    """The number of integer points of a bounded set without parameters.

    >>> count_points(isl.Set("{ S[i, j] : 0 <= j <= i < 4000 }"))
    8002000
    """
    pieces = points.coalesce().make_disjoint().get_basic_set_list()
    return sum(_count(pieces.get_at(position)) for position in range(pieces.n_basic_set()))


def _count(piece: isl.BasicSet) -> int:
    if piece.is_empty():
        return 0
    dense = _without_strides(isl.Set.from_basic_set(piece))
    number = dense.dim(_SET)
    outer = dense.move_dims(_PARAMETER, 0, _SET, 0, number).params()
    one = {(0,) * number: Fraction(1)}
    try:
        total = sum((_sum(isl.Set.from_params(part), number, one) for part in _convex(outer)), Fraction(0))
    except _RoundedBoundError:
        return sum(count_points(piece_at) for piece_at in _slices(dense))
    return int(total)


def _without_strides(points: isl.Set) -> isl.Set:
    """The same number of points with dimensions of the form ``offset + stride * x`` replaced by ``x``."""
    for position in range(points.dim(_SET)):
        information = points.get_stride_info(position)
        if not information.get_stride().is_one() and information.get_offset().is_cst():
            points = points.preimage_multi_aff(_scaling(points.get_space(), position, information))
    return points.remove_redundancies().coalesce()


def _scaling(space: isl.Space, position: int, information: isl.StrideInfo) -> isl.MultiAff:
    scaling = isl.MultiAff.identity(space.map_from_set())
    offset = information.get_offset().get_constant_val()
    scaled = scaling.get_at(position).scale_val(information.get_stride()).add_constant_val(offset)
    return scaling.set_at(position, scaled)


def _slices(points: isl.Set) -> Iterator[isl.Set]:
    """The points for each value of the first dimension."""
    first, last = points.dim_min_val(0).to_python(), points.dim_max_val(0).to_python()
    for value in range(first, last + 1):
        yield points.fix_val(_SET, 0, value).project_out(_SET, 0, 1)


def _sum(domain: isl.Set, number: int, weight: Polynomial) -> Fraction:
    """The sum of ``weight`` over a convex set whose ``number`` variables are parameters."""
    if number == 0:
        return Fraction(0) if domain.is_empty() else weight.get((), Fraction(0))
    innermost = domain.move_dims(_SET, 0, _PARAMETER, number - 1, 1)
    total = Fraction(0)
    for part, lower, upper in _bounds(innermost):
        inner = _sum_between(weight, lower, upper)
        total += _sum(isl.Set.from_params(part), number - 1, inner)
    return total


def _bounds(line: isl.Set) -> Iterator[tuple[isl.Set, Affine, Affine]]:
    """Where each pair of an affine lower and upper bound of the one dimension holds."""
    for low_domain, lower in _pieces(line.dim_min(0)):
        for high_domain, upper in _pieces(line.dim_max(0)):
            both = low_domain.intersect(high_domain).coalesce()
            yield from ((part, lower, upper) for part in _convex(both) if not part.is_empty())


def _convex(domain: isl.Set) -> Iterator[isl.Set]:
    pieces = domain.make_disjoint().get_basic_set_list()
    for position in range(pieces.n_basic_set()):
        piece = pieces.get_at(position)
        if piece.dim(_DIVISION) > 0:
            raise _RoundedBoundError
        yield isl.Set.from_basic_set(piece)


def _pieces(bound: isl.PwAff) -> list[tuple[isl.Set, Affine]]:
    return [(domain, _affine(affine)) for domain, affine in pieces_of(bound)]


def _affine(affine: isl.Aff) -> Affine:
    if affine.dim(_DIVISION) > 0 or not affine.get_denominator_val().is_one():
        raise _RoundedBoundError
    factors = (affine.get_coefficient_val(_PARAMETER, axis) for axis in range(affine.dim(_PARAMETER)))
    return tuple(factor.to_python() for factor in factors), affine.get_constant_val().to_python()


def _sum_between(weight: Polynomial, lower: Affine, upper: Affine) -> Polynomial:
    """The sum of ``weight`` over its last variable from ``lower`` to ``upper``, a polynomial in the others."""
    result: Polynomial = {}
    before = (lower[0], lower[1] - 1)
    for exponents, coefficient in weight.items():
        outer, power = exponents[:-1], exponents[-1]
        for end, sign in ((upper, 1), (before, -1)):
            summed = _compose(_prefix_sum(power), _linear(end))
            _add(result, _multiply({outer: coefficient * sign}, summed))
    return result


@cache
def _prefix_sum(power: int) -> tuple[Fraction, ...]:
    """Coefficients, lowest first, of ``sum(x**power for x in range(0, y + 1))`` as a polynomial in ``y``."""
    shifted = [Fraction(comb(power + 1, degree)) for degree in range(power + 2)]
    result = shifted[:]
    for lower in range(power):
        factor = comb(power + 1, lower)
        for degree, coefficient in enumerate(_prefix_sum(lower)):
            result[degree] -= factor * coefficient
    return tuple(coefficient / (power + 1) for coefficient in result)


def _linear(affine: Affine) -> Polynomial:
    number = len(affine[0])
    linear: Polynomial = {(0,) * number: Fraction(affine[1])}
    for axis, factor in enumerate(affine[0]):
        unit = tuple(int(axis == other) for other in range(number))
        linear[unit] = linear.get(unit, Fraction(0)) + factor
    return linear


def _compose(coefficients: tuple[Fraction, ...], inner: Polynomial) -> Polynomial:
    """The one-variable polynomial of ``coefficients`` at ``inner``, by Horner's rule."""
    constant = (0,) * len(next(iter(inner)))
    result: Polynomial = {constant: Fraction(0)}
    for coefficient in reversed(coefficients):
        result = _multiply(result, inner)
        _add(result, {constant: coefficient})
    return result


def _multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for first, factor in left.items():
        for second, other in right.items():
            _add(result, {tuple(a + b for a, b in zip(first, second, strict=True)): factor * other})
    return result


def _add(total: Polynomial, term: Polynomial) -> None:
    for exponents, coefficient in term.items():
        total[exponents] = total.get(exponents, Fraction(0)) + coefficient
