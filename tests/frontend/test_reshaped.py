"""Vectors in rows and arrays in one row: the elements of NumPy, also where they are stored."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, ExtractionError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled


def in_rows(x, n, m):
    A = x.reshape(n, m)
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += A[i, j] * i
        A[i, 0] = total
        A[i, -1] += 1.0
    return total


def along_columns(x, n, m):
    A = x.reshape((-1, m))
    rows, columns = A.shape
    for i in range(1, rows):
        for j in range(columns):
            A[i, j] += A[i - 1, j] + len(A)
    return x[0] + A[rows - 1, 0]


def in_blocks(x, n, m):
    blocks = x.reshape(n, m // 2, 2)
    for i in range(n):
        for j in range(m // 2):
            blocks[i, j, 1] = blocks[i, j, 0] * 2


def sums(x, n, m):
    A = x.reshape(n, m)
    column = x.reshape(-1, 1)
    return A.sum(axis=1), x.reshape(-1, 4).mean(axis=0), column * x, A @ np.ones(m)


def returned(x, n, m):
    y = x + x
    return y.reshape(n, m)


def in_one_row(x, n, m):
    A = np.outer(x, x[:3])
    v = A.flatten()
    for k in range(1, len(v)):
        v[k] += v[k - 1]
    A[0, 0] = 100.0
    w = np.zeros(A.size)
    w += A.ravel() * 2 + A.reshape(-1)
    return v, w


FUNCTIONS = [in_rows, along_columns, in_blocks, sums, returned, in_one_row]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba"])
def test_the_values_of_numpy(function, target: str) -> None:
    for kind in (np.float64, np.float32)[: 1 if function is sums else 2]:
        same_compiled(function, {"x": np.arange(1, 13).astype(kind), "n": 3, "m": 4}, target, "strict")


def test_other_sizes_are_refused_at_the_call() -> None:
    kernel = pv.compile(in_rows, target="python")
    for n, m in ((3, 5), (2, 5)):
        with pytest.raises(ArgumentError, match="sizes"):
            kernel(np.arange(12.0), n, m)
    loop = "for i in range(A.shape[0]): y[i] = A[i, 2]"
    kernel = pv.compile(f"def f(x: 'float64[:]', y):\n A = x.reshape(-1, 5)\n {loop}", target="python")
    y = np.zeros(2)
    kernel(np.arange(10.0), y)
    assert y.tolist() == [2.0, 7.0]
    with pytest.raises(ArgumentError, match="sizes"):
        kernel(np.arange(11.0), y)


def test_what_shows_elements_of_the_caller_is_returned_as_a_copy_and_that_is_said() -> None:
    text = "def f(x: 'float64[:]', n, m):\n x[0] = 1.0\n return x.reshape(n, m)"
    assert any("returns an array of its own" in note for note in extract(text).notes)
    result = pv.compile(text, target="c")(np.zeros(6), 2, 3)
    assert result.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    "body",
    [
        "A = x.reshape(n, m)\n A[:, 0] = 1.0",
        "A = x.reshape(n, m)\n x[0] = 1.0\n y[0] = A.sum()",
        "A = x.reshape(n, m)\n for i in range(n): A[i, i - 1] = 1.0",
        "A = x.reshape(n, m)\n for i in range(n): A[i, m] = 1.0",
        "A = x.reshape(-1, -1)\n y[0] = A[0, 0]",
        "A = x.reshape(n, m, order='F')\n y[0] = A[0, 0]",
        "for i in range(n):\n  A = x.reshape(n, m)\n  y[i] = A.sum()",
        "v = B.ravel()\n v[0] = 1.0\n y[0] = B[0, 0]",
        "A = B.reshape(n, m)\n y[0] = A[0, 0] + B[0, 0]",
        "B.ravel()[2] = 1.0\n y[0] = B[0, 0]",
        "x.reshape(n, m)[0, 1] = 1.0\n y[0] = x[0]",
        "B.reshape(-1)[1:] += 1.0\n y[0] = B[0, 0]",
    ],
    ids=["row stored", "changed behind", "from the end", "beyond", "two open", "other order", "in a loop",
         "elements that may be shared", "of a matrix", "stored in one row", "stored in rows", "stored in a part"],
)  # fmt: skip
def test_what_may_mean_something_else_is_refused(body: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(x: 'float64[:]', y: 'float64[:]', B: 'float64[:, :]', n, m):\n {body}")


def turned(x):
    y = x.reshape(3, 4).T
    return y * 2.0, y[1, 2]


@pytest.mark.parametrize("target", ["c", "numba"])
def test_transposed_rows_are_a_copy_where_nobody_can_tell(target: str) -> None:
    same_compiled(turned, {"x": np.arange(12.0)}, target, "strict")


@pytest.mark.parametrize("line", ["y[0, 1] = 5.0", "x[3] = 5.0"])
def test_transposed_rows_that_change_are_refused(line: str) -> None:
    with pytest.raises(ExtractionError, match=r"`\.T`") as caught:
        extract(f"def f(x, z):\n y = x.reshape(3, 4).T\n {line}\n z[0, 0] = y[0, 0]")
    assert "`x.reshape(3, 4).T.copy()`" in caught.value.hint


@pytest.mark.parametrize("shape", ["-1, 1", "(-1, 1)", "1, -1", "(1, -1)"])
@pytest.mark.parametrize("value", ["A.sum(axis=0)", "(x * 2.0)", "(A @ x)"])
def test_a_computed_vector_becomes_a_column_or_a_row(value: str, shape: str) -> None:
    text = f"def f(A: 'float64[:, :]', x: 'float64[:]'):\n    return A - {value}.reshape({shape})\n"
    names = {"np": np}
    exec(text, names)
    A, x = np.arange(9.0).reshape(3, 3), np.array([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(pv.compile(text, target="python")(A, x), names["f"](A, x))


def test_of_numpy_likewise_and_a_matrix_stays_refused() -> None:
    text = "def f(A: 'float64[:, :]', x: 'float64[:]'):\n    return np.reshape(A @ x, (-1, 1)) * 2.0\n"
    A, x = np.arange(9.0).reshape(3, 3), np.array([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(pv.compile(text, target="python")(A, x), (A @ x)[:, None] * 2.0)
    with pytest.raises(ExtractionError, match="reshape"):
        pv.extract("def f(A: 'float64[:, :]'):\n    return (A * 2.0).reshape(-1, 1)\n")
