"""Computed factors of products and running sums: the same as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.agreement import agree

A = np.arange(9.0).reshape(3, 3) - 4
B = np.arange(9.0).reshape(3, 3) ** 2
X = np.array([1.0, -2.0, 4.0])

PRODUCTS = [
    "s = x @ (A @ x)\n    y[0] = s",
    "y[:] = (A + B) @ x",
    "y[:] = A.T @ (A @ x - x)",
    "y[0] = np.dot(x, 2.0 * x)",
    "y[0] = x.dot(x + 1.0)",
    "for t in range(3):\n        y += (A @ B) @ x",
    "if np.dot(x, A @ x) > 0.0:\n        y[0] = 1.0",
    "C = A @ B @ A\n    y[:] = C[0, :]",
]
LOOKED_THROUGH = [
    "y[0] = np.sum(A @ x) - np.max(B @ x - x)",
    "y[1] = (A @ x).max() * np.linalg.norm(A @ x)",
    "for i in range(3):\n        y[i] = np.argmin(np.sum((A - A[i]) ** 2, axis=1) + 99.0 * (x == x[i]))",
    "y[:] = np.sum(np.abs(A @ B), axis=0)",
    "for i in range(3):\n        if np.max(A @ x) > 9.0 * i:\n            y[i] += np.sum(np.max(B, axis=1))",
]
RUNNING = [
    "y[:] = np.cumsum(x)",
    "y[:] = np.cumsum(x) / np.arange(1, 4)",
    "c = x.cumsum()\n    y[:] = c",
    "y[1:] = np.cumprod(x[1:])",
    "y[:] = np.maximum.accumulate(x)",
    "for i in range(3): A[i, :] = np.cumsum(A[i, :])",
    "C = np.cumsum(np.cumsum(A[:, :], axis=0), axis=1)\n    y[:] = C[2, :]",
    "y[:] = np.cumsum(x * x - 1.0)",
]


@pytest.mark.parametrize("lines", [*PRODUCTS, *LOOKED_THROUGH, *RUNNING])
def test_what_numpy_keeps_before_it_is_used(lines: str) -> None:
    head = "def f(A: 'float64[:, :]', B: 'float64[:, :]', x: 'float64[:]', y: 'float64[:]'):"
    agree(f"{head}\n    {lines}\n    return y", A=A.copy(), B=B.copy(), x=X.copy(), y=np.zeros(3))


@pytest.mark.parametrize("line", ["d = np.diff(x)", "d = np.cumsum(np.diff(x)) * 2.0", "d = np.diff(A)"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_differences(line: str, n: int) -> None:
    x = np.arange(1.0, n + 1) ** 2
    agree(f"def f(A, x):\n    A[0, 0] += x[0]\n    {line}\n    return d", A=np.outer(x, x), x=x)


def test_a_running_sum_of_nothing_is_nothing() -> None:
    agree("def f(x):\n    c = np.cumsum(x)\n    return c", x=np.zeros(0))


@pytest.mark.parametrize("operand", ["A", "A - A", "A[:, 1:]", "A, axis=-1", "A, 0, np.float32"])
def test_a_running_sum_over_all_elements_of_a_matrix_is_refused(operand: str) -> None:
    with pytest.raises(ExtractionError, match=r"np.cumsum|2 dimensions"):
        extract(f"def f(A):\n    A[0, 0] = 1.0\n    return np.cumsum({operand})")


def test_a_cell_gets_no_names_that_it_does_not_have() -> None:
    with pytest.raises(ExtractionError, match="`@` is not supported"):
        extract("for i in range(3): y[i] = x @ (A @ x)")
