"""Products of matrices that are known to be tiny: no array of copies, no register tiles."""

from __future__ import annotations

import numpy as np

import polyviz as pv
from tests.running import function_of

BATCH = """
def batch(C, A, B):
    for b in range(A.shape[0]):
        for i in range({size}):
            for j in range({size}):
                s = 0.0
                for k in range({size}):
                    s += A[b, i, k] * B[b, k, j]
                C[b, i, j] = s
"""
IN_PLACE = """
def in_place(C, A, B):
    for b in range(A.shape[0]):
        for i in range({size}):
            for j in range({size}):
                for k in range({size}):
                    C[b, i, j] += A[b, i, k] * B[b, k, j]
"""


def test_the_sum_of_a_tiny_product_stays_a_variable() -> None:
    kernel = pv.compile(function_of(BATCH.format(size=4)), target="c")
    assert "double s;" in kernel.source
    assert "memory_for" not in kernel.source
    A, B = np.random.default_rng(3).random((2, 5, 4, 4))
    C = np.zeros((5, 4, 4))
    kernel(C, A, B)
    np.testing.assert_allclose(C, A @ B)


def test_a_tiny_product_has_no_register_tiles_and_says_so(one_processor: None) -> None:
    kernel = pv.compile(function_of(IN_PLACE.format(size=4)), target="c")
    assert "vector_size" not in kernel.source


def test_a_larger_product_has_them() -> None:
    assert "vector_size" in pv.compile(function_of(BATCH.format(size=40)), target="c").source
    assert "vector_size" in pv.compile(function_of(IN_PLACE.format(size=40)), target="c").source
