"""The value of an integer expression over parameters, when a kernel is called."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from polyviz.errors import ArgumentError
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "/": operator.truediv,
}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CALLS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "int": int,
    "float": float,
    "round": round,
}


def evaluate_integer(expression: Expression, values: Mapping[str, int]) -> int:
    """``expression`` with the parameters at ``values``; raises ArgumentError where Python would raise.

    >>> evaluate_integer(Binary("//", Name("n"), Constant(2)), {"n": 7})
    3
    """
    try:
        return operator.index(evaluate(expression, values))
    except (ArithmeticError, TypeError, KeyError) as error:
        raise ArgumentError("A size cannot be computed from the arguments.", reason=str(error)) from error


def evaluate(expression: Expression, values: Mapping[str, Any]) -> Any:
    """``expression`` with names and scalars at ``values``, by Python's own arithmetic."""
    match expression:
        case Constant(value):
            return value
        case Name(name) | Element(name, ()):
            return values[name]
        case Unary("-", operand):
            return -evaluate(operand, values)
        case Binary(symbol, left, right):
            return _BINARY[symbol](evaluate(left, values), evaluate(right, values))
        case Compare((symbol,), (left, right)):
            return _COMPARE[symbol](evaluate(left, values), evaluate(right, values))
        case Logical(symbol, operands):
            choose = all if symbol == "and" else any
            return choose(evaluate(operand, values) for operand in operands)
        case Conditional(condition, body, otherwise):
            return evaluate(body if evaluate(condition, values) else otherwise, values)
        case Call(name, arguments) if name in _CALLS:
            return _CALLS[name](*(evaluate(argument, values) for argument in arguments))
    raise TypeError(f"{type(expression).__name__} cannot be evaluated here")
