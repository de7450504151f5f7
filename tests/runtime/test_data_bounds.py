"""Tests of subscripts are left out where nothing can fail, and only there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.data_bounds import TESTED, Standing
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.runtime.kernel import Kernel

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

COUNT = "def f(H, A):\n    for i in range(len(A)):\n        H[A[i]] += 1"
SHIFTED = """def f(B, A, w, n):
    for i in range(n):
        for c in range(n):
            if w[i] <= c:
                B[i, c] = A[c - w[i]]"""
ROWS = """def f(y, ptr, idx, x, n):
    for i in range(n):
        for p in range(ptr[i], ptr[i + 1]):
            y[i] += x[idx[p]]"""
OWN = "def f(k, n):\n    for i in range(n):\n        k[i] = k[k[i]]"


def made(text: str) -> Kernel:
    return pv.compile(function_of(text), target="c")


def standing(text: str, *arguments: Any) -> Standing:
    return made(text).bind(arguments, {}).standing


@pytest.mark.parametrize(
    ("dtype", "cells", "inside", "tested"),
    [
        (np.uint8, 256, True, False),
        (np.uint8, 255, False, True),
        (np.int8, 128, True, True),
        (np.int8, 127, False, True),
    ],
)
def test_the_type_of_an_index_tells(dtype: type[Any], cells: int, inside: bool, tested: bool) -> None:
    found = standing(COUNT, np.zeros(cells), np.zeros(100_000, dtype))
    assert (found.cannot_fail, found.needed, found.values) == (inside, tested, ())


@pytest.mark.parametrize(("cells", "inside"), [("256", True), ("255", False), ("len(y)", True), ("len(y) - 1", False)])
def test_arrays_that_the_part_makes_have_a_length_too(cells: str, inside: bool) -> None:
    text = f"""def f(A, y):
    h = np.zeros({cells}, dtype=np.int64)
    for i in range(len(A)):
        h[A[i]] += 1
    for k in range(100):
        y[k] = h[k]"""
    found = standing(text, np.zeros(100_000, np.uint8), np.zeros(256))
    assert (found.cannot_fail, found.needed) == (inside, not inside)


def test_values_tell_where_copies_would_cost_more() -> None:
    index = np.array([0, 3, 7])
    assert standing(COUNT, np.zeros(8), index) == Standing(True, False, (("A", 0, 7),))
    assert standing(COUNT, np.zeros(7), index).cannot_fail is False
    assert standing(COUNT, np.zeros(8), np.zeros(100, np.int64)) is TESTED, "more to look at than to copy"
    assert standing(COUNT, np.zeros(8), index - 8).needed, "negative ones count from the end"
    assert standing(COUNT, np.zeros(8), index[:0]) is not None


def test_a_condition_bounds_a_difference() -> None:
    def of(weights: list[int]) -> Standing:
        return standing(SHIFTED, np.zeros((3, 3)), np.zeros(3), np.array(weights), 3)

    assert (of([1, 2, 3]).cannot_fail, of([1, 2, 3]).needed) == (True, False)
    assert of([1, -1, 3]).cannot_fail is False, "A[2 + 1]"


def test_loops_between_bounds_of_data() -> None:
    def of(*pointers: int) -> bool:
        arguments = (np.zeros(600), np.array([*pointers, *[pointers[-1]] * 498]), np.array([0, 4, 2]), np.zeros(5), 500)
        return standing(ROWS, *arguments).cannot_fail

    assert of(0, 1, 3)
    assert not of(0, 1, 4), "idx has three elements"
    assert of(-3, 1, 3), "negative ones count from the end"
    assert not of(-4, 1, 3)


def test_an_array_that_the_loops_write_is_not_believed() -> None:
    kernel, values = made(OWN), np.array([1, 2, 0], np.uint8)
    assert kernel.bind((values, 3), {}).standing is TESTED
    wide = np.zeros(300, np.uint8)
    assert kernel.bind((wide, 300), {}).standing is TESTED


def test_a_failure_after_calls_without_tests_leaves_everything_as_it_was() -> None:
    kernel = made(SHIFTED)
    result, source = np.zeros((3, 3)), np.arange(3.0)
    for _ in range(2):
        kernel(result, source, np.array([1, 2, 3]), 3)
    assert "checked_index" not in kernel.source
    before = result.copy()
    with pytest.raises(pv.OutOfBoundsError, match="leaves its array"):
        kernel(result, source + 1, np.array([1, 2, -1]), 3)
    np.testing.assert_array_equal(result, before)
    assert "checked_index" in kernel.source


RESIZED = """def f(A, B):
    n = B.shape[0]
    for i in range(n):
        x = i * (A.shape[0] - 1) / n
        k = int(x)
        w = x - k
        B[i] = (1 - w) * A[k] + w * A[k + {further}]"""
NEITHER = """def f(A, B):
    k = 0
    for i in range(B.shape[0]):
        B[i] = A[k]
        k {again}"""


@pytest.mark.parametrize(("further", "inside"), [(1, True), (2, False)])
def test_places_worked_out_from_sizes_are_known_for_them(further: int, *, inside: bool) -> None:
    text = RESIZED.format(further=further)
    A, B = np.random.default_rng(1).random(40), np.zeros(70)
    assert standing(text, A, B) == (Standing(cannot_fail=True, needed=False) if inside else TESTED)
    if inside:
        kernel, expected = made(text), np.zeros(70)
        kernel(A, B)
        function_of(text)(A, expected)
        np.testing.assert_allclose(B, expected)
        assert "checked_index" not in kernel.source


@pytest.mark.parametrize("cells", [8, 9, 10])
def test_the_last_place_is_told_where_the_quotient_is_whole(cells: int) -> None:
    text = "def f(A, B):\n    for i in range(len(B)):\n        k = int(i / 2.0)\n        B[i] = A[k]"
    assert standing(text, np.ones(cells), np.zeros(19)).cannot_fail == (cells == 10)


@pytest.mark.parametrize("again", ["+= int(A[i])", "= int(A[i])", "= 1 - k"])
def test_places_that_data_or_they_themselves_decide_are_not_known(again: str) -> None:
    assert standing(NEITHER.format(again=again), np.zeros(40), np.zeros(40)) == TESTED


@pytest.mark.slow
def test_numba_tests_nothing_either_where_nothing_can_fail() -> None:
    kernel = pv.compile(function_of(COUNT), target="numba")
    counts, places = np.zeros(256, np.int64), np.array([4, 0, 4, 255] * 100, np.uint8)
    kernel(counts, places)
    assert counts[[0, 4, 255]].tolist() == [100, 200, 100]
    assert "boundscheck" not in kernel.source
    with pytest.raises(pv.errors.OutOfBoundsError):
        kernel(counts[:255], places)
    assert "boundscheck" in kernel.source
    assert counts.sum() == 400
