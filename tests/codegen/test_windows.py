"""Cells of windows: counted from the start of a strip, where a compiler makes vectors of them."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv

AVERAGE = """\
def average(x, y, k):
    for i in range(x.shape[0] - k + 1):
        s = 0.0
        for j in range(k):
            s += x[i + j]
        y[i] = s / k
"""
FROM_SEVEN = AVERAGE.replace("range(x.shape[0] - k + 1)", "range(7, x.shape[0] - k + 1)")


@pytest.mark.parametrize("text", [AVERAGE, FROM_SEVEN], ids=["from zero", "from seven"])
@pytest.mark.parametrize("size", [8, 63, 64, 65, 300])
def test_averages_are_right(text: str, size: int) -> None:
    x, y = np.random.default_rng(size).random(size), np.zeros(size)
    pv.compile(text, target="c")(x, y, 5)
    expected = np.zeros(size)
    for i in range(7 if text is FROM_SEVEN else 0, size - 4):
        expected[i] = x[i : i + 5].sum() / 5
    np.testing.assert_allclose(y, expected)


def test_cells_count_from_the_start_of_a_strip() -> None:
    source = pv.compile(AVERAGE, target="c").source
    assert "s[i - i_tile] += x[i + j];" in source
    assert "& 63" not in source


ROLLING = """\
def rolling(x, y, k):
    for i in range(k + 1, x.shape[0]):
        high = x[i - k]
        for j in range(i - k + 1, i):
            if x[j] > high:
                high = x[j]
        y[i] = high
"""


@pytest.mark.parametrize("size", [3, 63, 66, 300])
@pytest.mark.parametrize("k", [1, 5, 70])
def test_strips_that_begin_at_a_multiple_of_their_length_are_enough(size: int, k: int) -> None:
    kernel = pv.compile(ROLLING, target="c")
    assert "high[i - i_tile] = max_f64(high[i - i_tile], x[j]);" in kernel.source
    assert "& 63" not in kernel.source
    x, y = np.random.default_rng(size).random(size), np.zeros(size)
    kernel(x, y, k)
    for i in range(k + 1, size):
        assert y[i] == x[i - k : i].max()
    assert not y[: k + 1].any()
