"""What can be said of an expression without sets: its integer value, and whether it is an integer at all."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

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
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_FOLDED: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
}  # fmt: skip
# What is larger has no place in a loop nest, and does not fit into the machine's integers.
LARGEST = 2**62
INTEGER_CASTS = frozenset({"int", "numpy.int64", "numpy.intp", "numpy.int_"})


def constant_integer(expression: Expression) -> int | None:
    """The value of an expression of integer literals; None for any other.

    >>> constant_integer(Unary("-", Binary("**", Constant(2), Constant(3))))
    -8
    """
    match expression:
        case Constant(bool()):
            return None
        case Constant(int() as value):
            return value
        case Unary("-", operand):
            inner = constant_integer(operand)
            return None if inner is None else -inner
        case Binary(symbol, left, right):
            first, second = constant_integer(left), constant_integer(right)
            return None if first is None or second is None else _folded(symbol, first, second)
        case _:
            return None


def _folded(symbol: str, left: int, right: int) -> int | None:
    if symbol in ("//", "%") and right == 0:
        return None
    if symbol in ("**", "<<", ">>") and not 0 <= right < 64:
        return None
    operation = _FOLDED.get(symbol)
    result = None if operation is None else operation(left, right)
    return result if result is not None and abs(result) < LARGEST else None


def is_integral(expression: Expression) -> bool:
    """Whether the value is certainly an integer made of iterators and parameters, affine or not.

    >>> is_integral(Binary("*", Name("n"), Name("i"))), is_integral(Binary("/", Name("n"), Constant(2)))
    (True, False)
    """
    match expression:
        case Constant(value):
            return type(value) is int
        case Name():
            return True
        case Unary("-" | "+" | "~", operand):
            return is_integral(operand)
        case Binary("+" | "-" | "*" | "//" | "%" | "<<" | ">>" | "&" | "|" | "^", left, right):
            return is_integral(left) and is_integral(right)
        case Binary("**", left, right):
            exponent = constant_integer(right)
            return is_integral(left) and (exponent >= 0 if exponent is not None else is_integral(right))
        case Conditional(condition, body, otherwise):
            return not reads_data(condition) and is_integral(body) and is_integral(otherwise)
        case Call("min" | "max" | "abs", arguments):
            return all(is_integral(argument) for argument in arguments)
        case Call(function, (argument,)) if function in INTEGER_CASTS | {
            "math.floor",
            "math.ceil",
            "math.trunc",
        }:
            return not reads_data(argument)
        case _:
            return False


def is_float(expression: Expression) -> bool:
    """Whether the value is certainly a float: a float literal, a true division, or arithmetic on one.

    >>> is_float(Binary("-", Binary("/", Name("n"), Constant(2)), Constant(1))), is_float(Name("n"))
    (True, False)
    """
    match expression:
        case Constant(value):
            return isinstance(value, float)
        case Unary("-" | "+", operand):
            return is_float(operand)
        case Binary("/"):
            return True
        case Binary("+" | "-" | "*" | "//" | "%", left, right):
            return is_float(left) or is_float(right)
        case _:
            return False


def is_followed(expression: Expression) -> bool:
    """Whether a name with this value is replaced by it: an integer, or a truth value, of iterators and parameters.

    >>> is_followed(Compare((">",), (Name("n"), Constant(3)))), is_followed(Constant(0.5))
    (True, False)
    """
    match expression:
        case Constant(bool()):
            return True
        case Unary("not", operand):
            return is_followed(operand)
        case Logical(_, operands):
            return all(isinstance(operand, Compare) and is_followed(operand) for operand in operands)
        case Compare(_, operands):
            return all(is_integral(operand) for operand in operands)
        case _:
            return is_integral(expression)


def reads_data(expression: Expression) -> bool:
    """Whether the value depends on a cell of an array or on a scalar."""
    return any(isinstance(node, Element) for node in walk(expression))
