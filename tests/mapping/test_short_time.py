"""A time that is known to be short: it sweeps all the same, and threads have rows of tiles to share."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

STEPS = """
def steps(A, B):
    n, m = A.shape
    for t in range({count}):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = 0.25 * (B[i - 1, j] + B[i + 1, j] + B[i, j - 1] + B[i, j + 1])
"""
COLOURS = """
def colours(A, f):
    n = A.shape[0]
    for t in range(5):
        for colour in range(2):
            for i in range(1, n - 1):
                for j in range(1 + (i + colour) % 2, n - 1, 2):
                    A[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] - f[i, j])
"""


@pytest.mark.parametrize(("count", "size"), [("10", 3), ("2", 1), ("60", 15), ("T", 16), ("100", 16)])
def test_there_are_rows_of_tiles_for_several_threads(count: str, size: int) -> None:
    text = STEPS.format(count=count).replace("(A, B)", "(A, B, T)" if count == "T" else "(A, B)", 1)
    kernel = pv.compile(function_of(text), target="c")
    assert f"the band is tiled by {size} x 32 x 256" in kernel.report()
    assert "#pragma omp parallel" in kernel.source


def test_rows_wait_along_a_loop_with_several_tiles() -> None:
    kernel = pv.compile(function_of(COLOURS), target="c")
    assert "wait_for_row_before(before, t_tile, i_tile)" in kernel.source


@pytest.mark.parametrize("text", [STEPS.format(count="10"), COLOURS], ids=["steps", "colours"])
def test_the_result_is_that_of_the_loops(text: str) -> None:
    function = function_of(text)
    given = np.random.default_rng(5).random((2, 190, 190))
    ours, plain = given.copy(), given.copy()
    pv.compile(function, target="c")(ours[0], ours[1])
    pv.compile(function, schedule="original", target="c")(plain[0], plain[1])
    np.testing.assert_allclose(ours, plain)
