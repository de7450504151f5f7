"""Quotients that become products, powers that become roots, and what stays because a last bit might decide about a
whole."""

import numpy as np
import pytest

import polyviz as pv
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


ROOT, SIZE = Binary("**", A, Constant(0.5)), Call("abs", (A,))


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1.5, Binary("*", ROOT, SIZE)),
        (2.5, Binary("*", Binary("*", ROOT, SIZE), SIZE)),
        (-0.5, Binary("/", Constant(1.0), ROOT)),
        (-1.5, Binary("/", Constant(1.0), Binary("*", ROOT, SIZE))),
    ],
)
def test_powers_with_a_half_become_products_with_a_root(number: float, expected: Expression) -> None:
    assert value(Binary("**", A, Constant(number))) == expected
    assert value(Binary("**", A, Unary("-", Constant(-number)))) == expected


@pytest.mark.parametrize("exponent", [Constant(0.5), Constant(1.25), Constant(3.0), Constant(2), Constant(9.5), B])
def test_other_powers_stay(exponent: Expression) -> None:
    assert value(Binary("**", A, exponent)) == Binary("**", A, exponent)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_powers_with_a_half_are_what_they_were_for_every_number(dtype: str) -> None:
    def powers(x, found):  # type: ignore[no-untyped-def]
        for i in range(len(x)):
            found[i, 0] = x[i] ** 1.5
            found[i, 1] = x[i] ** -1.5
            found[i, 2] = x[i] ** -0.5
            found[i, 3] = x[i] ** 2.5
            found[i, 4] = (x[i] + 1) ** -4.5

    kernel = pv.compile(powers, target="c")
    assert "pow(" not in kernel.source
    numbers = [0.0, np.inf, -np.inf, np.nan, -2.0, 1.0, 1e-30, 1e30, *np.linspace(0.1, 40, 50)]
    x, found = np.array(numbers, dtype), np.zeros((len(numbers), 5))
    kernel(x, found)
    wide = x.astype("float64")
    with np.errstate(all="ignore"):
        expected = np.stack([wide**1.5, wide**-1.5, wide**-0.5, wide**2.5, (wide + 1) ** -4.5], 1)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
