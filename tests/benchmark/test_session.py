"""Everybody in a race works on equal data at the same place of a cache line."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.benchmark.session import LINE, OFFSET, placed


@pytest.mark.parametrize("shape", [(1,), (7,), (5, 3), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_copies_begin_at_one_place_of_a_cache_line(shape: tuple[int, ...], dtype: str) -> None:
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for _ in range(5):
        copy = placed(array)
        assert copy.ctypes.data % LINE == OFFSET
        assert copy.flags.c_contiguous
        assert copy.dtype == array.dtype
        np.testing.assert_array_equal(copy, array)
        copy[...] = 0
        assert array.any() == (array.size > 1)


def test_numbers_and_arrays_without_elements_are_copied_as_they_are() -> None:
    assert placed(2.5) == 2.5
    assert placed(np.zeros((0, 3))).shape == (0, 3)
    assert placed(np.asarray(3.0))[()] == 3.0
