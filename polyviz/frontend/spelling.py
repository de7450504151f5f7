"""Expressions as text, for messages and for the names of derived parameters."""

from __future__ import annotations

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

_ATOMS = (Constant, Name, Element, Call)


def spelled(expression: Expression) -> str:
    """Python text of ``expression``, with parentheses around every compound operand.

    >>> spelled(Binary("-", Binary("*", Name("n"), Name("m")), Constant(1)))
    '(n * m) - 1'
    """
    match expression:
        case Constant(value):
            return repr(value)
        case Name(name):
            return name
        case Element(array, subscripts):
            return f"{array}[{', '.join(map(spelled, subscripts))}]" if subscripts else array
        case Call(function, arguments):
            return f"{function}({', '.join(map(spelled, arguments))})"
        case Unary(operator, operand):
            return f"{operator}{' ' if operator == 'not' else ''}{_operand(operand)}"
        case _:
            return _compound(expression)


def _compound(expression: Expression) -> str:
    match expression:
        case Binary(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
        case Compare(operators, operands):
            pairs = zip(operators, operands[1:], strict=True)
            return _operand(operands[0]) + "".join(
                f" {operator} {_operand(right)}" for operator, right in pairs
            )
        case Logical(operator, operands):
            return f" {operator} ".join(map(_operand, operands))
        case Conditional(condition, body, otherwise):
            return f"{_operand(body)} if {_operand(condition)} else {_operand(otherwise)}"
        case _:
            raise TypeError(f"no spelling for {type(expression).__name__}")


def _operand(expression: Expression) -> str:
    text = spelled(expression)
    return text if isinstance(expression, _ATOMS) else f"({text})"
