"""Arrays of places as subscripts: the elements that NumPy gives, in an array of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import CodegenError, OutOfBoundsError, PolyvizError
from tests.frontend.compiled import same_compiled

PLACES = np.array([3, 0, 1, 4, 2])
GIVEN = {"A": np.arange(25.0).reshape(5, 5) % 7, "x": np.arange(5.0) ** 2, "k": PLACES}


def in_place(A: Any, x: Any, k: Any) -> None:
    x[:] = x[k]
    for t in range(3):
        x[:] = x[k] * 0.5 + x
        A[t, :] += x[k[::-1]]


def a_copy(A: Any, x: Any, k: Any) -> Any:
    z = x[k]
    z[0] = 9.0
    total = 0.0
    for i in range(len(z)):
        total += z[i] * k[i]
    return z, total


def pairs(A: Any, x: Any, k: Any) -> Any:
    n = len(x)
    after = np.zeros(n, dtype=np.int64)
    for i in range(n):
        after[i] = (3 * i + 1) % n
        x[i] += np.sum(A[i, k[1:]])
    return A[k, after], A[k, 2], x[after] @ x[k], A[after, k] + x


def computed(A: Any, x: Any, k: Any) -> Any:
    again = (k + 1) % 5
    return x[again] - x[k], x[k[1:]] - x[k[:-1]], np.max(x[k] * 2.0), np.argmin(x[-k]), x[np.arange(3) + 1]


def in_rows(A: Any, x: Any, k: Any) -> Any:
    y = np.zeros(2)
    for i in range(2):
        columns = k[i : i + 3]
        y[i] = np.sum(A[0, i : i + 3] * x[columns]) + x[i : i + 3] @ x[columns]
    return y


def chosen_again(A: Any, x: Any, k: Any) -> Any:
    back = np.empty_like(k)
    for i in range(len(k)):
        back[k[i]] = i
    total = 0.0
    for i in range(3):
        total += x[k][i] * x[k[1:]][i]
    return x[k][back], total, np.concatenate((x[k], x[(k + 1) % 5] * 2.0, [x[0]]))


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize(
    "function", [in_place, a_copy, pairs, computed, in_rows, chosen_again], ids=lambda function: function.__name__
)
def test_as_numpy_does_it(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


def of_tables(table: Any, image: Any) -> Any:
    return table[image]


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.int64])
def test_places_of_every_type_of_whole_numbers(kind: Any) -> None:
    image = np.arange(12).reshape(3, 4).astype(kind) % 5
    same_compiled(of_tables, {"table": np.arange(5.0) + 0.5, "image": image}, "c", "strict")
    same_compiled(of_tables, {"table": np.arange(5.0) + 0.5, "image": -1 - image.astype(int)}, "c", "strict")


def chosen(x: Any, m: Any) -> Any:
    return x[m].sum()


def test_each_call_says_whether_they_are_places() -> None:
    kernel, x = pv.compile(chosen), np.arange(5.0)
    for _ in range(2):
        assert kernel(x, PLACES[:2]) == 3.0
        assert kernel(x, x > 2.5) == 7.0


def test_places_outside_and_other_types_are_refused() -> None:
    kernel = pv.compile("def f(x, k: 'int64[:]'):\n x[:] = x[k] + 1.0")
    x = np.arange(5.0)
    with pytest.raises(OutOfBoundsError):
        kernel(x, PLACES + 1)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(CodegenError, match="whole number"):
        kernel(x, PLACES * 1.0)


@pytest.mark.parametrize(
    "line",
    ["y = x[m]", "y = x[k > m]", "y = x[k & m]", "x[m] = 1.0", "x[m] += 1.0"],
    ids=["unknown", "mask", "bits", "set", "added"],
)
def test_other_uses_stay_refused(line: str) -> None:
    text = f"def f(A, x, m, k: 'int64[:]'):\n A[0, 0] = m[0] = x[0] = 1\n {line}\n x[0] = y[0]"
    with pytest.raises(PolyvizError):
        pv.extract(text.removesuffix("\n x[0] = y[0]") if "y" not in line else text)


ROWS = {"A": np.arange(30.0).reshape(6, 5), "i": np.array([2, 0, -4, 2]), "v": np.array([1.0, 2.0, 3.0, 4.0])}


def stored(A: Any, i: Any, v: Any) -> None:
    A[0, i] = v
    A[1, i] += v  # a place that is there twice counts once
    A[2, i] *= 2
    A[3][i] = A[3, i[::-1]] + 1
    for row in range(4, 6):
        A[row, i[row - 4 :]] += row


def stored_rows(A: Any, i: Any, v: Any) -> None:
    A[i] = A[i, ::-1] * 2.0
    A[:, i] += v
    A[i, 1:3] = A[i, 2:4]
    A[i, i] = v
    A[i[:, None], i[None, :]] -= 1.0
    A[i] += A[0]


def rows(A: Any, i: Any, v: Any) -> Any:
    B = A[i]
    B[0] = 9.0
    return B, A[i, 1:3] * 2.0, A[:, i], A[i].sum(axis=0), A[i, :].max(), A[i] @ A[0], np.sum(A[i] * v[:, None], axis=1)


def apart(C: Any, i: Any, j: Any, B: Any) -> Any:
    C[i, :, j] = B
    C[:, i, 1:3] += 7.0
    return C[i, :, j], C[0, :, j] * 2.0, C[0][:, j] * 2.0, C[:, i, 1:], C[i, j], C[i, j, 1]


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [stored, stored_rows, rows], ids=lambda function: function.__name__)
def test_rows_and_what_is_stored(function: Any, target: str) -> None:
    same_compiled(function, ROWS, target, "strict")
    turned = {**ROWS, "A": np.asfortranarray(ROWS["A"])}
    same_compiled(function, turned, target, "strict")
    if function is not rows:
        same_compiled(function, {**ROWS, "i": ROWS["i"][:0], "v": ROWS["v"][:0]}, target, "strict")


@pytest.mark.parametrize("target", ["c", "numba"])
def test_places_with_slices_between_come_first(target: str) -> None:
    i, j = np.array([0, 2, 1]), np.array([3, 1, 1])
    given = {"C": np.arange(60.0).reshape(3, 4, 5), "i": i, "j": j, "B": np.arange(12.0).reshape(3, 4)}
    same_compiled(apart, given, target, "strict")


def test_wrong_shapes_and_places_outside_change_nothing() -> None:
    kernel = pv.compile("def f(A: 'float64[:, :]', i: 'int64[:]', B: 'float64[:, :]'):\n A[i] = B")
    A = np.zeros((3, 2))
    for places, shape in (([0, 3], (2, 2)), ([0], (2, 2)), ([0], (1, 3))):
        with pytest.raises(PolyvizError):
            kernel(A, np.array(places), np.ones(shape))
    assert not A.any()


@pytest.mark.parametrize(
    ("line", "message"),
    [("p[p] = 0", "depends on elements of `p`"), ("p[np.arange(n) * 2] += 1", "computed places")],
)
def test_what_is_not_stored_says_why(line: str, message: str) -> None:
    with pytest.raises(PolyvizError, match=message):
        pv.extract(f"def f(p: 'int64[:]', n):\n {line}")


def test_in_a_cell_no_further_name_is_left() -> None:
    namespace = {"x": np.arange(4.0), "k": np.array([1, 1, 3])}
    scop = pv.extract("x[k] += x[k - 1]", namespace=namespace)
    assert {array.name for array in scop.arrays if array.live_out} == {"x"}


def of_computed(A: Any, i: Any, v: Any) -> Any:
    best = np.argmax(A[:4], axis=1)
    low = np.floor(v * 0.9).astype(np.int64)
    near = np.where(low > 2, 2, low)
    return A[np.arange(A.shape[0] - 2), best], A[low, i] * v + A[near, 0], A[best]


@pytest.mark.parametrize("target", ["c", "numba"])
def test_what_is_computed_of_whole_numbers_is_places(target: str) -> None:
    same_compiled(of_computed, ROWS, target, "strict")
