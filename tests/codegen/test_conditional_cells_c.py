"""Cells that a loop changes under conditions on data: in variables, unless the loop touches others of their array or
nobody knows that they are inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.running import agree, agree_at

if TYPE_CHECKING:
    from tests.conftest import Golden

NEAR = """
def near(x, y, fx, fy, total, cut):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            d = dx * dx + dy * dy
            total[i] += d
            if d < cut:
                s = 1.0 / (d + 0.25)
                fx[i] += s * d
                fy[i] += s
"""
GREATEST = """
def greatest(A, best, place):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > best[i]:
                best[i] = A[i, j]
                place[i] = j
"""


def test_cells_that_change_under_a_condition_are_kept_in_variables(golden: Golden) -> None:
    x, y = np.random.default_rng(1).random((2, 70))
    kernel = agree(NEAR, x, y, np.ones(70), np.zeros(70), np.zeros(70), 0.1, target="c")
    golden(kernel.source)


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 67])
def test_they_round_as_in_memory(count: int, dtype: str, contract: str) -> None:
    x, y = np.random.default_rng(1).random((2, count)).astype(dtype)
    cells = (np.ones(count, dtype), np.zeros(count, "float32"), np.zeros(count, dtype))
    agree_at(NEAR, x, y, *cells, 0.1, target="c", contract=contract)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
def test_the_condition_may_ask_for_them(dtype: str) -> None:
    A = (np.random.default_rng(1).random((9, 40)) * 200).astype(dtype)
    kernel = agree(GREATEST, A, np.zeros(9, dtype), np.full(9, -1), target="c", contract="strict")
    assert "best_value" in kernel.source
    assert "place_value" in kernel.source


NOT_KEPT = {
    "through another cell": "if A[0, k] > 0.5: y[0] += A[0, k]; if A[0, k] > 0.7: y[1] += 1.0",
    "read at another place": "if A[0, k] > 0.5: y[i] += y[k % 3]",
    "another one in each iteration": "if A[0, k] > 0.5: y[k] += 1.0",
    "where data say": "if A[0, k] > 0.5: y[int(A[i, k] * 3)] += 1.0",
    "perhaps outside": "if A[0, k] > 2.0: y[i + 60] += 1.0",
    "in loops of its own": "if A[0, k] > 0.5:| for p in range(int(A[1, k] * 3)):|  y[p] += 1.0",
}


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("body", NOT_KEPT.values(), ids=list(NOT_KEPT))
def test_other_cells_stay_in_memory(body: str, contract: str) -> None:
    lines = "".join(f"            {line}\n" for line in body.replace("|", "\n            ").split("; "))
    text = f"def f(A, y):\n    for i in range(20):\n        for k in range(A.shape[1]):\n{lines}"
    A = np.random.default_rng(1).random((20, 50))
    kernel = agree(text, A, np.ones(50), target="c", schedule="original", contract=contract)
    assert "y_value" not in kernel.source


def test_a_loop_that_does_not_run_leaves_alone_what_is_not_there() -> None:
    text = "def f(A, y):\n    for i in range(A.shape[0]):\n        for k in range(A.shape[1]):\n"
    text += "            if A[i, k] > 0.5:\n                y[i] += A[i, k]\n"
    agree(text, np.ones((50, 0)), np.ones(0), target="c")
