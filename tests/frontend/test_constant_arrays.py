"""Arrays around a function that it only reads are constants of it, with their element types and values of then."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled

COUNTS = np.array([1, 2, 100], dtype=np.uint8)
WEIGHTS = np.array([[0.1, -0.2], [0.3, 0.4]], dtype=np.float32)
STEPS = np.array([[-1, 0], [1, 0], [0, 1]])
TRUTHS = np.array([True, False, True])
LONG = np.arange(513.0)
COMPLEX = np.array([1j, 2.0])
HOLES = np.array([1.0, np.nan])
POINT = np.array(3.0)


def of_types(A: Any) -> Any:
    small = np.zeros_like(COUNTS)
    single = np.empty(2, dtype=WEIGHTS.dtype)
    for i in range(3):
        small[i] = COUNTS[i] + COUNTS[i]
    for i in range(2):
        single[i] = WEIGHTS[i, 1] * WEIGHTS[1, i]
    for i in range(len(TRUTHS)):
        if TRUTHS[i]:
            A[i] = A[i] * COUNTS[i] + WEIGHTS[1, 0]
    return small, single


def of_places(A: Any, B: Any) -> None:
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            for k in range(STEPS.shape[0]):
                di, dj = STEPS[k]
                B[i, j] += A[i + di, j + dj]


def weighted(x: float, k: int) -> float:
    return WEIGHTS[0, k] * x


def total(x: float) -> float:
    s = 0.0
    for k in range(3):
        s += STEPS[k, 0] * x + COUNTS[k]
    return s


def by_helpers(A: Any) -> None:
    for i in range(A.shape[0]):
        A[i] = weighted(A[i], i % 2) + total(A[i])


def as_a_whole(A: Any) -> Any:
    A[:] = np.sum(COUNTS) * A + STEPS[:, 0]
    return STEPS @ WEIGHTS


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [of_types, by_helpers, as_a_whole], ids=lambda function: function.__name__)
def test_as_in_python(function: Any, target: str) -> None:
    same_compiled(function, {"A": np.array([1.0, -2.0, 4.0])}, target, "strict")


@pytest.mark.parametrize("target", ["c", "numba"])
def test_places(target: str) -> None:
    same_compiled(of_places, {"A": np.arange(30.0).reshape(5, 6), "B": np.zeros((5, 6))}, target, "strict")


def test_values_are_those_of_now() -> None:
    table = np.array([1.0, 2.0])

    def scaled(A: Any) -> None:
        for i in range(2):
            A[i] = table[i]

    kernel = pv.compile(scaled, target="c")
    A = np.zeros(2)
    kernel(A)
    table[0] = 7.0
    kernel(A)
    assert A.tolist() == [1.0, 2.0]
    pv.compile(scaled, target="c")(A)
    assert A.tolist() == [7.0, 2.0]
    assert extract(scaled).notes == ("`table` is an array around the function, taken with its values of now.",)


def set_itself(A: Any) -> None:
    COUNTS[0] = A[0]


def set_by_another_name(A: Any) -> None:
    row = WEIGHTS[1]
    row[0] = A[0]


def added_to(A: Any) -> None:
    for i in range(2):
        STEPS[i, 0] += A[i]


def long(A: Any) -> None:
    A[0] = LONG[0]


def complex_numbers(A: Any) -> None:
    A[0] = COMPLEX[0].real


def not_finite(A: Any) -> None:
    A[0] = HOLES[0]


def without_dimensions(A: Any) -> None:
    A[0] = POINT


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (set_itself, "and is changed in it."),
        (set_by_another_name, "and is changed in it."),
        (added_to, "and is changed in it."),
        (long, "and it has 513 numbers, and 512 at most are put into the code."),
        (complex_numbers, "and it holds elements of type complex128."),
        (not_finite, "and not all of its numbers are finite."),
        (without_dimensions, "and it has no dimensions."),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_others_have_to_be_arguments(function: Any, reason: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=re.escape(reason)) as caught:
        extract(function)
    assert caught.value.hint.startswith("Make it an argument")
    assert caught.value.span is not None
