"""Subscripts as a person would write them after iterators were replaced by schedule expressions."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from polyviz.model.expression import (
    Binary,
    Compare,
    Element,
    Expression,
    Node,
    rebuild,
)
from polyviz.model.linear import added, linear_terms, scaled, written

if TYPE_CHECKING:
    from collections.abc import Callable



def simplify_subscripts(node: Node) -> Node:
    """``node`` with every affine subscript collected: ``A[(i - 2*t) + 1 - 1]`` becomes ``A[i - 2*t]``.

    >>> from polyviz.model.expression import Constant, Name
    >>> i_plus_one_minus_one = Binary("-", Binary("+", Name("i"), Constant(1)), Constant(1))
    >>> simplify_subscripts(Element("A", (i_plus_one_minus_one,))).subscripts
    (Name(name='i'),)
    """
    node = rebuild(node, simplify_subscripts)
    if not isinstance(node, Element):
        return node
    return rebuild(node, _simplified)


def simplified(expression: Expression) -> Expression:
    """``expression`` with its linear parts collected.

    >>> from polyviz.model.expression import Call, Constant, Name
    >>> simplified(Call("min", (Binary("-", Binary("+", Name("n"), Name("t")), Name("t")), Constant(4))))
    Call(function='min', arguments=(Name(name='n'), Constant(value=4)))
    """
    terms = linear_terms(expression)
    if terms is not None:
        return written(terms)
    if isinstance(expression, Compare) and len(expression.operands) == 2:
        return _simplified_comparison(expression)
    result = rebuild(expression, _simplified)
    assert isinstance(result, Expression)
    return result


def _simplified_comparison(comparison: Compare) -> Expression:
    """What stands on both sides disappears: ``n + 2*t >= i + 2*t + 2`` becomes ``n >= i + 2``."""
    left, right = comparison.operands
    difference = added(linear_terms(left), scaled(linear_terms(right), -1))
    if difference is None:
        return Compare(comparison.operators, (simplified(left), simplified(right)))
    above = {name: value for name, value in difference.items() if value > 0}
    below = {name: -value for name, value in difference.items() if value < 0}
    return Compare(comparison.operators, (written(above), written(below)))


def _simplified(subscript: Node) -> Node:
    return simplified(subscript) if isinstance(subscript, Expression) else subscript


def common_factor(
    value: Expression, is_fixed: Callable[[Expression], bool]
) -> tuple[Expression | None, Expression]:
    """``value``, a product, as its factors that are fixed, None without any, and the product of the others.

    >>> from polyviz.model.expression import Name
    >>> product = Binary("*", Binary("*", Name("a"), Name("x")), Name("y"))
    >>> common_factor(product, lambda one: one == Name("a"))
    (Name(name='a'), Binary(operator='*', left=Name(name='x'), right=Name(name='y')))
    """
    factors = _factors(value)
    fixed = [one for one in factors if is_fixed(one)]
    rest = [one for one in factors if not is_fixed(one)]
    if not fixed or not rest:
        return None, value
    return reduce(_times, fixed), reduce(_times, rest)


def _factors(value: Expression) -> list[Expression]:
    match value:
        case Binary("*", left, right):
            return [*_factors(left), *_factors(right)]
    return [value]


def _times(left: Expression, right: Expression) -> Expression:
    return Binary("*", left, right)
