"""What is transposed after it was computed."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend import extract


def sum_turned(A, B, C):
    C[:] = (A + B).T


def named(A, B, C):
    D = (A @ B).T
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            C[i, j] = D[i, j] * 2.0


def in_time_loop(A, B, C):
    for _ in range(3):
        C[:] = np.transpose(A) + 0.5 * (C + B).T


def turned_twice(A, B, C):
    C += ((A + B).T @ A).T


def summed(A, B, C):
    return np.sum((A @ B).T * C)


@pytest.mark.parametrize("function", [sum_turned, named, in_time_loop, turned_twice, summed])
def test_computed_and_transposed(function):
    generator = np.random.default_rng(1)
    A, B, C = (generator.random((5, 5)) for _ in range(3))
    expected = C.copy()
    assert pv.compile(function)(A, B, C) == pytest.approx(function(A, B, expected))
    assert np.allclose(C, expected)


def test_other_extents_than_a_square():
    A, B = np.arange(12.0).reshape(3, 4), np.ones((3, 4))
    C = np.zeros((4, 3))
    pv.compile(sum_turned)(A, B, C)
    assert np.array_equal(C, (A + B).T)


@pytest.mark.parametrize("shown", ["x.reshape(3, 4).T", "np.reshape(x, (3, 4)).T", "np.transpose(x.reshape(3, 4))"])
def test_what_shows_elements_of_another_array_is_no_array_of_its_own(shown) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(x, z):\n y = {shown}\n y[0, 1] = 5.0\n z[0, 0] = x[4]")
