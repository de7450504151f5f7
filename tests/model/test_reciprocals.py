"""Quotients that become products, and those that stay because a last bit might decide about a whole."""

import pytest

from polyviz.model.expression import (
    Assign,
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Unary,
)
from polyviz.model.reciprocals import multiplied

A, B = Element("a"), Element("b")


def over(left: Expression, number: float) -> Expression:
    return Binary("/", left, Constant(number))


def times(left: Expression, number: float) -> Expression:
    return Binary("*", left, over(Constant(1.0), float(number)))


def value(expression: Expression) -> Expression:
    made = multiplied(Assign(B, expression))
    assert isinstance(made, Assign)
    return made.value


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (over(Binary("+", A, B), 3.0), times(Binary("+", A, B), 3.0)),
        (over(over(A, 9), -7.0), times(times(A, 9.0), -7.0)),
        (Unary("-", Binary("-", over(A, 5.0), B)), Unary("-", Binary("-", times(A, 5.0), B))),
        (Call("math.exp", (over(A, 10.0),)), Call("math.exp", (times(A, 10.0),))),
        (
            Conditional(Compare(("<",), (over(A, 3.0), B)), over(A, 3.0), B),
            Conditional(Compare(("<",), (over(A, 3.0), B)), times(A, 3.0), B),
        ),
    ],
)
def test_quotients_by_a_number_become_products(written: Expression, expected: Expression) -> None:
    assert value(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        over(A, 8.0),
        over(A, 0.25),
        over(A, 0.0),
        over(A, 1e300),
        over(A, 1e-300),
        over(A, float("inf")),
        Binary("/", A, B),
        Binary("//", A, Constant(3.0)),
        Binary("%", over(A, 3.0), B),
        Call("math.floor", (over(A, 3.0),)),
        Call("int", (over(A, 3.0),)),
        Element("c", (over(A, 3.0),)),
    ],
)
def test_others_stay(written: Expression) -> None:
    assert value(written) == written
