"""Conditions on data that several statements have in common are asked once, where nothing in between changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.running import agree

if TYPE_CHECKING:
    from tests.conftest import Golden

WINDOW = """
def window(A, mask, y):
    for i in range(1, A.shape[0] - 1):
        if mask[i] > 0.5:
            continue
        total = 0.0
        count = 0
        for j in range(-1, 2):
            for k in range(A.shape[1]):
                total += A[i + j, k]
            count += 1
        y[i] = total / count
"""


def test_a_condition_that_holds_for_all_is_asked_once(golden: Golden) -> None:
    A, mask = np.random.default_rng(1).random((12, 7)), np.random.default_rng(2).random(12)
    kernel = agree(WINDOW, A, mask, np.zeros(12), target="c", schedule="original")
    golden(kernel.source)


SPREAD = """
def spread(A, table, out):
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            here = A[i, j]
            if here:
                for p in range(-1, 2):
                    for q in range(-1, 2):
                        if table[p + 1, q + 1] == 1:
                            out[i + p, j + q] = True
"""


def test_before_the_loops_inside_and_before_their_own_condition() -> None:
    A = np.random.default_rng(1).random((9, 12)) < 0.2
    kernel = agree(SPREAD, A, np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]), np.zeros((9, 12), bool), target="c")
    lines = [line.strip() for line in kernel.source.splitlines()]
    asked = lines.index("if (here) {")
    assert lines[asked + 1].startswith("for (int64_t p")


CHANGED = {
    "by a statement between": "if m[i] > 0.5: y[i] += 1.0; if A[i, 0] > 0.5: m[i] = 0.25; if m[i] > 0.5: y[i] += 2.0",
    "by the first under it": "if m[i] > 0.5: m[i] = 0.25; if m[i] > 0.5: y[i] += 2.0",
    "in a loop under it": "if m[i] > 0.5:|    for j in range(5):|        y[i] += A[i, j]|        m[i] = A[i, j]",
    "through another name of its place": "if m[i] > 0.5: m[i // 2] = 0.25; if m[i] > 0.5: y[i] += 2.0",
    "by the loop's own variable": "for j in range(5):|    if A[i, j] > 0.5:|        y[i] += 1.0|        m[i] = y[i]",
}


@pytest.mark.parametrize("body", CHANGED.values(), ids=list(CHANGED))
def test_a_condition_that_changes_is_asked_again(body: str) -> None:
    lines = "".join(f"        {line}\n" for line in body.replace("|", "\n        ").split("; "))
    A, m = np.random.default_rng(1).random((20, 5)), np.random.default_rng(2).random(20)
    agree(f"def f(A, m, y):\n    for i in range(20):\n{lines}", A, m, np.ones(20), target="c", schedule="original")


EMPTY = """
def f(A, m, y, n):
    for i in range(n):
        for j in range(A.shape[1]):
            if m[i] > 0.5:
                y[i] += A[i, j]
"""


@pytest.mark.parametrize("columns", [0, 1, 4])
def test_where_a_loop_is_empty_its_condition_is_not_asked(columns: int) -> None:
    m = np.random.default_rng(2).random(6)
    kernel = agree(EMPTY, np.ones((6, columns)), m, np.zeros(6), 6, target="c", schedule="original")
    assert "if (0 < A_shape_1 && m[i] > 0.5) {" in kernel.source


SUMS = """
def f(A, m, keep):
    total = 0.0
    for i in range(A.shape[0]):
        if m[i] > 0.5:
            for j in range(A.shape[1]):
                if keep[j]:
                    total += A[i, j]
    return total
"""


@pytest.mark.parametrize(
    ("target", "dtype"),
    [*((target, dtype) for target in ("c", "numba") for dtype in (np.float32, np.int32)), ("python", np.float64)],
)
def test_the_first_condition_of_a_sum_is_asked_around_its_loop(target: str, dtype: type) -> None:
    m, keep = np.random.default_rng(2).random(6), np.random.default_rng(3).random(9) > 0.5
    A = np.arange(54).reshape(6, 9).astype(dtype)
    kernel = agree(SUMS, A, m, keep, target=target)
    asked, *below = [line for line in kernel.source.splitlines() if "0.5" in line and "line" not in line]
    assert asked.strip().startswith("if ")
    assert "A_shape_1" in asked
    assert below == []


ALTERNATIVES = """
def f(m, y, z):
    for i in range(m.shape[0]):
        if m[i] > 0.5:
            y[i] = 1.0
        else:
            y[i] = 2.0
        if m[i] > 0.25:
            z[i] = 1.0
"""


def test_other_conditions_and_alternatives_stay_by_themselves() -> None:
    m = np.random.default_rng(2).random(30)
    kernel = agree(ALTERNATIVES, m, np.zeros(30), np.zeros(30), target="c", schedule="original")
    assert kernel.source.count("if (m[i]") == 2
