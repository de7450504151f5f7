"""What LLVM may do under numba: what is divided by the smallest numbers stays what it is."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

SHARES = """
def shares(A, d):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] / d[i]
"""
IN_PLACE = """
def in_place(A, d):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] /= d[i]
"""
SMALL = """
def small(A, d):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] / 1e-310
"""


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("text", [SHARES, IN_PLACE, SMALL], ids=["shares", "in place", "small"])
def test_quotients_by_the_smallest_numbers_are_those_of_python(text: str, target: str) -> None:
    given = np.array([[-0.02, 0.0, 0.01] * 6]), np.array([1e-310])
    found, expected = given[0].copy(), given[0].copy()
    with np.errstate(over="ignore"):
        function_of(text)(expected, given[1])
    pv.compile(function_of(text), target=target)(found, given[1])
    np.testing.assert_array_equal(found, expected)


def test_quotients_by_ordinary_numbers_may_be_products() -> None:
    kernel = pv.compile(function_of(SMALL.replace("1e-310", "9.0")), target="numba")
    given = np.ones((2, 3)), np.ones(2)
    kernel(*given)
    assert '"arcp"' in kernel.source
    np.testing.assert_allclose(given[0], 1 / 9.0)
