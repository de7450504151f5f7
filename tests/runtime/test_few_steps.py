"""Calls with few steps over time: every thread finds a row of tiles, and other calls run the program of before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

if TYPE_CHECKING:

    from polyviz.runtime.kernel import Kernel

EXCHANGED = """
def exchanged(A, B, steps):
    n, m = A.shape
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
        A, B = B, A
    return A
"""
SIDE = 400
PLAIN = numba.njit(function_of(EXCHANGED))


def kernel_for(count: int, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Kernel:
    monkeypatch.setenv("OMP_NUM_THREADS", str(count))
    return pv.compile(function_of(EXCHANGED), target="c", **options)


def height(kernel: Kernel, steps: int, side: int = SIDE) -> int:
    """Checks a call with so many steps; the first tile size of the program that ran."""
    given = np.random.default_rng(steps).random((2, side, side))
    ours, plain = given.copy(), given.copy()
    result = kernel(ours[0], ours[1], steps)
    expected = PLAIN(plain[0], plain[1], steps)
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    np.testing.assert_allclose(ours, plain, rtol=1e-12)
    text = next(one.text for one in kernel.plan.decisions if one.text.startswith("the band is tiled by"))
    return int(text.removeprefix("the band is tiled by ").split()[0])


@pytest.mark.slow
def test_every_thread_finds_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_for(2, monkeypatch)
    usual = height(kernel, 100)
    assert usual >= 8
    assert height(kernel, 8) == 4
    assert height(kernel, 5) == 3
    assert height(kernel, 100) == usual
    assert height(kernel, 8) == 4


@pytest.mark.slow
def test_the_report_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_for(2, monkeypatch)
    height(kernel, 8)
    assert "few-steps: made for calls with few steps over time: a row of tiles takes 4 of them" in kernel.report()
    height(kernel, 100)
    assert "few-steps" not in kernel.report()


def test_calls_with_little_to_do_run_the_program_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_for(2, monkeypatch)
    assert height(kernel, 8, side=60) == height(kernel, 100, side=60)
    assert height(kernel, 0) == height(kernel, 100)


@pytest.mark.slow
def test_one_thread_has_the_usual_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_for(1, monkeypatch)
    assert height(kernel, 8) == height(kernel, 100)
    kernel = kernel_for(4, monkeypatch, threads=1)
    assert height(kernel, 8) == height(kernel, 100)


@pytest.mark.slow
def test_tiles_of_the_user_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_for(2, monkeypatch, tile=(16, 32, 256))
    assert height(kernel, 8) == 16
