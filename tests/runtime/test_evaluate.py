"""Expressions over sizes, at the values of a call."""

from __future__ import annotations

import math

import numpy as np
import pytest

import polyviz as pv
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
        (Binary("<<", Constant(1), N), 128),
        (Binary(">>", N, TWO), 1),
        (Binary("&", N, Element("m")), 5),
        (Binary("|", N, Constant(8)), 15),
        (Binary("^", N, TWO), 5),
        (Call("int", (Call("math.log2", (N,)),)), 2),
        (Call("int", (Call("numpy.sqrt", (N,)),)), 2),
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
        Call("math.unknown", (N,)),
        Call("unknown", (N,)),
        Binary("<<", N, Constant(-1)),
        Call("int", (Constant(float("nan")),)),
        Name("k"),
        Binary("//", N, Constant(0)),
    ],
)
def test_what_cannot_be_computed_is_a_sentence(expression):
    with pytest.raises(ArgumentError, match="A size cannot be computed"):
        evaluate_integer(expression, {"n": 7})


@pytest.mark.parametrize("size", [2**63, -(2**63) - 1])
def test_sizes_of_more_than_64_bits_are_a_sentence(size):
    with pytest.raises(ArgumentError, match=f"does not fit into 64 bits.\n  Why: It is {size}"):
        evaluate_integer(Binary("*", N, Constant(size)), {"n": 1})
    assert evaluate_integer(Binary("-", N, Constant(1)), {"n": 2**63}) == 2**63 - 1


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("size", ["1 << n", "n >> 1", "n & 6", "int(math.log2(n))", "int(np.sqrt(n))"])
def test_sizes_of_nested_loops_may_be_computed(size, target):
    text = f"def f(x, n):\n for i in range({size}):\n  for j in range(n): x[i] += 1.0 + i * j"
    namespace = {"np": np, "math": math}
    exec(text, namespace)
    found, expected = np.zeros(64), np.zeros(64)
    namespace["f"](expected, 6)
    pv.compile(text, target=target)(found, 6)
    assert np.array_equal(found, expected) and expected.any()


def test_a_name_for_a_shifted_size_is_the_extent_of_an_array():
    text = "def f(n):\n full = 1 << n\n A = np.zeros(full)\n for i in range(full): A[i] = i\n return A"
    assert pv.compile(text, target="python")(3).tolist() == [*range(8)]
