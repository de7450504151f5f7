"""Rows as vectors over a statement's iterators, and how one is made of others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_callbacks import pieces_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Vector:
    """An affine function: a factor per iterator, factors of the sizes by name, and a constant."""

    factors: tuple[int, ...]
    sizes: Mapping[str, int]
    constant: int

    def minus(self, other: Vector, times: int) -> Vector:
        """This function less ``times`` the other one."""
        names = {*self.sizes, *other.sizes}
        sizes = {name: self.sizes.get(name, 0) - times * other.sizes.get(name, 0) for name in sorted(names)}
        factors = zip(self.factors, other.factors, strict=True)
        return Vector(
            tuple(left - times * right for left, right in factors),
            {name: factor for name, factor in sizes.items() if factor},
            self.constant - times * other.constant,
        )

    def negated(self) -> tuple[int, ...]:
        """The factors of the negative of this function."""
        return tuple(-factor for factor in self.factors)

    def text(self, iterators: Sequence[str]) -> str:
        """The function as a person writes it.

        >>> Vector((2, 1), {"n": -1}, 3).text(("t", "i"))
        '2*t + i - n + 3'
        """
        terms = [*zip(iterators, self.factors, strict=True), *self.sizes.items()]
        words = [_term(name, factor) for name, factor in terms if factor]
        if self.constant or not words:
            words.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        joined = " ".join(words)
        return joined.removeprefix("+ ") if not joined.startswith("- ") else f"-{joined[2:]}"


def _term(name: str, factor: int) -> str:
    amount = name if abs(factor) == 1 else f"{abs(factor)}*{name}"
    return f"{'-' if factor < 0 else '+'} {amount}"


def vector_of(row: isl.UnionPwAff, statement: str) -> Vector | None:
    """What ``row`` is for ``statement``; None when it is no plain affine function there.

    >>> vector_of(isl.UnionPwAff("[n] -> { S[i, j] -> [(2i - j + n - 1)] }"), "S")
    Vector(factors=(2, -1), sizes={'n': 1}, constant=-1)
    """
    functions = row.get_pw_aff_list()
    for place in range(functions.n_pw_aff()):
        function = functions.get_at(place)
        if function.get_space().get_tuple_name(isl.dim_type.in_) == statement and function.n_piece() == 1:
            return _vector(_only_piece(function))
    return None


def _only_piece(function: isl.PwAff) -> isl.Aff:
    return pieces_of(function)[0][1]


def _vector(function: isl.Aff) -> Vector | None:
    if function.get_denominator_val().to_python() != 1 or _coefficients(function, isl.dim_type.div):
        return None
    space = function.get_space()
    names = [
        space.get_dim_name(isl.dim_type.param, place) or "" for place in range(space.dim(isl.dim_type.param))
    ]
    sizes = _coefficients(function, isl.dim_type.param)
    factors = _coefficients(function, isl.dim_type.in_)
    return Vector(
        tuple(factors.get(place, 0) for place in range(space.dim(isl.dim_type.in_))),
        {names[place]: factor for place, factor in sizes.items()},
        function.get_constant_val().to_python(),
    )


def _coefficients(function: isl.Aff, kind: isl.dim_type) -> dict[int, int]:
    found = {
        place: function.get_coefficient_val(kind, place).to_python() for place in range(function.dim(kind))
    }
    return {place: factor for place, factor in found.items() if factor}


def combination(target: Vector, basis: Sequence[Vector]) -> tuple[int, ...] | None:
    """The factors with which ``basis`` adds up to ``target``, sizes and constants aside; None when none are integers.

    Vectors that depend on earlier ones get the factor 0.

    >>> e = [Vector((1, 0), {}, 0), Vector((1, 1), {}, 0)]
    >>> combination(Vector((3, 1), {}, 0), e)
    (2, 1)
    """
    rows = [
        [*(Fraction(vector.factors[place]) for vector in basis), Fraction(target.factors[place])]
        for place in range(len(target.factors))
    ]
    pivots = _eliminate(rows, len(basis))
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    factors = [Fraction(0)] * len(basis)
    for row, column in zip(rows, pivots, strict=False):
        factors[column] = row[-1]
    return tuple(map(int, factors)) if all(factor.denominator == 1 for factor in factors) else None


def _eliminate(rows: list[list[Fraction]], columns: int) -> list[int]:
    """Gauss and Jordan, in place; the columns that hold a pivot, row by row."""
    pivots: list[int] = []
    for column in range(columns):
        found = next((place for place in range(len(pivots), len(rows)) if rows[place][column]), None)
        if found is None:
            continue
        here = len(pivots)
        rows[here], rows[found] = rows[found], rows[here]
        pivot = rows[here][column]
        rows[here] = [value / pivot for value in rows[here]]
        for place, row in enumerate(rows):
            if place != here and row[column]:
                factor = row[column]
                rows[place] = [value - factor * top for value, top in zip(row, rows[here], strict=True)]
        pivots.append(column)
    return pivots
