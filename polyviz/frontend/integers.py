"""What can be said of an expression without sets: its integer value, and whether it is an integer at all."""

from __future__ import annotations

from polyviz.model.expression import (
    Binary,
    Call,
    Conditional,
    Constant,
    Element,
    Expression,
    Name,
    Unary,
    walk,
)

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
            value = constant_integer(operand)
            return None if value is None else -value
        case Binary(operator, left, right):
            first, second = constant_integer(left), constant_integer(right)
            return None if first is None or second is None else _folded(operator, first, second)
        case _:
            return None


def _folded(operator: str, left: int, right: int) -> int | None:
    if operator in ("//", "%") and right == 0:
        return None
    if operator in ("**", "<<", ">>") and not 0 <= right < 64:
        return None
    operations = {
        "+": left.__add__, "-": left.__sub__, "*": left.__mul__, "//": left.__floordiv__, "%": left.__mod__,
        "**": left.__pow__, "<<": left.__lshift__, ">>": left.__rshift__, "&": left.__and__,
    }  # fmt: skip
    return operations[operator](right) if operator in operations else None


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
            return is_integral(left) and exponent is not None and exponent >= 0
        case Conditional(condition, body, otherwise):
            return not reads_data(condition) and is_integral(body) and is_integral(otherwise)
        case Call("min" | "max" | "abs", arguments):
            return all(is_integral(argument) for argument in arguments)
        case Call(function, (argument,)) if function in INTEGER_CASTS | {"math.floor", "math.ceil", "math.trunc"}:
            return not reads_data(argument)
        case _:
            return False


def reads_data(expression: Expression) -> bool:
    """Whether the value depends on a cell of an array or on a scalar."""
    return any(isinstance(node, Element) for node in walk(expression))
