"""Quotients by a number as products with its reciprocal: ``(a + b + c) / 3.0`` as ``(a + b + c) * (1.0 / 3.0)``.

A processor starts a product in every cycle and has it after four; a quotient takes three times as long, and as many
cycles pass before the next can start. The last bit may differ, so quotients whose value is rounded or compared before
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
        case Binary("+" | "-" | "*" | "/" as operator, left, right):
            return Binary(operator, _multiplied(left), _multiplied(right))
        case Unary("-" | "+" as operator, operand):
            return Unary(operator, _multiplied(operand))
        case Call(function, arguments) if function in _SMOOTH:
            return Call(function, tuple(map(_multiplied, arguments)))
        case Conditional(condition, body, otherwise):
            return Conditional(condition, _multiplied(body), _multiplied(otherwise))
    return expression


def _has_reciprocal(value: int | float) -> bool:
    """Whether ``value`` is a number with a reciprocal in the middle of the range, and not a power of two: compilers
    multiply by that of one anyway, since it is exact."""
    size = abs(value)
    return _SMALLEST < size < 1 / _SMALLEST and math.frexp(size)[0] != 0.5
