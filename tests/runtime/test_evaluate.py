"""Expressions over sizes, at the values of a call."""

from __future__ import annotations

import pytest

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
from polyviz.runtime.evaluate import evaluate, evaluate_integer

N, TWO = Name("n"), Constant(2)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (Unary("-", N), -7),
        (Binary("//", Unary("-", N), TWO), -4),
        (Binary("%", Unary("-", N), TWO), 1),
        (Compare((">=",), (N, TWO)), True),
        (Logical("and", (Compare((">",), (N, TWO)), Compare(("<",), (N, TWO)))), False),
        (Logical("or", (Compare((">",), (N, TWO)), Compare(("<",), (N, TWO)))), True),
        (Conditional(Compare(("==",), (N, TWO)), N, Element("m")), 5),
        (Call("min", (N, Element("m"))), 5),
    ],
)
def test_pythons_own_arithmetic(expression, value):
    assert evaluate(expression, {"n": 7, "m": 5}) == value


@pytest.mark.parametrize(
    "expression",
    [
        Expression(),
        Element("A", (N,)),
        Unary("not", N),
        Compare(("<", "<"), (N, N, N)),
        Call("math.sin", (N,)),
        Name("k"),
        Binary("//", N, Constant(0)),
    ],
)
def test_what_cannot_be_computed_is_a_sentence(expression):
    with pytest.raises(ArgumentError, match="A size cannot be computed"):
        evaluate_integer(expression, {"n": 7})
