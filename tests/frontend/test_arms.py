"""Names that each arm of a condition gives another array, or part of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from tests.frontend.compiled import same_compiled

GIVEN = {"A": np.arange(30.0).reshape(6, 5), "B": np.arange(30.0).reshape(6, 5) % 7, "n": 3}


def rows(A: Any, B: Any, n: int) -> float:
    total = 0.0
    if n > 2:
        row = A[0, :]
        total = 1.0
    else:
        row = B[1, :]
    for j in range(5):
        total += row[j]
        row[j] = total
    return total


def back_and_forth(A: Any, B: Any, n: int) -> None:
    for t in range(n):
        if t % 2 == 0:
            old, new = A, B
        else:
            old, new = B, A
        for i in range(1, 5):
            for j in range(5):
                new[i, j] = old[i - 1, j] + old[i + 1, j]


def several(A: Any, B: Any, n: int) -> None:
    for i in range(6):
        if B[i, 0] > 4:
            row = A[i]
        elif B[i, 0] > 1:
            row = A[0]
        else:
            row = B[1, :]
        for j in range(5):
            row[j] += B[i, 0]


def with_a_first(A: Any, B: Any, n: int) -> float:
    v = A[1]
    if n > 2:
        v = A[:, 0]
    v[0] = 5.0
    return v.sum()


def chosen(A: Any, B: Any, n: int) -> float:
    source = A if n > 2 else B
    total = 0.0
    for i in range(5):
        total += source[i, 0]
    return total


def one_of_both(A: Any, B: Any, n: int) -> Any:
    A[0, 0] = B[1, 1]
    return A if n > 2 else B


FUNCTIONS = [rows, back_and_forth, several, with_a_first, chosen, one_of_both]


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_plain_python(function: Any, target: str) -> None:
    for n in (1, 3):
        same_compiled(function, {**GIVEN, "n": n}, target, "strict")


@pytest.mark.parametrize(
    "end",
    ["return row", "return row * 2.0", "x[0] = row[0]" + "\n x[1] = row[1]" * 90],
    ids=["returned", "computed", "much"],
)
def test_what_is_returned_or_long_stays_refused(end: str) -> None:
    head = "def f(A, x, n):\n if x[0] > 2:\n  row = A[0, :]\n else:\n  row = A[1, :]\n "
    with pytest.raises(ExtractionError):
        pv.extract(head + end)


@pytest.mark.parametrize("lines", ["B[0, 0] = v[0]\n  v = A[0]", "v = v[1:]"])
def test_an_arm_that_asks_for_what_was_before_stays_refused(lines: str) -> None:
    head = "def f(A: 'float64[:, :]', B: 'float64[:, :]', n):\n v = A[1]\n if n > 2:\n  "
    with pytest.raises(ExtractionError):
        pv.extract(f"{head}{lines}\n v[1] = 5.0")
