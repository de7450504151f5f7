"""Names for shapes, and shapes that are compared as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled

A = np.arange(12.0).reshape(3, 4)


def by_name(A: Any) -> Any:
    s = A.shape
    n, m = s
    B = np.zeros(s)
    for i in range(s[0]):
        for j in range(m):
            B[i, j] = A[i, j] + len(s) + s[-1] + n
    assert B.shape == (n, m)
    return B


def compared(A: Any, B: Any, n: int) -> None:
    assert A.shape == (n, B.shape[1])
    if A.shape != B.shape:
        raise ValueError("shapes differ")
    for i in range(n):
        for j in range(B.shape[1]):
            A[i, j] += B[i, j]


def of_types(A: Any) -> Any:
    kind = np.float32
    whole = int
    other = np.int16
    B = np.zeros(A.shape, dtype=kind)
    C = np.empty(A.shape[0], whole)
    for i in range(A.shape[0]):
        C[i] = other(A[i, 1]) + kind(0.5) * 4
        for j in range(A.shape[1]):
            B[i, j] = A[i, j] / 3
    return B, C, A.astype(kind)


def of_columns(A: Any) -> Any:
    s = 0.0
    for i in range(len(A[:, 0])):
        for j in range(len(A[1, :])):
            s += A[i, j] * A[0, :].shape[0] + len(A[0])
    return s


@pytest.mark.parametrize("target", ["c", "numba"])
def test_types_and_lengths_of_columns(target: str) -> None:
    same_compiled(of_types, {"A": A}, target, "strict")
    same_compiled(of_columns, {"A": A}, target, "strict")


@pytest.mark.parametrize("target", ["c", "numba"])
def test_as_in_python(target: str) -> None:
    same_compiled(by_name, {"A": A}, target, "strict")
    same_compiled(compared, {"A": A, "B": A + 1, "n": 3}, target, "strict")


def test_other_sizes_are_refused_before_anything_is_changed() -> None:
    kernel = pv.compile(compared, target="c")
    for other, n in ((np.ones((4, 4)), 3), (np.ones((3, 4)), 4)):
        mine = A.copy()
        with pytest.raises(ArgumentError, match="these sizes are not what the loops assume"):
            kernel(mine, other, n)
        assert np.array_equal(mine, A)


def test_comparison_says_how_many_dimensions_there_are() -> None:
    scop = extract("def f(A, n):\n    assert (n, 3) == A.shape\n    A[:] = 0")
    assert [array.rank for array in scop.arrays] == [2]


@pytest.mark.parametrize("columns", [4, 3])
def test_shapes_choose(columns: int) -> None:
    text = """def f(A, B):
    if A.shape == B.shape:
        for i in range(A.shape[0]):
            A[i, 0] += B[i, 0]
    else:
        A[0, 0] = -1"""
    agree(text, A=A, B=np.ones((3, columns)))


def sizes(A, n):
    half, width = n // 2, A.shape[1]
    shape = (A.shape[0], len(A) + n)
    few = (half, 3)
    kind = A.dtype
    padded = (A.shape[0] + 2, width + 3)
    B = np.zeros(padded, dtype=kind)
    rows, columns = padded
    for i in range(shape[0]):
        for j in range(A.shape[1]):
            B[i + 1, j] = A[i, j] * shape[1] + few[-2]
    B[rows - 1, columns - 1] = len(padded)
    return B


@pytest.mark.parametrize("target", ["c", "numba"])
def test_tuples_of_sizes_have_names(target: str) -> None:
    for kind in (np.float64, np.int64):
        same_compiled(sizes, {"A": np.arange(12).reshape(3, 4).astype(kind), "n": 5}, target, "strict")


@pytest.mark.parametrize(
    "body",
    [
        "s = (n, 2)\n n = 3\n A[0] = s[0]",
        "s = (n, 2)\n n += 3\n A[0] = s[0]",
        "k = 1\n s = (k, n)\n for i in range(n): k += 1\n A[0] = s[0]",
        "for i in range(n):\n  s = (i, 2)\n  A[i] = s[0]",
        "s = (A[0], 2)\n A[0] = s[1]\n A[1] = s[0]",
    ],
)
def test_tuples_of_what_changes_keep_their_values(body: str) -> None:
    agree(f"def f(A, n):\n {body}", A=np.arange(1.0, 6.0), n=4)
