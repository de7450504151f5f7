"""Copies, and arrays that are made anew in every iteration: the same result as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled

STEPS = """
un = np.ones(n)
for t in range(T):
    un = u.copy()
    for i in range(1, n):
        u[i] = un[i] - 0.25 * (un[i] - un[i - 1])
"""
COPIES = {
    "method": "B = A.copy()",
    "function": "B = np.copy(A)",
    "array": "B = np.array(A)",
    "other_type": "B = A.astype(np.int64)",
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES.keys())
def test_copy_before_the_loops(copied: str) -> None:
    text = f"def f(A):\n {copied}\n for i in range(1, len(A)):\n  A[i] = B[i - 1]\n return B"
    agree(text, A=np.arange(6.0) ** 2)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_copy_in_every_step(steps: int) -> None:
    text = """
def f(u, v, T):
    for t in range(T):
        un = u.copy()
        vn = np.copy(v)
        for i in range(1, u.shape[0]):
            for j in range(u.shape[1]):
                u[i, j] = un[i - 1, j] + vn[j]
        v[0] += u[1, 1]
"""
    agree(text, u=np.arange(12.0).reshape(3, 4), v=np.arange(4.0), T=steps)


def test_the_copy_has_as_many_dimensions_as_the_array() -> None:
    scop = extract("def f(A, n):\n B = A.copy()\n for i in range(n):\n  B[i, 0] = 1\n return B")
    assert {array.name: array.rank for array in scop.arrays} == {"A": 2, "B": 2}


@pytest.mark.parametrize("n", [3, 8])
def test_array_made_in_every_iteration(n: int) -> None:
    text = """
def f(A, n):
    for i in range(n - 5):
        total = np.ones((n - 5, 2))
        for j in range(n - 5):
            total[j, 1] += A[j] * i
        if i > 1:
            other = np.zeros_like(A)
            other[i] -= 1
            A[0] += other[i]
        for j in range(n - 5):
            A[i] += total[n - 6 - j, 1]
"""
    agree(text, A=np.arange(9.0), n=n)


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.complex128, np.bool_])
def test_the_copy_has_the_type_of_the_array(kind: Any, target: str) -> None:
    text = "def f(A):\n B = A.copy()\n for i in range(1, len(A)):\n  A[i] = B[i - 1]\n return B"
    kernel = pv.compile(text, target=target)
    array = np.arange(5).astype(kind)
    copied = kernel(array.copy())
    assert copied.dtype == kind and np.array_equal(copied, array)


@pytest.mark.parametrize("steps", [1, 4])
def test_array_made_in_a_loop_of_a_cell_stays_in_the_notebook(steps: int) -> None:
    scop = agree(STEPS, u=np.arange(6.0) ** 2, n=6, T=steps)
    assert {array.name: array.live_out for array in scop.arrays} == {"u": True, "un": True}


def test_loops_of_a_cell_that_make_an_array_have_to_run() -> None:
    kernel = pv.compile(STEPS)
    values = {"u": np.ones(5), "n": 5, "T": 0}
    with pytest.raises(ArgumentError, match=r"T > 0"):
        kernel(*(values[argument.name] for argument in kernel.scop.arguments))


@pytest.mark.parametrize(
    "text",
    [
        "def f(A, n):\n for t in range(n):\n  B = A.copy()\n  A[0] = B[1]\n return B",
        "def f(A, n):\n for t in range(n):\n  if t > 1:\n   B = A.copy()\n  A[0] = B[1]",
        "def f(A, n):\n for t in range(n):\n  B = np.zeros(t)\n  A[0] = B[1]",
        "def f(A, C, n):\n for t in range(n):\n  B = A.copy()\n  C[0] = B[1]\n  A, C = C, A\n return C[1:]",
    ],
    ids=["returned", "used_elsewhere", "other_size", "of_exchanged_names"],
)
def test_what_would_mean_something_else_stays_refused(text: str) -> None:
    with pytest.raises(UnsupportedSyntaxError):
        extract(text)


def changed_in_place(A, n):
    for j in range(n):
        column = A[:, j].copy()
        for k in range(j):
            column -= A[:, k]
        sums = np.zeros(n)
        sums += column
        sums *= 0.5
        A[:, j] = sums


@pytest.mark.parametrize("target", ["c", "numba"])
def test_what_is_made_in_a_loop_may_change_in_place(target: str) -> None:
    same_compiled(changed_in_place, {"A": np.arange(9.0).reshape(3, 3), "n": 3}, target, "strict")


def test_windows_are_as_large_wherever_they_begin() -> None:
    text = """
def f(A, W, out):
    K = W.shape[0]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            window = A[i : i + K, j : j + K].copy()
            out[i, j] = np.sum(window * W[:, :])
"""
    agree(text, A=np.arange(42.0).reshape(6, 7), W=np.arange(9.0).reshape(3, 3), out=np.zeros((4, 5)))


def made_like_what_changes(u, steps):
    for _t in range(steps):
        lap = np.zeros_like(u)
        n = len(u)
        half = n // 2 + 1
        kept = np.ones((u.shape[0], half), dtype=u.dtype)
        lap[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] - 2.0 * u[1:-1, 1:-1]
        kept[:, 0] += lap[:, 1]
        u += 0.25 * lap
        u[0, 0] += np.sum(kept)
    return u


@pytest.mark.parametrize("target", ["c", "numba"])
def test_an_array_is_as_large_as_one_whose_elements_change(target: str) -> None:
    given = {"u": np.arange(30.0).reshape(5, 6) ** 2, "steps": 3}
    same_compiled(made_like_what_changes, given, target, "strict")


@pytest.mark.parametrize(
    "text",
    [
        "def f(A, n):\n for i in range(n):\n  k = i\n  B = np.zeros(k)\n  A[0] += np.sum(B)",
        "def f(A, n):\n for i in range(n):\n  n = n + 1\n  B = np.zeros(n)\n  A[0] += np.sum(B)",
        "def f(A, s, n):\n for i in range(n):\n  k = s[i]\n  B = np.zeros(k)\n  A[0] += np.sum(B)",
    ],
)
def test_what_is_not_as_large_each_time_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match="made inside a loop"):
        extract(text)
