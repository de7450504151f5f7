"""Panels that outlast a product: packed once where a loop around the product meets the same ones again."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.toolchain import find_toolchain
from tests.blocked import blocked_kernel
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.runtime.kernel import Kernel

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

ROWS = """
    def rows(A, B, t):
        for r in range(A.shape[0]):
            for q in range(A.shape[1]):
                for p in range(A.shape[2]):
                    t[q, p] = 0.0
                    for s in range(A.shape[2]):
                        t[q, p] += A[r, q, s] * B[s, p]
                for p in range(A.shape[2]):
                    A[r, q, p] = t[q, p]
    """
OWN = ROWS.replace("B[s, p]", "B[r, s, p]")
"""Every product has columns of its own."""
CHANGED = """
    def changed(A, B, C):
        for r in range(A.shape[0]):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    for k in range(B.shape[0]):
                        C[i, j] += A[r, i, k] * B[k, j]
            for k in range(B.shape[0]):
                for j in range(B.shape[1]):
                    B[k, j] = 0.5 * C[0, j]
    """
HELD = "if (held[0] != "


def given(text: str, count: int, rows: int, columns: int) -> list[Any]:
    random = np.random.default_rng(5)
    A = random.standard_normal((count, rows, columns))
    if text == CHANGED:
        return [A, random.standard_normal((columns, columns)), np.zeros((rows, columns))]
    B = random.standard_normal((count, columns, columns) if text == OWN else (columns, columns))
    return [A, B, np.zeros((rows, columns))]


def test_text(golden: Callable[..., None]) -> None:
    golden(blocked_kernel(ROWS).source)


@pytest.mark.parametrize("text", [OWN, CHANGED], ids=["own", "changed"])
def test_panels_of_other_values_are_packed_again(text: str) -> None:
    source = blocked_kernel(text).source
    assert "_columns = " in source
    assert HELD not in source


@cache
def reference(text: str) -> Kernel:
    options = {"schedule": "original", "floating_point": "strict", "register_tile": False}
    return pv.compile(function_of(text), target="c", **options)


@cache
def held(text: str) -> Kernel:
    return blocked_kernel(text)


@pytest.mark.thinned(4)
@needs_compiler
@pytest.mark.parametrize("sizes", [(0, 3, 40), (4, 1, 40), (1, 1, 1), (5, 67, 53), (3, 9, 601)], ids=str)
@pytest.mark.parametrize("text", [ROWS, OWN, CHANGED], ids=["rows", "own", "changed"])
def test_every_bit_is_the_same(text: str, sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyviz.codegen.c.SMALLEST_SHARED_WORK", 1000)
    expected = given(text, *sizes)
    reference(text)(*expected)
    for _ in range(2):
        actual = given(text, *sizes)
        held(text)(*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(one, other)
