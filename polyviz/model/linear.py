"""Expressions as linear combinations of names."""

from __future__ import annotations

from polyviz.model.expression import Binary, Constant, Expression, Name, Unary

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
