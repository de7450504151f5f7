"""Innermost loops in two parts, at the iteration where a condition on the variable changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, agree_at, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

KNAPSACK = """
def knapsack(w, v, best):
    for i in range(w.shape[0]):
        for c in range(best.shape[1]):
            best[i + 1, c] = best[i, c]
            if c >= w[i]:
                best[i + 1, c] = max(best[i, c], best[i, c - w[i]] + v[i])
"""


def test_subscripts_are_tested_at_the_ends_of_each_part(golden: Callable[..., None]) -> None:
    w, v = np.array([3, 40, 7]), np.array([4, 9, 2])
    kernel = agree(KNAPSACK, w, v, np.zeros((4, 30), "int64"), target="c")
    golden(kernel.specialise(kernel.program.types).text, "c")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64", "float64"])
def test_weights_of_every_type(dtype: str) -> None:
    w, v = np.array([0, 29, 30, 31, 100, 1, 5]).astype(dtype), np.arange(7)
    text = KNAPSACK.replace("c - w[i]]", "c - int(w[i])]") if dtype in ("uint64", "float64") else KNAPSACK
    kernel = agree(text, w, v, np.zeros((8, 30), "int64"), target="c")
    assert ("c_from" in kernel.source) == dtype.startswith("int")


COMPARED = """
def f(w, x, y):
    for i in range(w.shape[0]):
        for c in range(2, x.shape[0]):
            if {condition}:
                y[i, c] = x[c] + 1.0
            else:
                y[i, c] = x[c] * 2.0
"""
LIMITS = np.array([-9, 1, 2, 3, 11, 12, 13, 99, np.iinfo("int64").max, np.iinfo("int64").min])


@pytest.mark.thinned(4)
@pytest.mark.parametrize("count", [0, 2, 3, 13])
@pytest.mark.parametrize(
    "condition", ["c >= w[i]", "c > w[i]", "c < w[i]", "c <= w[i]", "w[i] <= c", "w[i] < c", "w[i] > c", "w[i] >= c"]
)
def test_every_iteration_is_in_its_part(condition: str, count: int) -> None:
    x = np.random.default_rng(1).random(count)
    text = COMPARED.format(condition=condition)
    kernel = agree_at(text, LIMITS, x, np.zeros((len(LIMITS), count)), target="c")
    assert "c_from" in kernel.source
    narrow = np.clip(LIMITS, -128, 127).astype("int8")
    agree_at(text, narrow, x, np.zeros((len(LIMITS), count)), target="c")


WHOLE = {
    "a limit that moves": "if c >= w[c]:\n                y[0, c] = x[c]",
    "a limit that is written": "if c >= w[i]:\n                w[i] = c\n                y[0, c] = x[c]",
    "another comparison": "if c != w[i]:\n                y[0, c] = x[c]",
    "a chain": "if 1 <= c <= w[i]:\n                y[0, c] = x[c]",
}


@pytest.mark.parametrize("body", WHOLE.values(), ids=list(WHOLE))
def test_other_loops_stay_whole(body: str) -> None:
    head = "def f(w, x, y):\n    for i in range(w.shape[0]):\n        for c in range(x.shape[0]):\n            "
    kernel = agree(head + body, np.arange(9), np.random.default_rng(1).random(9), np.zeros((9, 9)), target="c")
    assert "c_from" not in kernel.source


def test_two_conditions_make_three_parts() -> None:
    text = """
    def f(w, u, x, y):
        for i in range(w.shape[0]):
            for c in range(x.shape[0]):
                if c >= w[i]:
                    y[i, c] = x[c]
                if c < u[i]:
                    y[i, c] += 1.0
    """
    w, u = np.random.default_rng(1).integers(-3, 20, (2, 9))
    agree(text, w, u, np.random.default_rng(1).random(17), np.zeros((9, 17)), target="c")


def test_where_nothing_runs_no_limit_is_loaded() -> None:
    agree(KNAPSACK, np.zeros(0, "int64"), np.zeros(0, "int64"), np.zeros((1, 5), "int64"), target="c")
    agree(KNAPSACK, np.zeros(3, "int64"), np.zeros(3, "int64"), np.zeros((4, 0), "int64"), target="c")


def test_a_subscript_out_of_range_is_found_in_its_part() -> None:
    kernel = pv.compile(function_of(KNAPSACK), target="c")
    best = np.zeros((3, 20), "int64")
    with pytest.raises(pv.PolyvizError):
        kernel(np.array([3, -4]), np.array([1, 1]), best)
    assert not best.any()


def test_it_can_be_switched_off() -> None:
    assert "c_from" not in pv.compile(function_of(KNAPSACK), target="c", versions=False).source
