"""Quotients by a number as products with its reciprocal: ``(a + b + c) / 3.0`` as ``(a + b + c) * (1.0 / 3.0)``; powers
with a half, ``a ** -1.5``, as products with a root.

A processor starts a product in every cycle and has it after four; a quotient takes three times as long, and as many
cycles pass before the next can start. A root takes as long as a quotient, and a power in general takes five times as
long as both together. The last bit may differ, so quotients whose value is rounded or compared before
it is stored stay as they are: there a last bit may decide about a whole.
"""

from __future__ import annotations

import math

from polyviz.model.expression import (
    Assign,
    Binary,
    Call,
    Conditional,
    Constant,
    Expression,
    Instruction,
    Unary,
)

_SMOOTH = frozenset({"min", "max", "abs", "math.sqrt", "numpy.sqrt", "math.exp", "numpy.exp", "math.fabs"})
"""Functions of which a last bit of an argument changes no more than some last bits."""


_SMALLEST = 1e-30
"""Numbers beyond it, or whose reciprocal is, are left alone: products with them may leave the range of a float32."""

_LARGEST_POWER = 4.5
"""Up to here a power is a few products."""


def multiplied(instruction: Instruction) -> Instruction:
    """``instruction`` with products for the quotients in its value, where that is an assignment; else itself.

    >>> from polyviz.model.expression import Element
    >>> made = multiplied(Assign(Element("b"), Binary("/", Element("a"), Constant(3.0))))
    >>> made.value.operator, made.value.right
    ('*', Binary(operator='/', left=Constant(value=1.0), right=Constant(value=3.0)))
    """
    if not isinstance(instruction, Assign):
        return instruction
    return Assign(instruction.target, _multiplied(instruction.value), instruction.operator)


def _multiplied(expression: Expression) -> Expression:
    match expression:
        case Binary("/", left, Constant(int() | float() as value)) if _has_reciprocal(value):
            return Binary("*", _multiplied(left), Binary("/", Constant(1.0), Constant(float(value))))
        case Binary("**", base, exponent) if (number := _number(exponent)) is not None and _has_half(number):
            return _power(_multiplied(base), number)
        case Binary("+" | "-" | "*" | "/" as operator, left, right):
            return Binary(operator, _multiplied(left), _multiplied(right))
        case Unary("-" | "+" as operator, operand):
            return Unary(operator, _multiplied(operand))
        case Call(function, arguments) if function in _SMOOTH:
            return Call(function, tuple(map(_multiplied, arguments)))
        case Conditional(condition, body, otherwise):
            return Conditional(condition, _multiplied(body), _multiplied(otherwise))
    return expression


def _number(exponent: Expression) -> float | None:
    match exponent:
        case Constant(float() as value):
            return value
        case Unary("-", Constant(float() as value)):
            return -value
    return None


def _has_half(number: float) -> bool:
    """Whether a power with ``number`` is made of a root and something else."""
    return number != 0.5 and abs(number) <= _LARGEST_POWER and number % 1 == 0.5


def _power(base: Expression, number: float) -> Expression:
    """``base ** number`` as the root of ``base`` times its size: infinite ones, which have a sign, are as they were."""
    result: Expression = Binary("**", base, Constant(0.5))
    for _ in range(int(abs(number))):
        result = Binary("*", result, Call("abs", (base,)))
    return result if number > 0 else Binary("/", Constant(1.0), result)


def is_ordinary(value: complex) -> bool:
    """Whether ``value`` is a real number in the middle of the range, where its reciprocal is then, too.

    >>> is_ordinary(3), is_ordinary(1e-310), is_ordinary(0.0)
    (True, False, False)
    """
    return isinstance(value, int | float) and _SMALLEST < abs(value) < 1 / _SMALLEST


def _has_reciprocal(value: int | float) -> bool:
    """Whether ``value`` is an ordinary number, and not a power of two: compilers multiply by the reciprocal of one
    anyway, since it is exact."""
    return is_ordinary(value) and math.frexp(abs(value))[0] != 0.5
