"""Arrays that nothing subscripts, new axes, transposed arrays and views that are returned: the same as in NumPy."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled


def gram(A):
    return A @ A.T


def gram_by_dot(A):
    return np.dot(A, A.T)


def layer(X: float64[:, :], W: float64[:, ::1], b: float64[:]):  # noqa: F821  # numba's spelling
    return np.maximum(X @ W + b, 0.0)


def outer(x, y):
    return np.outer(x, y) + 1.0


def of_pairs(x, y, C):
    C[:, :] = np.minimum(C, np.add.outer(x, y)) - np.maximum.outer(y[:], x[:])
    return np.subtract.outer(x, y) * np.multiply.outer(y, x)


def distances(x, y, C):
    C[:, :] = (x[:, None] - y[None, :]) ** 2


def differences(x, y: float64[:]):  # noqa: F821
    return x[:, np.newaxis] - y


def column(x, A):
    A[0, 0] = 2.0
    A *= x[:, None]


def transposed_in_place(A):
    A[:, :] = A.T


def copied_transposed(A):
    B = A.T.copy()
    A[0, 1] = 7.0
    return B


def turned(A):
    B = A[:, :] * 2.0
    return B.T


def tail(A):
    A[0, 0] = 1.0
    return A[:, 1:]


def row_and_whole(A):
    A[0, 0] = 1.0
    return A[1, ::-1], A


def residual(A, x, b):
    x[0] = 2.0
    r = np.empty(len(b))
    r[:] = b - A @ x
    return r @ r


def factored(A):
    L = np.zeros_like(A)
    for j in range(A.shape[0]):
        for i in range(j, A.shape[0]):
            L[i, j] = A[i, j] - np.dot(L[i, :j], L[j, :j])
    return L


WHOLE = [gram, gram_by_dot, layer, outer, of_pairs, distances, differences, column, transposed_in_place,
         copied_transposed, turned, tail, row_and_whole, residual, factored]  # fmt: skip
DATA = {
    "A": np.arange(9.0).reshape(3, 3) - 4, "X": np.arange(6.0).reshape(2, 3) - 2, "W": np.ones((3, 3)) * 2,
    "b": np.array([1.0, -2.0, 3.0]), "x": np.array([1.0, 2.0, 4.0]), "y": np.array([3.0, 5.0, -1.0]),
    "C": np.zeros((3, 3)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("function", "target", "contract"),
    [
        pytest.param(function, target, contract, id=f"{function.__name__}-{target}-{contract}")
        for place, function in enumerate(WHOLE)
        for target in ("c", "numba")
        # numba takes seconds for each: there the contracts take turns.
        for contract in (("strict", "reassociate") if target == "c" else (("strict", "reassociate")[place % 2],))
    ],
)
def test_the_values_of_numpy(function, target: str, contract: str) -> None:
    given = {name: DATA[name] for name in function.__code__.co_varnames if name in DATA}
    same_compiled(function, given, target, contract)


@pytest.mark.parametrize("function", [gram, tail, column, transposed_in_place], ids=lambda one: one.__name__)
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128"])
def test_a_view_keeps_its_type(function, dtype: str) -> None:
    given = {name: DATA[name].astype(dtype) for name in function.__code__.co_varnames if name in DATA}
    same_compiled(function, given, "c", "strict")


@pytest.mark.parametrize(
    "line", ["A[None] = A[::-1] + B[:]", "A[None, 1:] = A[:-1] + B[1:]", "A[:, None] = A[::-1, None] * B[:, None]"]
)
def test_parts_with_new_axes_are_stored_after_all_is_read(line: str) -> None:
    agree(f"def f(A, B):\n {line}", A=np.arange(5.0), B=np.array([3.0, 1.0, 4.0, 1.0, 5.0]))


def test_a_product_says_nothing_of_its_factors_alone() -> None:
    with pytest.raises(ExtractionError, match="Say how many dimensions both have"):
        extract("def f(A, B):\n return A @ B")
    for told in ("def f(A: 'float64[:, :]', B: 'f8[:]'):\n return A @ B", "def f(A, B):\n return A[:, :] @ B[:]"):
        agree(told, A=np.arange(6.0).reshape(2, 3), B=np.arange(3.0))


def test_an_array_of_other_dimensions_is_refused_at_the_call() -> None:
    with pytest.raises(pv.PolyvizError, match="1 dimension, but the loops use it with 2"):
        pv.compile(gram, target="python")(np.ones(3))
    with pytest.raises(pv.PolyvizError, match=r"W_shape_0|b_shape_0"):
        pv.compile(layer, target="python")(np.ones((2, 3)), np.ones((4, 3)), np.ones(3))


def test_a_second_name_of_a_transposed_array_shows_what_changes() -> None:
    agree("def f(A):\n B = A.T\n A[0, 1] = 9.0\n return B", A=np.arange(6.0).reshape(2, 3))


def test_what_is_returned_of_an_array_is_a_copy_and_that_is_said() -> None:
    scop = extract("def f(A):\n A[0, 0] = 1.0\n return A[:, 1:]")
    assert any("returns an array of its own" in note for note in scop.notes)
    given = np.ones((2, 3))
    found = pv.compile(tail, target="python")(given)
    found[:] = 5.0
    assert np.array_equal(given, np.ones((2, 3)))


def test_new_axes_in_sums() -> None:
    data = copy.deepcopy(DATA)
    agree("def f(x, y):\n s = np.sum(x[:, None] * y[None, :])\n return s", x=data["x"], y=data["y"])
    agree("def f(x, y):\n D = x[:, None] * y[None, :]\n s = np.sum(D)\n return s", x=data["x"], y=data["y"])


@pytest.mark.parametrize(
    "lines",
    [
        "for i in range(1, n): y[i] = np.sum(x[: i - 1])",
        "for i in range(n): y[i] = np.sum(x[n - 1 - i:])",
        "for i in range(n):\n        if i >= 3: y[i - 3:i] = x[i - 3:i]",
        "for i in range(k, n - k): y[i] = np.sum(x[i - k:i + k])",
    ],
)
def test_a_bound_that_changes_with_a_loop_is_never_negative(lines: str) -> None:
    text = f"def f(x: 'float64[:]', y, n, k):\n    y[0] = 0.0\n    {lines}"
    agree(text, x=np.arange(7.0), y=np.zeros(7), n=7, k=2)


def test_sizes_with_which_a_bound_would_count_from_the_end_are_refused_at_the_call() -> None:
    kernel = pv.compile(
        "def f(x: 'float64[:]', y, n, k):\n    for i in range(k, n - k): y[i] = np.sum(x[i - k:i + k])", target="python"
    )
    with pytest.raises(pv.PolyvizError):
        kernel(np.arange(7.0), np.zeros(7), 7, -1)


@pytest.mark.parametrize(
    "lines",
    [
        "for i in range(1, n): y[:-i] += x[i:]",
        "y[k:-k] = x[2 * k:]",
        "y[: n - k] = x[k:] - x[:-k]",
        "for i in range(n): y[i] = np.sum(x[-(i + 1):])",
        "y[0] = np.sum(x[-(n + 3):-k])",
        "y[1:] = np.sum(x[-k:])",
    ],
)
def test_a_bound_may_count_from_the_end_by_a_name(lines: str) -> None:
    text = f"def f(x: 'float64[:]', y, n, k):\n    y[0] = 0.0\n    {lines}"
    agree(text, x=np.arange(1.0, 8.0), y=np.ones(7), n=7, k=2)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("for i in range(n): y[-i:] = 3.0", "`-i` of a slice of `y` is not always negative"),
        ("for i in range(1, n): y[:1 - i] += x[i - 1:]", "is negative in some iterations"),
    ],
)
def test_a_bound_that_counts_from_either_end_in_a_loop_is_refused(lines: str, words: str) -> None:
    """For one size alone it would not; a kernel for that size is nothing that anybody asks for."""
    with pytest.raises(ExtractionError, match=words):
        extract(f"def f(x: 'float64[:]', y, n):\n    y[0] = 0.0\n    {lines}")


def test_a_distance_of_nothing_from_the_end_is_refused_at_the_call() -> None:
    kernel = pv.compile("def f(x: 'float64[:]', k):\n    x[:-k] = 0.0", target="python")
    x = np.ones(4)
    kernel(x, 1)
    assert x.tolist() == [0.0, 0.0, 0.0, 1.0]
    with pytest.raises(pv.PolyvizError, match="assume"):
        kernel(x, 0)
