"""Whole numbers in narrow types: which values an operation can have, and that C computes what numba computes."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.codegen.dtypes import FLOAT64, INT16, UINT8
from polyviz.codegen.ranges import (
    EXACT_IN_DOUBLES,
    absolute_range,
    computed_range,
    joined,
    narrowest,
    range_of,
)
from tests.running import agree

NEIGHBOURS = """
    def neighbours(A, B):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                s = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] - 2 * A[i, j]
                B[i, j] = 1 if s == 3 or s * s > 50 else s
    """
DISTANCES = """
    def distances(A, B):
        for i in range(A.shape[0] - 1):
            for j in range(A.shape[1] - 1):
                x = np.int32(A[i, j + 1]) - np.int32(A[i, j])
                y = abs(x) * x - min(x, A[i + 1, j])
                B[i, j] = y * y * y
    """


def test_ranges_of_types_and_operations() -> None:
    assert range_of(UINT8) == (0, 255)
    assert range_of(FLOAT64) is None
    assert computed_range("*", (-3, 2), (-5, 4)) == (-12, 15)
    assert computed_range("*", (0, 1), None) is None
    assert computed_range("//", (0, 1), (1, 1)) is None
    assert joined([(0, 1), (-5, 0)]) == (-5, 1)
    assert joined([(0, 1), None]) is None
    assert joined([]) is None
    assert narrowest((0, 2**15 - 1)) == INT16
    assert narrowest((0, 2**15)).bits == 32
    assert narrowest((0, 2**31)).bits == 64


def test_absolute_values_are_never_negative() -> None:
    assert absolute_range((-3, 2)) == (0, 3)
    assert absolute_range((-5, -2)) == (2, 5)
    assert absolute_range((2, 5)) == (2, 5)
    assert absolute_range(None) is None


def test_up_to_its_ends_doubles_tell_whole_numbers_apart_and_beyond_they_do_not() -> None:
    low, high = EXACT_IN_DOUBLES
    assert float(low) < float(low + 1)
    assert float(high - 1) < float(high)
    assert float(high + 1) == float(high)
    assert float(low - 1) == float(low)


def cells(dtype: str) -> np.ndarray:
    """Numbers of a type, its least and its greatest among them more often than by chance."""
    limits = np.iinfo(dtype)
    random = np.random.default_rng(5)
    found = random.integers(limits.min, limits.max, (12, 40), dtype=dtype, endpoint=True)
    ends = random.choice(np.array([limits.min, limits.max, 0], dtype=dtype), found.shape)
    return np.where(random.random(found.shape) < 0.5, ends, found)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("source", [NEIGHBOURS, DISTANCES], ids=["neighbours", "distances"])
def test_values_at_the_ends_of_types(source: str, dtype: str) -> None:
    given = cells(dtype)
    agree(source, given, np.zeros(given.shape, np.int64), target="c")


@pytest.mark.parametrize(("dtype", "kept"), [("int8", "int16_t"), ("int16", "int32_t"), ("int32", "int64_t")])
def test_a_variable_is_as_wide_as_its_values(dtype: str, kept: str) -> None:
    given = cells(dtype)
    kernel = agree(NEIGHBOURS, given, np.zeros(given.shape, np.int64), target="c")
    assert f"{kept} s;" in kernel.source
