"""Tuples and lists of numbers that are looked up at computed places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from tests.frontend.compiled import same_compiled

GIVEN = {"x": np.arange(7.0), "k": np.array([3, 0, 2, 1, -1, -4, 3])}


def looked_up(x: Any, k: Any) -> Any:
    total = 0
    for i in range(len(x)):
        total += (-1, 1, 0, 5)[k[i]]
        x[i] += [0.5, 0.25][i % 2] * (-1, 1, 0, 5)[k[i]]
    return total


def through_a_helper(x: Any, k: Any) -> None:
    def turned(q):
        for _ in range(1):
            found = (0, 1, 2, 3)[q]
        return found

    for i in range(len(x)):
        x[i] = turned(k[i])


def over_directions(x: Any, k: Any) -> None:
    for i in range(1, len(x) - 1):
        for d in range(2):
            x[i] += x[i + (-1, 1)[d]]


@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize("function", [looked_up, through_a_helper, over_directions])
def test_the_result_of_python(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


def test_one_array_for_equal_rows() -> None:
    arrays = [array.name for array in pv.extract(looked_up).arrays]
    assert [name for name in arrays if name.startswith("row")] == ["row", "row_2"]


@pytest.mark.parametrize("row", ["(1, 2.5)", "(True, False)", "(1, n)"])
def test_other_rows_stay_refused(row: str) -> None:
    with pytest.raises(pv.ExtractionError):
        pv.extract(f"def f(x, n):\n    for i in range(len(x)):\n        x[i] = {row}[i % 2]\n")
