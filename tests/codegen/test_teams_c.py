"""Threads that share a loop with copies of arrays of their own, in C."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import with_private_arrays
from polyviz.mapping import make_plan
from polyviz.runtime.kernel import Kernel
from polyviz.runtime.original import original_of
from polyviz.runtime.toolchain import find_toolchain
from tests.blocked import WIDE
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

ROW = """
    def row(A, B, t):
        for r in range(A.shape[0]):
            for q in range(A.shape[1]):
                for p in range(A.shape[2]):
                    t[p] = 0.0
                    for s in range(A.shape[2]):
                        t[p] += A[r, q, s] * B[s, p]
                for p in range(A.shape[2]):
                    A[r, q, p] = t[p]
    """
"""A row for each iteration of the loop over q becomes a matrix, and that a matrix for each thread."""
MATRIX = """
    def matrix(A, B, C):
        t = np.empty((A.shape[1], B.shape[1]))
        for r in range(A.shape[0]):
            for i in range(A.shape[1]):
                for j in range(B.shape[1]):
                    t[i, j] = 0.0
                    for k in range(A.shape[2]):
                        t[i, j] += A[r, i, k] * B[k, j]
            for i in range(A.shape[1]):
                for j in range(B.shape[1]):
                    A[r, i, j] = t[i, j]
        for i in range(A.shape[1]):
            for j in range(B.shape[1]):
                C[i, j] = t[i, j]
    """
SIZES = [(4, 1, 40), (1, 1, 1), (2, 67, 53), (9, 67, 53), (3, 9, 601), (3, 0, 5)]


def given(text: str, count: int, rows: int, columns: int) -> list[Any]:
    random = np.random.default_rng(5)
    A = random.standard_normal((count, rows, columns))
    last = np.zeros(columns) if text == ROW else np.zeros((rows, columns))
    return [A, random.standard_normal((columns, columns)), last]


def kernel(text: str) -> Kernel:
    function = function_of(text)
    given = pv.extract(function)
    scop = with_private_arrays(given, pv.dependences(given))
    dependences = pv.dependences(scop)
    plan = make_plan(scop, dependences, pv.schedule(scop, "pluto"), "c", processor=WIDE, contract="strict")
    return Kernel(scop, dependences, plan, original_of(scop, function, None), floating_point="strict")


@cache
def shared(text: str) -> Kernel:
    """A kernel whose text is made while little work is enough for threads."""
    return kernel(text)


@cache
def reference(text: str) -> Kernel:
    options = {"schedule": "original", "floating_point": "strict", "register_tile": False}
    return pv.compile(function_of(text), target="c", **options)


def test_text(golden: Callable[..., None]) -> None:
    golden(kernel(ROW).source)


def test_it_is_said() -> None:
    report = kernel(ROW).report()
    assert "threads share the loop, each with a copy of t_2 of its own" in report


@needs_compiler
@pytest.mark.parametrize(
    ("text", "sizes"),
    [(ROW, (0, 3, 40)), *product((ROW, MATRIX), SIZES)],
    ids=lambda value: value.split("(")[0].split()[-1] if isinstance(value, str) else str(value),
)
def test_every_bit_is_the_same(text: str, sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyviz.codegen.c.SMALLEST_SHARED_WORK", 1000)
    assert "> 1000 ? omp_get_max_threads()" in shared(text).source
    expected = given(text, *sizes)
    reference(text)(*expected)
    for _ in range(2):
        actual = given(text, *sizes)
        shared(text)(*actual)
        for one, other in zip(expected, actual, strict=True):
            np.testing.assert_array_equal(one, other)
