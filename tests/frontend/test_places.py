"""``np.argmax`` and ``np.argmin`` of vectors: the first place, as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled


def pivot(x):
    k = np.argmax(x[1:]) + 1
    x[0] = x[k]
    return k


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_the_first_place(target: str, contract: str) -> None:
    for values in ([1.0, 5.0, 5.0, 2.0], [3.0, np.nan, 9.0, np.nan], [-1.0, -1.0, -1.0, -1.0]):
        same_compiled(pivot, {"x": np.array(values)}, target, contract)


def test_in_a_cell_numpy_itself_is_no_array() -> None:
    scop = extract("best = np.argmin(np.abs(x - 1))", namespace={"np": np, "x": np.arange(3.0)})
    assert any(array.name == "best" and array.live_out for array in scop.arrays)


def test_rows_and_steps() -> None:
    def of_rows(A, x):
        x[0] = np.argmin(x[2:])
        for i in range(len(A)):
            A[i, 1] = np.argmin(A[i, ::-1]) + A[:, i].argmax()

    same_compiled(of_rows, {"A": np.arange(9.0).reshape(3, 3) % 4, "x": np.array([1.0, 2.0, 4.0, 3.0])}, "c", "strict")


def with_pivots(A, pivots):
    n = A.shape[0]
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        pivots[k] = p
        for j in range(n):
            t = A[k, j]
            A[k, j] = A[p, j]
            A[p, j] = t
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


@pytest.mark.parametrize("target", ["c", "numba"])
def test_of_what_is_computed(target: str) -> None:
    A = np.random.default_rng(5).random((7, 7)) - 0.5
    same_compiled(with_pivots, {"A": A, "pivots": np.zeros(7, np.int64)}, target, "strict")


def test_of_what_is_computed_with_several() -> None:
    def farthest(x, y):
        return np.argmax(x[:] * y[:] - 1.0), (x[1:] + y[:-1]).argmin()

    x = np.array([1.0, -4.0, np.nan, 2.0])
    for y in (np.ones(4), -np.ones(4)):
        assert pv.compile(farthest, target="python")(x, y) == farthest(x, y)


def test_of_nothing_is_refused() -> None:
    with pytest.raises(pv.PolyvizError):
        pv.compile(pivot, target="python")(np.ones(1))


def along(A, C):
    A[1, 2] = np.nan
    first = A.argmax(axis=1)
    return first, np.argmin(A * -1.0, axis=0), np.argmax(C, axis=-1), C.argmin(axis=1, keepdims=True), np.argmax(C)


def nearest(X, C):
    labels = np.empty(X.shape[0], dtype=np.int64)
    for i in range(X.shape[0]):
        labels[i] = np.argmin(np.sum((X[i] - C) ** 2, axis=1))
    return labels, np.argmin(((X[:, None] - C[None]) ** 2).sum(axis=2), axis=1), A_of(X).max(axis=0)


def A_of(X):
    return X[1:, None] * X[0]


@pytest.mark.parametrize("target", ["c", "numba"])
def test_along_an_axis(target: str) -> None:
    chosen = np.random.default_rng(3)
    C = chosen.integers(0, 3, (3, 4, 5))
    same_compiled(along, {"A": np.arange(12.0).reshape(3, 4), "C": C}, target, "strict")
    same_compiled(nearest, {"X": chosen.random((6, 3)), "C": chosen.random((4, 3))}, target, "strict")


def test_axes_without_elements_and_axes_that_are_not_there() -> None:
    kernel = pv.compile("def f(A: 'float64[:, :]'):\n return A.argmax(axis=0)")
    assert kernel(np.ones((2, 0))).shape == (0,)
    with pytest.raises(pv.PolyvizError):
        kernel(np.ones((0, 2)))
    with pytest.raises(ExtractionError):
        extract("def f(A: 'float64[:, :]'):\n return A.argmax(axis=2)")
    with pytest.raises(ExtractionError):
        extract("def f(A: 'float64[:, :]'):\n return A.argmax(axis=(0, 1))")
