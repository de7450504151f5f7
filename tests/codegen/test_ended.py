"""Statements with loops that end when the data say so, on every target."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import OutOfBoundsError
from tests.running import TARGETS, agree, function_of

ESCAPE = """
def escape(out, xmin, xmax, most):
    h, w = out.shape
    for i in range(h):
        for j in range(w):
            c = complex(xmin + (xmax - xmin) * j / w, i / h)
            z = 0j
            for k in range(most):
                if abs(z) > 2.0:
                    break
                z = z * z + c
            out[i, j] = k
"""
SORT = """
def sort(A):
    n, m = A.shape
    for r in range(n):
        for i in range(1, m):
            key = A[r, i]
            j = i - 1
            while j >= 0 and A[r, j] > key:
                A[r, j + 1] = A[r, j]
                j -= 1
            A[r, j + 1] = key
"""
BISECT = """
def bisect(keys, wanted, out):
    for i in range(len(wanted)):
        low = 0
        high = len(keys)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low
"""
SETTLE = """
def settle(A, B, tolerance, most):
    n = len(A)
    for step in range(most):
        error = 0.0
        for i in range(1, n - 1):
            B[i] = 0.5 * (A[i - 1] + A[i + 1])
            error += (B[i] - A[i]) ** 2
        for i in range(1, n - 1):
            A[i] = B[i]
        if error < tolerance:
            break
    return step
"""
FAR = """
def far(A, out):
    for i in range(len(out)):
        j = len(A) - 1
        while A[j] > 0.0:
            j += 1
        out[i] = j
"""
DATA = np.random.default_rng(5)
ARGUMENTS = {
    ESCAPE: (np.zeros((20, 30), dtype=int), -2.0, 0.5, 40),
    SORT: (DATA.random((4, 25)),),
    BISECT: (np.sort(DATA.random(40)), DATA.random(30), np.zeros(30, dtype=int)),
    SETTLE: (DATA.random(12), np.zeros(12), 1e-3, 200),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", ARGUMENTS, ids=lambda text: text.split("(")[0].split()[-1])
def test_the_result_is_that_of_the_loops_as_written(text: str, target: str) -> None:
    agree(text, *ARGUMENTS[text], target=target)


@pytest.mark.parametrize("text", [ESCAPE, BISECT], ids=["escape", "bisect"])
def test_kernels_for_a_device_end_the_same_way(text: str) -> None:
    agree(text, *ARGUMENTS[text], target="emulated")


@pytest.mark.parametrize("target", [*TARGETS, "emulated"])
def test_a_subscript_out_of_range_ends_what_would_wait_forever(target: str) -> None:
    out = np.zeros(3, dtype=int)
    with pytest.raises(OutOfBoundsError, match=r"`A\[.*leaves its array"):
        pv.compile(function_of(FAR), target=target)(np.ones(5), out)
    assert not out.any()


def test_threads_take_turns_and_each_iteration_has_its_own_variables() -> None:
    kernel = pv.compile(function_of(ESCAPE), target="c")
    kernel(*ARGUMENTS[ESCAPE])
    assert "#pragma omp parallel for schedule(dynamic)" in kernel.source
    assert "for k in range(most): ..." in kernel.source
    assert "a last bit decides about a whole number" in kernel.report()


def test_lanes_do_not_end_one_by_one() -> None:
    kernel = pv.compile(function_of(ESCAPE), target="c")
    kernel(*ARGUMENTS[ESCAPE])
    assert "omp simd" not in kernel.source
    text = str(pv.inspect(function_of(ESCAPE)))
    assert "j, is not cut into vectors: the loop inside S3 ends when its data say so" in text
