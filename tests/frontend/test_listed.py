"""The largest and smallest of numbers in a list, and the limits of types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled


def of_lists(A: Any, x: float) -> float:
    s = 0.0
    for i in range(2, len(A)):
        s += max([A[i], A[i - 1]]) + min((A[i], 2, x)) + np.max([A[i], x]) + np.min(np.array([A[i], A[i - 1], 0.5]))
    return s + max([3.0])


def of_types(A: Any) -> Any:
    A[0] = np.amax((A[0], 0.1))
    return np.max([A[0], 0.1]), np.min([A[1], 7])


def not_a_number(A: Any) -> None:
    A[0] = np.max([A[1], A[2]])
    A[3] = max([A[1], A[2]])


def of_bounds(A: Any, n: int) -> None:
    for i in range(max([n, 2])):
        A[i] = i


def limits(A: Any) -> Any:
    least = np.finfo(np.float64).max
    place = np.iinfo(np.int64).max
    for i in range(len(A)):
        least = min(least, A[i])
        place = min(place, i)
    A[0] = np.finfo(np.float32).eps
    A[1] = np.finfo(float).tiny
    A[2] = np.iinfo(np.int64).min
    A[3] = np.iinfo(np.uint8).max
    return least, place


V = np.arange(6.0) - 1.5
CASES: dict[Any, list[dict[str, Any]]] = {
    of_lists: [{"A": V, "x": 0.25}, {"A": np.arange(5), "x": 3.0}],
    of_types: [{"A": V}, {"A": V.astype(np.float32)}, {"A": np.arange(4)}],
    not_a_number: [{"A": np.array([1.0, np.nan, 2.0, 3.0])}, {"A": np.array([1.0, 2.0, np.nan, 3.0])}],
    of_bounds: [{"A": V, "n": 4}],
    limits: [{"A": V}],
}


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_as_in_python(function: Any, target: str) -> None:
    for given in CASES[function]:
        same_compiled(function, given, target, "strict")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("np.max([A[0], A[1]])", "`A` has 2 dimensions but is used with 1 subscript"),
        ("np.max([A, A])", "The array `A` is used as a whole"),
        ("max([A[0, 0], *B])", "`max` takes several numbers"),
        ("np.finfo(A.dtype).max", "The attribute `.max` is not supported here"),
        ("np.finfo(np.int64).max", "The attribute `.max` is not supported here"),
    ],
)
def test_others_are_refused(value: str, message: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=message) as caught:
        extract(f"def f(A: 'float64[:, :]', B: 'float64[:]'):\n    A[0, 0] = {value}")
    assert caught.value.hint
