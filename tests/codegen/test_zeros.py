"""Sums over arrays add in their own precision, as numba adds them: to the bit where the order is kept."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import polyviz as pv

TEXT = """def f(A, x):
    s = A[:].sum()
    for i in range(x.shape[0]):
        x[i] = np.sum(A[i:] * A[i:]) * 0.5
    return s
"""


def function(text):
    names = {"np": np}
    exec(text, names)
    return names["f"]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32", "uint32", "uint64"])
def test_a_sum_has_the_bits_of_numbas(dtype, target):
    values = (np.random.default_rng(3).random(301) * 100).astype(dtype)
    found, expected = np.zeros(9, dtype), np.zeros(9, dtype)
    result = pv.compile(TEXT, target=target, schedule="original", contract="strict")(values, found)
    assert result == numba.njit(function(TEXT))(values, expected)
    np.testing.assert_array_equal(found, expected)


def test_the_zero_is_of_the_type_of_the_sum():
    kernel = pv.compile(TEXT, target="numba", schedule="original")
    kernel(np.ones(3, np.float32), np.ones(2, np.float32))
    assert "= np.float32(0)" in kernel.source
    kernel(np.ones(3), np.ones(2))
    assert "np.float32" not in kernel.source
