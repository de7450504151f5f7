"""Products of matrices that are known to be tiny: no array of copies, no register tiles."""

from __future__ import annotations

import re

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.processor import Processor
from polyviz.runtime.machine import Machine
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


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [4, 6, 9])
def test_tiny_products_have_no_tiles_that_they_cannot_fill(
    size: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of four doubles, or eight singles: a row of four singles is shorter than one of these."""
    monkeypatch.setattr(Machine, "processor", Processor(32, 16, 32768, 524288, 2))
    kernel = pv.compile(function_of(IN_PLACE.format(size=size)), target="c")
    A, B = np.random.default_rng(3).random((2, 5, size, size)).astype(dtype)
    C = np.zeros((5, size, size), dtype)
    kernel(C, A, B)
    np.testing.assert_allclose(C, A @ B, rtol=1e-5)
    columns = [int(width) for width in re.findall(r"j_stop - j >= .*; j \+= (\d+)\)", kernel.source)]
    assert bool(columns) == (size >= 32 // C.itemsize)
    assert all(width <= size for width in columns)
