"""Expressions as linear combinations of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.expression import Binary, Constant, Expression, Name, Unary, children

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from polyviz.model.expression import Node

Terms = dict[str, int]
"""Coefficients by name; the empty name stands for the constant."""


def linear_terms(node: Expression) -> Terms | None:
    """``node`` as a linear combination of names; None when it is not one."""
    match node:
        case Constant(int(value)) if not isinstance(value, bool):
            return {"": value}
        case Name(name):
            return {name: 1}
        case Unary("-", operand):
            return scaled(linear_terms(operand), -1)
        case Binary("+", left, right):
            return added(linear_terms(left), linear_terms(right))
        case Binary("-", left, right):
            return added(linear_terms(left), scaled(linear_terms(right), -1))
        case Binary("*", Constant(int(factor)), operand) | Binary("*", operand, Constant(int(factor))):
            return scaled(linear_terms(operand), factor)
    return None


def linear_parts(nodes: Iterable[Node]) -> Iterator[Terms]:
    """The linear combinations of names in ``nodes``, each as large as it can be.

    >>> list(linear_parts([Binary("/", Binary("+", Name("i"), Constant(1)), Name("n"))]))
    [{'n': 1}, {'i': 1, '': 1}]
    """
    pending = list(nodes)
    while pending:
        node = pending.pop()
        terms = linear_terms(node) if isinstance(node, Expression) else None
        if terms is None:
            pending += children(node)
        else:
            yield terms


def scaled(terms: Terms | None, factor: int) -> Terms | None:
    """``factor`` times a linear combination."""
    return None if terms is None else {name: factor * value for name, value in terms.items()}


def added(left: Terms | None, right: Terms | None) -> Terms | None:
    """The sum of two linear combinations; None when one of them is none."""
    if left is None or right is None:
        return None
    result = dict(left)
    for name, value in right.items():
        result[name] = result.get(name, 0) + value
    return result


def written(terms: Terms) -> Expression:
    """The expression that ``terms`` stand for: positive terms first, the constant last.

    >>> written({"i": -1, "n": 1, "": 2})
    Binary(operator='+', left=Binary(operator='-', left=Name(name='n'), right=Name(name='i')), right=Constant(value=2))
    """
    named = [(name, value) for name, value in terms.items() if name and value]
    ordered = sorted(named, key=lambda term: term[1] < 0)
    constant = terms.get("", 0)
    result: Expression | None = None
    for name, value in ordered:
        result = _appended(result, _term(name, abs(value)), value < 0)
    if result is None:
        return Constant(constant)
    return result if not constant else _appended(result, Constant(abs(constant)), constant < 0)


def _term(name: str, factor: int) -> Expression:
    return Name(name) if factor == 1 else Binary("*", Constant(factor), Name(name))


def _appended(result: Expression | None, term: Expression, negative: bool) -> Expression:
    if result is not None:
        return Binary("-" if negative else "+", result, term)
    return Unary("-", term) if negative else term
