"""``return`` inside of loops."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv


def until_positive(A, n):
    for i in range(n):
        if A[i] > 0.0:
            return A, i
        A[i] = 1.0
    return A, n


@pytest.mark.parametrize("values", [[0.0, -1.0, 2.0, -3.0], [-1.0, -2.0], [3.0]])
def test_the_same_array_is_returned_from_everywhere(values) -> None:
    expected, given = np.array(values), np.array(values)
    _, place = until_positive(expected, len(values))
    found, own_place = pv.compile(until_positive)(given, len(values))
    assert np.array_equal(found, expected)
    assert own_place == place
