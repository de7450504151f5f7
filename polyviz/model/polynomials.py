"""Expressions as polynomials of names, quotients without remainder included: ``i * (i + 1) // 2`` has none."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import TYPE_CHECKING

from polyviz.model.expression import Binary, Constant, Expression, Name, Unary

if TYPE_CHECKING:
    from collections.abc import Iterable

Monomial = tuple[str, ...]
"""Names in alphabetical order, one as often as its power says; none of them: a number."""
Polynomial = dict[Monomial, Fraction]
"""Coefficients by monomial, none of them zero."""

_MOST_CASES = 4096
"""Remainders that are tried to see whether a quotient leaves none."""


def polynomial(node: Expression) -> Polynomial | None:
    """``node`` as a polynomial; None when it is none, or has a quotient that may leave a remainder.

    >>> i, j = Name("i"), Name("j")
    >>> square = Binary("*", i, Binary("+", i, Constant(1)))
    >>> found = polynomial(Binary("+", Binary("//", square, Constant(2)), j))
    >>> {"*".join(names): str(value) for names, value in found.items()}
    {'i*i': '1/2', 'i': '1/2', 'j': '1'}
    >>> polynomial(Binary("//", i, Constant(2))) is None
    True
    """
    match node:
        case Constant(int(value)) if not isinstance(value, bool):
            return collected([((), Fraction(value))])
        case Name(name):
            return {(name,): Fraction(1)}
        case Unary("-", operand):
            return _combined("*", {(): Fraction(-1)}, polynomial(operand))
        case Binary("+" | "-" | "*" as operator, left, right):
            return _combined(operator, polynomial(left), polynomial(right))
        case Binary("//", left, Constant(int(divisor))) if divisor > 0:
            return _quotient(polynomial(left), divisor)
    return None


def _combined(operator: str, left: Polynomial | None, right: Polynomial | None) -> Polynomial | None:
    if left is None or right is None:
        return None
    if operator == "*":
        terms = product(left.items(), right.items())
        return collected((tuple(sorted((*one, *other))), by * times) for (one, by), (other, times) in terms)
    direction = 1 if operator == "+" else -1
    return collected([*left.items(), *((names, direction * value) for names, value in right.items())])


def collected(terms: Iterable[tuple[Monomial, Fraction]]) -> Polynomial:
    """The sum of ``terms``.

    >>> collected([(("i",), Fraction(1)), ((), Fraction(2)), (("i",), Fraction(-1))])
    {(): Fraction(2, 1)}
    """
    found: Polynomial = {}
    for names, value in terms:
        found[names] = found.get(names, Fraction(0)) + value
    return {names: value for names, value in found.items() if value}


def _quotient(value: Polynomial | None, divisor: int) -> Polynomial | None:
    """``value`` divided by ``divisor``, where that leaves no remainder whatever the names stand for."""
    if value is None or not _is_multiple(value, divisor):
        return None
    return {names: part / divisor for names, part in value.items()}


def _is_multiple(value: Polynomial, divisor: int) -> bool:
    """Whether every value is a multiple of ``divisor``: the remainders of the names decide."""
    denominator = lcm(*(part.denominator for part in value.values()))
    modulus = divisor * denominator
    names = sorted({name for monomial in value for name in monomial})
    if modulus ** len(names) > _MOST_CASES:
        return False
    return not any(
        sum(
            int(part * denominator) * prod(case[names.index(name)] for name in monomial)
            for monomial, part in value.items()
        )
        % modulus
        for case in product(range(modulus), repeat=len(names))
    )
