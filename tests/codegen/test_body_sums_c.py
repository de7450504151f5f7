"""Sums of whole statements in lanes: what is printed, and that every cell is added once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

SOLVER = """
    def f(A, x, y, limit):
        for lane in range(2):
            for i in range(y.shape[0]):
                s = 0.0
                for j in range(x.shape[0]):
                    s += A[i, j] * x[j]
                y[i] = s
            total = 0.0
            weight = 1.0
            for j in range(1, y.shape[0]):
                total -= y[j] * lane
                weight += y[j]
            y[0] = total * weight
            if total < limit:
                break
    """


def arguments(rows: int, columns: int, dtype: str) -> tuple[object, ...]:
    random = np.random.default_rng(rows + columns)
    arrays = (random.random((rows, columns)), random.random(columns), random.random(rows))
    return *(array.astype(dtype) for array in arrays), -1e9


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 0), (1, 1), (3, 63), (65, 64), (70, 65), (200, 131)])
def test_every_cell_is_added_once(rows: int, columns: int, dtype: str) -> None:
    kernel = agree(SOLVER, *arguments(rows, columns, dtype), target="c")
    assert "s_lanes[32]" in kernel.source


def test_text(golden: Callable[..., None]) -> None:
    kernel = pv.compile(function_of(SOLVER), target="c")
    types = kernel.bind(arguments(5, 5, "float64"), {}).types
    golden(kernel.specialise(types).text.partition("int64_t kernel_")[2], "c")


def test_whole_numbers_are_added_one_by_one() -> None:
    ones = np.ones((5, 70), np.int64), np.ones(70, np.int64), np.zeros(5, np.int64), -5
    kernel = agree(SOLVER.replace("0.0", "0").replace("1.0", "1"), *ones, target="c")
    assert "_lanes[" not in kernel.source


def test_subscripts_that_are_tested_on_the_way_keep_their_order() -> None:
    text = SOLVER.replace("range(x.shape[0])", "range(k[0])").replace("limit):", "limit, k):")
    values = *arguments(5, 80, "float64"), np.array([80])
    kernel = pv.compile(function_of(text), target="c")
    tested = kernel.specialise(kernel.bind(values, {}).types).text
    assert "s += A[checked_index(i, " in tested
    assert "s_lanes[" not in tested
    agree(text, *values, target="c")
