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
    ["x[k] = 1.0", "x[k] += 1.0", "y = A[k]", "y = x[m]", "y = x[k > m]", "y = x[k & m]"],
    ids=["set", "added", "rows", "unknown", "mask", "bits"],
)
def test_other_uses_stay_refused(line: str) -> None:
    text = f"def f(A, x, m, k: 'int64[:]'):\n A[0, 0] = m[0] = x[0] = 1\n {line}\n x[0] = y[0]"
    with pytest.raises(PolyvizError):
        pv.extract(text.removesuffix("\n x[0] = y[0]") if "y" not in line else text)
