"""``np.roll``: the same as in NumPy, also of parts, of what is computed, and in place."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.agreement import agree

HEAD = "def f(A: 'float64[:, :]', B: 'float64[:, :]', x: 'float64[:]'):"
LINES = [
    "B[:] = np.roll(A, 1, axis=0) + np.roll(A, -1, axis=1)",
    "A[:] = np.roll(A, 2, axis=1) - A",
    "B += np.roll(np.roll(A, 1, 0), -1, 1)",
    "B[1:-1, :] = np.roll(A[1:-1, :], 1, axis=0)",
    "B[:] = np.roll(A * x[:], -2, axis=-1)",
    "B[0, :] = np.roll(x, 7)",
    "B[0, 0] = np.sum(x * np.roll(x, 1))",
    "x[1:] = np.roll(x[1:], 1) * 2.0",
    "B[:] = np.triu(A) - 2.0 * np.tril(A, k=-1) + np.triu(A * x[:], 1)",
    "A[1:, 1:] = np.tril(A[1:, 1:])",
    "B[0, 0] = np.sum(np.triu(A, 1)) + np.max(np.tril(A))",
    "C = np.triu(A)\n    C[0, 0] += 1.0\n    B[:] = C",
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_elements_come_from_where_they_were(line: str, n: int) -> None:
    square = np.arange(float(n * n)).reshape(n, n) ** 2
    agree(f"{HEAD}\n    {line}", A=square, B=square.T.copy(), x=np.arange(1.0, n + 1))


def test_an_axis_says_how_many_dimensions_there_are() -> None:
    agree("def f(A):\n    B = np.roll(A, 1, axis=1)\n    return B", A=np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("call", ["x", "A, m=1"])
def test_triangles_of_others_are_refused(call: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=r"`np\.triu`"):
        extract(f"{HEAD}\n    B[:] = np.triu({call})")


@pytest.mark.parametrize("call", ["A, 1", "A, (1, 1), axis=(0, 1)", "A"])
def test_what_is_rolled_otherwise_is_refused(call: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=r"`np\.roll` is not supported"):
        extract(f"def f(A, B):\n    A[0, 0] = B[0, 0]\n    B[:] = np.roll({call})")
