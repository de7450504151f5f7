"""Programs whose arrays of values are computed by the rules of arrays, bit for bit as NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import CodegenError
from tests.running import TARGETS, function_of

CHAIN = """
def chain(P, n):
    Q = P[:] * n + P[:] / 3
    R = 1 / (1 + np.exp(-Q[:]))
    return Q, np.maximum(R - 1, 0)
"""
STEPS = """
def steps(P, n):
    half = n // 2
    for t in range(3):
        P = (P[:] + P[::-1]) / 2 - half
    return P
"""
WRAPPED = """
def wrapped(P, n):
    Q = P[:] * P[::-1] + P[:]
    return Q
"""
SCALED = """
def scaled(P, n):
    Q = P[:] / 255
    return Q
"""
SUMMED = """
def summed(P, n):
    count = np.sum(P[:] > 3)
    Q = P[:] * count
    return Q
"""


def same_as_numpy(text: str, values: np.ndarray, target: str) -> None:
    function = function_of(text)
    expected = function(values.copy(), 5)
    found = pv.compile(function, target=target, contract="strict")(values.copy(), 5)
    for one, other in zip(np.atleast_1d(found) if isinstance(found, np.ndarray) else found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("text", "dtype"),
    [(STEPS, "float32"), (WRAPPED, "int8"), (WRAPPED, "uint16"),
     (WRAPPED, "bool"), (SCALED, "uint8"), (SCALED, "int32")],
)  # fmt: skip
def test_results_are_those_of_numpy(text: str, dtype: str, target: str) -> None:
    same_as_numpy(text, (100 * np.random.default_rng(1).random(33)).astype(dtype), target)


def test_what_is_made_of_a_made_array_follows() -> None:
    same_as_numpy(CHAIN, np.random.default_rng(1).random(33).astype("float32"), "python")


def test_a_number_of_numpy_is_none_of_python() -> None:
    """``np.sum`` gives a number that counts beside an array: double precision to NumPy, single to numba."""
    with pytest.raises(CodegenError, match="NumPy makes float64 of arrays of float32 and numbers, numba float32"):
        pv.compile(function_of(SUMMED), target="python")(np.ones(4, np.float32), 5)
