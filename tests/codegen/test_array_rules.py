"""Types of whole-array values: those on which NumPy and numba agree."""

from __future__ import annotations

import operator
from itertools import product

import numpy as np
import pytest

from polyviz.codegen.array_rules import Leaves, UnclearTypeError, by_array_rules
from polyviz.codegen.typing import Environment, infer
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Name,
    Unary,
)

CELL = (Name("i"),)
A, B, FIRST = Element("A", CELL), Element("B", CELL), Element("B", (Constant(0),))
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")


def ruled(value: Expression, **types: str) -> tuple[Expression, str]:
    leaves = Leaves(types, frozenset("i"), frozenset("AB"), frozenset("n"))
    found = by_array_rules(value, leaves)
    return found, infer(found, Environment(types)).name


@pytest.mark.parametrize("sign", OPERATORS)
def test_what_is_clear_is_what_numpy_computes(sign: str) -> None:
    for left, right in product(DTYPES, DTYPES):
        try:
            found = ruled(Binary(sign, A, B), A=left, B=right)[1]
        except UnclearTypeError:
            continue
        assert found == OPERATORS[sign](np.ones(2, left), np.ones(2, right)).dtype, (left, right)


@pytest.mark.parametrize(
    ("value", "types", "expected"),
    [
        (Binary("/", A, Constant(3)), {"A": "float32"}, "float32"),
        (Binary("*", A, Element("n")), {"A": "float32", "n": "int64"}, "float32"),
        (Binary("+", Constant(1), Call("numpy.exp", (Unary("-", A),))), {"A": "float32"}, "float32"),
        (Binary("/", A, Constant(255)), {"A": "uint8"}, "float64"),
        (Binary("*", A, Constant(0.5)), {"A": "int32"}, "float64"),
        (Binary("+", A, Constant(1)), {"A": "bool"}, "int64"),
        (Binary("+", A, B), {"A": "int32", "B": "int16"}, "int32"),
        (Binary("+", A, B), {"A": "uint64", "B": "int64"}, "float64"),
        (Binary("*", A, FIRST), {"A": "int32", "B": "int32"}, "int32"),
        (Call("numpy.maximum", (A, Constant(0))), {"A": "float32"}, "float32"),
        (Call("numpy.sqrt", (A,)), {"A": "int32"}, "float64"),
        (Conditional(Compare((">",), (A, Constant(0))), A, B), {"A": "uint8", "B": "uint8"}, "uint8"),
    ],
)  # fmt: skip
def test_the_type_is_that_of_both(value: Expression, types: dict[str, str], expected: str) -> None:
    found, dtype = ruled(value, **types)
    assert dtype == expected
    assert ruled(found, **types) == (found, dtype)


@pytest.mark.parametrize(
    ("value", "types", "numpy", "numba"),
    [
        (Binary("*", A, Constant(0.5)), {"A": "float32"}, "float32", "float64"),
        (Binary("+", A, Constant(1)), {"A": "uint8"}, "uint8", "int64"),
        (Binary("*", A, FIRST), {"A": "float32", "B": "int64"}, "float64", "float32"),
        (Call("numpy.sqrt", (A,)), {"A": "uint8"}, "float16", "float32"),
        (Call("numpy.sqrt", (Binary("*", A, B),)), {"A": "int32", "B": "int32"}, "", ""),
        (Binary("/", Binary("+", A, B), Constant(7)), {"A": "uint8", "B": "uint8"}, "", ""),
        (Binary("*", A, Binary("*", FIRST, Constant(2))), {"A": "float32", "B": "float32"}, "float32", "float64"),
    ],
)  # fmt: skip
def test_what_the_two_see_otherwise_is_not_clear(
    value: Expression, types: dict[str, str], numpy: str, numba: str
) -> None:
    with pytest.raises(UnclearTypeError) as caught:
        ruled(value, **types)
    assert (caught.value.numpy, caught.value.numba) == (numpy, numba)


def test_narrow_numbers_wrap_around_as_those_of_numpy_do() -> None:
    found, _ = ruled(Binary("-", Binary("*", A, B), A), A="int8", B="int8")
    assert found == Call("numpy.int8", (Binary("-", Call("numpy.int8", (Binary("*", A, B),)), A),))
