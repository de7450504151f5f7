"""Slices that go beyond their array end with it, as for NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import OutOfBoundsError
from polyviz.frontend import extract
from tests.frontend.agreement import agree

LINES = [
    "y[: n + 5] = x[: n + 5] * 2.0",
    "y[1 : len(y) + 1] += x[: n - 1]",
    "for i in range(n): y[i] = np.sum(x[max(0, i - 2) : i + 3])",
    "for i in range(n): y[i] = np.max(x[i : i + w])",
    "for b in range(0, n, 4): y[b : b + 4] = x[b : b + 4] * 2.0",
    "for b in range(0, n, 3): y[0] += x[b : b + 3] @ x[b : b + 3]",
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_elements_that_numpy_takes(line: str, n: int) -> None:
    scop = agree(f"def f(x, y, w):\n    n = len(x)\n    {line}", x=np.arange(1.0, n + 1), y=np.ones(n), w=3)
    assert any("ends where the array ends" in note for note in scop.notes)


def test_the_lines_that_are_read_again_are_those_of_the_text() -> None:
    text = """
def f(x, A, y):
    n, m = A.shape
    for p in np.ndindex(A.shape):
        A[p] += p[0]
    for k in range(A.size):
        A.flat[k] *= 2.0
    y[0] = np.trace(A @ A)
    y[1 : len(y) + 1] += x[: len(y) - 1]
"""
    scop = agree(text, x=np.arange(4.0), A=np.ones((3, 3)), y=np.ones(4))
    assert any("ends where the array ends" in note for note in scop.notes)


@pytest.mark.parametrize("stop", ["len(y) - 1", "y.size - 1"])
def test_the_length_of_what_is_stored_is_no_element_of_it(stop: str) -> None:
    agree(f"def f(y):\n    y[1 : {stop}] = y[2:] - y[:-2]", y=np.arange(6.0) ** 2)


def test_windows_of_nothing_ask_for_nothing() -> None:
    scop = extract("def f(x, w):\n    n = len(x)\n    for i in range(n): x[i] = np.sum(x[i : i + w])")
    assert "n > 0" not in str(scop.context)


def test_what_may_lie_inside_is_read_as_it_stands() -> None:
    scop = extract("def f(x, y, n):\n    y[:n] = x[:n]\n    for i in range(len(x) - 2): y[i] = np.sum(x[i : i + 3])")
    assert not any("ends where the array ends" in note for note in scop.notes)


def test_elements_beyond_the_array_are_refused_beside_a_slice() -> None:
    with pytest.raises(OutOfBoundsError, match=r"x\[i \+ 1\]"):
        extract("def f(x, y):\n    n = len(x)\n    for i in range(n): y[i] = x[i + 1] + np.sum(x[:i])")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
def test_parts_without_the_edges_ask_for_arrays_of_one_size(n: int) -> None:
    text = "def f(A, B):\n    A[1:-1, 2:] = B[1:-1, 2:] + B[:-2, 1:-1]"
    scop = agree(text, A=np.ones((n, 4)), B=np.arange(4.0 * n).reshape(n, 4))
    one_case = "A_shape_0 = B_shape_0 and A_shape_1 = B_shape_1 and B_shape_0 >= 0 and B_shape_1 >= 0 }"
    assert str(scop.context).endswith(one_case)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
def test_parts_of_other_sizes_may_be_of_nothing(n: int) -> None:
    agree("def f(x, y):\n    y[:] = x[2:] - x[:-2]", x=np.arange(n) ** 2.0, y=np.ones(max(0, n - 2)))
