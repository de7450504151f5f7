"""Cells in registers, sums in lanes, copies per thread: the text, and the same results whatever the arguments."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from tests.mapping.memory_programs import PROGRAMS, arguments
from tests.running import agree, copies, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = ((0, 0), (1, 1), (0, 5), (5, 0), (3, 70), (131, 67), (700, 129))
"""Empty, single, shorter than the lanes, with a remainder, and enough for several threads."""


def kernel(name: str, target: str = "c", **options: Any) -> Any:
    return pv.compile(function_of(PROGRAMS[name]), target=target, **options)


shared_kernel = cache(kernel)
"""The same for all sizes, types and layouts that it is called with."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name: str, golden: Callable[..., None]) -> None:
    golden(kernel(name).source)


def test_text_for_numba(golden: Callable[..., None]) -> None:
    golden(kernel("both_products", "numba").source)


@pytest.mark.thinned(9)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, sizes: tuple[int, int]) -> None:
    rows, columns = (min(sizes), min(sizes)) if name == "strided" else sizes
    rows = min(rows, 150) if name in ("shortest_paths", "columns") else rows
    given = arguments(name, rows, columns)
    expected, actual, strict = copies(tuple(given)), copies(tuple(given)), copies(tuple(given))
    shared_kernel(name, schedule="original", floating_point="strict", accumulate=False)(*expected)
    shared_kernel(name)(*actual)
    shared_kernel(name, floating_point="strict")(*strict)
    for one, other, same in zip(expected, actual, strict, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(same, one)


@pytest.mark.parametrize("threads", [1, 2])
def test_two_loops_add_into_different_cells_of_one_array(threads: int) -> None:
    source = """
def parts(x, A):
    n = len(A)
    for j in range(n):
        x[j % 3] += A[j]
    for k in range(n):
        x[5] += A[k]
"""
    random = np.random.default_rng(3)
    for size in (2, 200_000):
        agree(source, np.zeros(6), random.random(size), schedule="feautrier", target="c", threads=threads)


@pytest.mark.parametrize("target", ["c", pytest.param("numba", marks=pytest.mark.slow)])
def test_results_agree_with_numba(target: str) -> None:
    agree(PROGRAMS["both_products"], *arguments("both_products", 300, 201), target=target)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", ["both_products", "substitution", "two_sums"])
@pytest.mark.parametrize(("dtype", "order"), [("float32", "C"), ("float64", "F"), ("complex128", "C")])
def test_other_types_and_layouts(name: str, dtype: str, order: str) -> None:
    given = tuple(arguments(name, 90, 77, dtype, order))
    expected, actual = copies(given), copies(given)
    shared_kernel(name, schedule="original", floating_point="strict", accumulate=False)(*expected)
    shared_kernel(name)(*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-3 if dtype == "float32" else 1e-9, atol=1e-3)


def test_views_with_gaps_are_summed_on_one_thread_and_that_is_said() -> None:
    A, x, y, p, _ = arguments("both_products", 400, 200)
    wide = np.zeros(400)
    both = kernel("both_products")
    both(A, x, y, p, wide[::2])
    assert "runs on one thread: the cells of q do not lie side by side" in " ".join(both.program.notes)
    np.testing.assert_allclose(wide[::2], A.T @ y, rtol=1e-9, atol=1e-9)
    assert not wide[1::2].any()


def test_the_same_number_of_threads_gives_the_same_bits() -> None:
    given = tuple(arguments("both_products", 1500, 333))
    both = kernel("both_products")
    runs = [copies(given) for _ in range(5)]
    for run in runs:
        both(*run)
    assert all(np.array_equal(run[4], runs[0][4]) for run in runs)


def test_the_strict_contract_keeps_the_order_of_a_plan_with_copies() -> None:
    given = tuple(arguments("both_products", 600, 100))
    expected, actual = copies(given), copies(given)
    kernel("both_products", schedule="original", floating_point="strict", accumulate=False)(*expected)
    careful = kernel("both_products").with_floating_point("strict")
    careful(*actual)
    np.testing.assert_array_equal(actual[4], expected[4])
    assert "the strict contract keeps the order of sums" in " ".join(careful.program.notes)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["both_products", "substitution", "smallest"])
def test_values_that_are_no_numbers_reach_the_same_cells(name: str, value: float) -> None:
    given = arguments(name, 140, 140)
    given[0][70, 33] = value
    expected, actual = copies(tuple(given)), copies(tuple(given))
    shared_kernel(name, schedule="original", floating_point="strict", accumulate=False)(*expected)
    shared_kernel(name)(*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-6, equal_nan=True)


def test_whole_numbers_are_the_same_to_the_bit() -> None:
    random = np.random.default_rng(5)
    shapes = ((500, 130), (130,), (500,), (500,), (130,))
    given = tuple(random.integers(-(2**40), 2**40, shape) for shape in shapes)
    expected, actual = copies(given), copies(given)
    kernel("both_products", schedule="original", accumulate=False)(*expected)
    kernel("both_products")(*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(other, one)


def test_names_of_the_user_stay_his_own() -> None:
    text = """
        def f(A, x, lane, threads):
            for thread in range(A.shape[0]):
                for x_own in range(A.shape[1]):
                    lane[thread] += A[thread, x_own] * threads[x_own]
                for x_sum in range(A.shape[1]):
                    x[x_sum] += A[thread, x_sum] * lane[thread]
        """
    random = np.random.default_rng(5)
    A, x, lane, threads = (random.standard_normal(shape) for shape in ((700, 90), (90,), (700,), (90,)))
    expected = (x + A.T @ (lane + A @ threads)).copy()
    pv.compile(function_of(text), target="c")(A, x, lane, threads)
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-9)
