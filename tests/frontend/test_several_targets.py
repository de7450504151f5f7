"""Assignments with several targets: the same as in NumPy, which computes the value once."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.frontend.agreement import agree


@pytest.mark.parametrize(
    "line",
    [
        "x[:] = y[:] = 0.0",
        "A[:, 0] = A[0, :] = x[:] * 0.5",
        "for i in range(4): A[i:4, i] = A[i, i:4] = B[:, i] @ B[:, i:4]",
        "A[1] = y[:] = A[2] = np.sqrt(x)",
        "A[0, :] = n[:] = x[:] + 0.5",
        "A[0], A[1] = x, y[:] * 2",
        "A[0, :], y[:], x[0] = A[1, :] + x, B[:, 0], 3.0",
        "for i in range(3): y[i:], A[i], n[i] = x[i:], B[:, i], i",
    ],
)
def test_one_target_after_the_other(line: str) -> None:
    text = f"x[0] = 1.0\ny[0] = 1.0\nA[0, 0] = 1.0\nB[0, 0] = 1.0\nn[0] = 1\n{line}"
    arrays = {"A": np.arange(16.0).reshape(4, 4), "B": np.arange(16.0).reshape(4, 4) % 5}
    agree(text, **arrays, x=np.arange(4.0), y=np.ones(4), n=np.zeros(4, np.int64))


@pytest.mark.parametrize("line", ["x[:] = y[:] = x[::-1] + 1.0", "A[:, 0] = A[0] = A[1]", "n[:] = y[n[0] :] = 2"])
def test_what_a_later_one_would_see_is_refused(line: str) -> None:
    text = f"def f(x, y, A, n):\n    A[0, 0] = x[0] = y[0] = n[0] = 1\n    {line}"
    with pytest.raises(pv.UnsupportedSyntaxError, match="assigned at once"):
        pv.extract(text)


@pytest.mark.parametrize(
    "line",
    ["A[0], A[1] = A[1], A[0]", "A[0, :], A[1, :] = A[1, :].copy(), A[0, :].copy()", "x[:], y[x[0]:] = y, y * 2",
     "x[:], y[:] = y, x[::-1]"],
)  # fmt: skip
def test_rows_that_change_places_are_refused(line: str) -> None:
    text = f"def f(x, y, A):\n    A[0, 0] = x[0] = y[0] = 1\n    {line}"
    with pytest.raises(pv.UnsupportedSyntaxError, match="no copy for NumPy"):
        pv.extract(text)


@pytest.mark.parametrize("line", ["rows, columns = n // 2, m - 1", "rows, columns = n, m", "rows, columns = 2, len(x)"])
def test_sizes_get_names_side_by_side(line: str) -> None:
    text = f"""
def f(x, n, m):
    {line}
    out = np.zeros(rows * columns)
    for i in range(rows):
        for j in range(columns):
            out[i * columns + j] = x[j] + i
    return out
"""
    agree(text, x=np.arange(6.0), n=5, m=4)
