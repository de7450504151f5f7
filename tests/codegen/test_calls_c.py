"""Fractions that become whole numbers on the way to other fractions, which compilers like to leave out."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

ROUNDED = """
    def rounded(x, o):
        for i in range(len(x)):
            o[i] = {}
    """
THROUGH_BYTES = """
    def through_bytes(x, b, o):
        for i in range(len(x)):
            b[i] = x[i]
        for i in range(len(x)):
            o[i] = b[i]
    """
SCALED = """
    def scaled(x, b, o):
        for i in range(len(x)):
            b[i] *= x[i]
            o[i] = b[i]
    """
# A loop of vectors and what is left of it are compiled apart: there is some of every number in both.
SMALL = np.tile([-0.2, 0.3, -0.5, -0.7, -0.0], 5)
LARGE = np.tile([300.5, -1.5, 70000.5, 255.9, 256.1], 5)


@pytest.mark.parametrize("call", ["int(x[i])", "np.int32(x[i])", "round(x[i])", "np.int16(x[i])", "np.uint32(x[i])"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_whole_number_has_no_negative_zero(call: str, dtype: str) -> None:
    original = function_of(ROUNDED.format(call))
    x, o = SMALL.astype(dtype), np.zeros(SMALL.size, dtype)
    expected = o.copy()
    pv.compile(original, target="c", contract="strict")(x, o)
    original(x, expected)
    assert o.tobytes() == expected.tobytes()


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("source", ["float64", "float32"])
@pytest.mark.parametrize("narrow", ["uint8", "int8", "int16", "uint16"])
def test_short_numbers_keep_the_low_bits(narrow: str, source: str, contract: str) -> None:
    x, o = LARGE.astype(source), np.zeros(LARGE.size)
    expected = x.astype(np.int64).astype(narrow)
    pv.compile(function_of(ROUNDED.format(f"np.{narrow}(x[i])")), target="c", contract=contract)(x, o)
    assert np.array_equal(o, expected)
    kept, again = np.zeros(LARGE.size, narrow), np.zeros(LARGE.size)
    pv.compile(function_of(THROUGH_BYTES), target="c", contract=contract)(x, kept, again)
    assert np.array_equal(kept, expected)
    assert np.array_equal(again, expected)


def test_what_scales_a_byte_leaves_a_byte() -> None:
    x, b, o = np.full(25, 1.5), np.full(25, 200, np.uint8), np.zeros(25)
    pv.compile(function_of(SCALED), target="c", contract="strict")(x, b, o)
    assert set(b) == {300 - 256}
    assert np.array_equal(o, b)


def test_long_numbers_without_a_sign_reach_beyond_those_with_one() -> None:
    x = np.tile([1e19, 2.0**63, 12.7, -1.0], 5)
    o = np.zeros(x.size, np.uint64)
    pv.compile(function_of(ROUNDED.format("np.uint64(x[i])")), target="c")(x, o)
    assert list(o[:4]) == [10**19, 2**63, 12, 2**64 - 1]


def test_a_number_without_a_fraction_is_stored_as_it_is() -> None:
    kernel = pv.compile(function_of(ROUNDED.format("255.0")), target="c")
    o = np.zeros(3, np.uint8)
    kernel(np.zeros(3), o)
    assert "o[i] = 255;" in kernel.source
    assert set(o) == {255}


@pytest.mark.parametrize("divisor", [1, 2, 8, 2**31, 2**62, 3, -1, -2, -8])
@pytest.mark.parametrize("is_constant", [True, False])
def test_quotients_and_rests_are_rounded_down(divisor: int, is_constant: bool) -> None:
    text = """
        def divided(x, b, q, r):
            for i in range(len(x)):
                q[i] = x[i] // {b}
                r[i] = x[i] % {b}
        """
    original = function_of(text.format(b=f"({divisor})" if is_constant else "b"))
    x = np.array([0, 1, -1, 7, -7, 8, -8, 2**40 + 5, -(2**40) - 5, 2**63 - 1, -(2**63) + 1])
    q, r = np.zeros_like(x), np.zeros_like(x)
    pv.compile(original, target="c")(x, divisor, q, r)
    assert [int(one) // divisor for one in x] == list(q)
    assert [int(one) % divisor for one in x] == list(r)
