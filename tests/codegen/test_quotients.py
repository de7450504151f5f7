"""Quotients of what is never negative are divided without a sign; others are rounded down, as Python rounds them."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of


def function_with(subscript: str, start: str = "0") -> str:
    return f"""
def halves(x, y, n):
    for i in range({start}, n):
        y[i] = x[{subscript}] + i % 3
"""


def lines_of(text: str) -> str:
    kernel = pv.compile(function_of(text), target="c")
    source = kernel.specialise({name: ArrayType("float64", 1) for name in "xy"}).text
    return source[source.index("int64_t kernel_") :]


def test_what_is_never_negative_is_divided_without_a_sign() -> None:
    lines = lines_of(function_with("i // 2"))
    assert "x[plain_div_i64(i, 2)] + plain_mod_i64(i, 3);" in lines


@pytest.mark.parametrize("subscript", ["(i - 1) // 2 + 1", "(n - 2 * i) // 4 + n"])
def test_what_may_be_negative_is_rounded_down(subscript: str) -> None:
    assert "[floor_div_i64(" in lines_of(function_with(subscript))


def test_the_domain_counts_not_the_form() -> None:
    assert "x[plain_div_i64(i - 1, 2)]" in lines_of(function_with("(i - 1) // 2", "1"))


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("subscript", ["i // 2", "(i - 1) // 2 + 1", "(7 * i + 3) // 16", "(i + 1) % 4", "(i - 9) % 4"])
def test_values_are_those_of_python(subscript: str) -> None:
    function = function_of(function_with(subscript))
    kernel = pv.compile(function, target="c")
    for n in (0, 1, 2, 3, 50, 333):
        x = np.random.default_rng(n).random(n + 5)
        found, wanted = np.zeros(n), np.zeros(n)
        kernel(x, found, n)
        function(x, wanted, n)
        assert np.array_equal(found, wanted), n


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
def test_iterations_before_zero_keep_their_sign() -> None:
    text = """
def before(x, y, n):
    for i in range(-n, n):
        y[i + n] = x[i // 2 + n] + i % 5
"""
    n = 21
    x = np.random.default_rng(1).random(2 * n)
    found, wanted = np.zeros(2 * n), np.zeros(2 * n)
    pv.compile(function_of(text), target="c")(x, found, n)
    function_of(text)(x, wanted, n)
    assert np.array_equal(found, wanted)
