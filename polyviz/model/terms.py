"""Sums whose terms have a factor in common: it is taken out, and terms that are alike become one.

    0.125 * (a - 2.0 * b + c) + 0.125 * (d - 2.0 * b + e)  ->  0.125 * (a - 4.0 * b + c + d + e)

Only numbers that are written as such count as factors, terms are joined only where they have the same sign (a
difference of infinite values stays what it is), and a sum is left alone unless fewer operations remain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.model.expression import Assign, Binary, Constant, Element, Expression, Unary, children, rebuild

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from polyviz.model.expression import Instruction, Node


LARGEST = 2**53
"""Whole numbers from here on are no longer exact as numbers with a fraction."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a sum: ``factor * rest``, or ``-factor * rest`` where it is subtracted; ``factor`` None is one."""

    rest: Expression
    factor: int | float | None = None
    subtracted: bool = False


def factored(instruction: Instruction) -> Instruction:
    """``instruction`` with every sum of its value in the shortest form found; itself where nothing is gained.

    >>> from polyviz.model.expression import Element
    >>> a, b, c, d = (Element(name) for name in "abcd")
    >>> def half(left, right):
    ...     return Binary("*", Constant(0.5), Binary("-", left, Binary("*", Constant(2.0), right)))
    >>> found = factored(Assign(d, Binary("+", half(a, b), half(c, b))))
    >>> found.value.left, found.value.right.right == Binary("*", Constant(4.0), b)
    (Constant(value=0.5), True)
    """
    if not isinstance(instruction, Assign):
        return instruction
    value = _shortest(instruction.value)
    if value == instruction.value:
        return instruction
    return Assign(instruction.target, value, instruction.operator)


def operations(expression: Expression) -> int:
    """Additions and multiplications by a number in the sums of ``expression``; a product that is added counts with its
    addition, as one multiply-add does.
    """
    if isinstance(expression, Element):
        return 0
    terms = _terms(expression)
    if len(terms) == 1 and terms[0].factor is None:
        return sum(operations(child) for child in children(expression) if isinstance(child, Expression))
    multiplied = all(term.factor is not None for term in terms)
    return len(terms) - 1 + multiplied + sum(operations(term.rest) for term in terms)


def _shortest(expression: Expression) -> Expression:
    def inside(node: Node) -> Node:
        return _shortest(node) if isinstance(node, Expression) else node

    if isinstance(expression, Element):
        return expression
    if not _is_sum(expression):
        found = rebuild(expression, inside)
        assert isinstance(found, Expression)
        return found
    short = _sum(_joined(_terms(expression)))
    return short if operations(short) < operations(expression) else expression


def _is_sum(expression: Expression) -> bool:
    return isinstance(expression, Binary) and expression.operator in ("+", "-")


def _terms(expression: Expression, *, subtracted: bool = False) -> list[Term]:
    """The terms of a sum in their order, those of sums in parentheses among them."""
    match expression:
        case Binary("+" | "-" as operator, left, right):
            negated = subtracted != (operator == "-")
            return [*_terms(left, subtracted=subtracted), *_terms(right, subtracted=negated)]
        case Unary("-", operand):
            return _terms(operand, subtracted=not subtracted)
        case Binary("*", left, right):
            for number, rest in ((_number(left), right), (_number(right), left)):
                if number is not None:
                    return [Term(rest, abs(number), subtracted != (number < 0))]
    return [Term(expression, None, subtracted)]


def _number(expression: Expression) -> int | float | None:
    """The finite number that is written as ``expression``; None for anything else."""
    match expression:
        case Constant(int() | float() as value):
            return value if math.isfinite(value) else None
        case Unary("-", Constant(int() | float() as value)):
            return -value if math.isfinite(value) else None
    return None


def _joined(terms: Iterable[Term]) -> list[Term]:
    """``terms`` with those of one factor as one, and like terms of a sign added up; factors in their first order."""
    groups: dict[float | int | None, list[Term]] = {}
    for term in _added_up(terms):
        groups.setdefault(term.factor, []).append(term)
    found: list[Term] = []
    for factor, alike in groups.items():
        found += alike if factor is None or len(alike) < 2 else [Term(_sum(_joined(_below(alike))), factor)]
    return found


def _below(alike: Iterable[Term]) -> list[Term]:
    return [inner for term in alike for inner in _terms(term.rest, subtracted=term.subtracted)]


def _added_up(terms: Iterable[Term]) -> list[Term]:
    """Terms with the same rest, the same sign and some factor as one, whose factor is the sum of theirs: see
    `_can_be_written`."""
    found: list[Term] = []
    for term in terms:
        place = next((number for number, other in enumerate(found) if _are_alike(other, term)), None)
        if place is None:
            found.append(term)
        else:
            found[place] = replace(term, factor=_factor(found[place]) + _factor(term))
    return found


def _are_alike(one: Term, other: Term) -> bool:
    """Terms without a factor are left apart: a whole number in front of one would make a wider type of it."""
    if one.factor is None or other.factor is None or not _can_be_written(one.factor + other.factor):
        return False
    return one.subtracted == other.subtracted and one.rest == other.rest


def _can_be_written(number: int | float) -> bool:
    """Finite, and exact where it is whole: zero times an infinite factor would be no number."""
    return abs(number) < LARGEST if isinstance(number, int) else math.isfinite(number)


def _factor(term: Term) -> int | float:
    return 1 if term.factor is None else term.factor


def _sum(terms: Sequence[Term]) -> Expression:
    """The sum as an expression: what is subtracted comes after a term that is not, where there is one."""
    first = next((position for position, term in enumerate(terms) if not term.subtracted), 0)
    found = _product(terms[first])
    if terms[first].subtracted:
        found = Unary("-", found)
    for position, term in enumerate(terms):
        if position != first:
            found = Binary("-" if term.subtracted else "+", found, _product(term))
    return found


def _product(term: Term) -> Expression:
    rest = _shortest(term.rest)
    return rest if term.factor is None else Binary("*", Constant(term.factor), rest)
