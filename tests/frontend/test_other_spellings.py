"""Two ways to write one thing: both are read, and do the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled

A = np.arange(12.0).reshape(3, 4)


def of_shapes(A: Any, x: Any) -> Any:
    n, m = np.shape(A)
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += A[i, j] * np.ndim(A)
    return s + np.size(x) + np.shape(x)[0]


def of_a_row(A: Any, x: Any) -> Any:
    sums = np.zeros(A[0].shape[0])
    for i in range(len(A)):
        for j in range(A[-1].shape[0]):
            sums[j] += A[i, j]
    return sums


def filled(A: Any, x: Any) -> None:
    A.fill(2)
    x.fill(x.shape[0] + 0.5)
    for i in range(len(x)):
        A[i, 0] += x[i]


def written_out(A: Any, x: Any) -> None:
    np.add(A[1:, :], A[:-1, :], out=A[1:, :])
    np.multiply(A, 2.0, A)
    for i in range(A.shape[0]):
        row = A[i]
        np.maximum(row, 3.0, out=row)
        np.sqrt(A[:, 1], out=A[:, 0])


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [of_shapes, of_a_row, filled, written_out], ids=lambda function: function.__name__)
def test_as_in_python(function: Any, target: str) -> None:
    same_compiled(function, {"A": A, "x": np.ones(3)}, target, "strict")


def test_shape_of_what_is_chosen_by_an_array_stays() -> None:
    with pytest.raises(UnsupportedSyntaxError):
        extract("def f(A, k, s):\n    for i in range(len(k)):\n        s[i] = A[k].shape[0]")


def test_quotient_and_rest_at_once() -> None:
    text = "def f(x, A, n):\n    for k in range(n):\n        i, j = divmod(k, 4)\n        q, A[i, j] = divmod(x[k], 3)"
    agree(text + "\n        x[k] = q", x=np.arange(12) - 5, A=np.zeros((3, 4), dtype=np.int64), n=12)
    own = "def divmod(a, b): return a + b\ndef f(x):\n    x[0] = divmod(x[1], x[2])"
    agree(own, x=np.arange(3))


@pytest.mark.parametrize("out", ["A[k]", "B[k, :]", "x[0]", "made()"])
def test_what_may_be_written_into_a_copy_stays_refused(out: str) -> None:
    """``k`` may hold places: then NumPy writes into an array that is made for it."""
    with pytest.raises(UnsupportedSyntaxError, match=r"np.add|numpy.add") as raised:
        extract(f"def f(A: 'float64[:]', B: 'float64[:, :]', x: 'float64[:]', k):\n    np.add(x, x, out={out})")
    assert "`C[:] = ...`" in str(raised.value)
