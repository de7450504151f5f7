"""Rows of a few cells, for whose length a program is made."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis.short_rows import short_rows
from tests.running import agree, function_of

DISTANCES = """
    def distances(x, f):
        d = np.empty(3)
        for i in range(x.shape[0] - 1):
            for k in range(3):
                d[k] = x[i + 1, k] - x[i, k]
            r = 0.5
            for k in range(3):
                r += d[k] * d[k]
            for k in range(3):
                f[i, k] = d[k] / r
    """
ROWS = {
    "stored row by row": (DISTANCES, {"f": 1}),
    "only read": ("def f(x, y):\n for i in range(len(y)):\n  y[i] = x[i, 0] + x[i, 1]", {}),
    "as long as a size says": ("def f(x):\n for i in range(len(x)):\n  for k in range(x.shape[1]): x[i, k] = 0.0", {}),
    "long": ("def f(x):\n for i in range(len(x)):\n  for k in range(17): x[i, k] = 0.0", {}),
    "one row adds up": (
        "def f(x, y):\n for i in range(len(y)):\n  for j in range(len(x)):\n   for k in range(3): y[i, k] += x[j, k]",
        {},
    ),
    "a matrix in each row": (
        "def f(x):\n for i in range(len(x)):\n  for k in range(2):\n   for q in range(2): x[i, k, q] = 0.0",
        {"x": 1},
    ),
    "colours of an image": (
        "def f(x):\n for i in range(len(x)):\n  for j in range(x.shape[1]):\n   for k in range(3): x[i, j, k] = 0.0",
        {"x": 2},
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_short_rows(name: str) -> None:
    text, expected = ROWS[name]
    assert short_rows(pv.extract(function_of(text))) == expected


@pytest.mark.parametrize("target", ["c", "numba"])
def test_a_program_for_each_length(target: str) -> None:
    random = np.random.default_rng(8)
    for columns in (3, 4, 3, 7):
        x, f = random.random((23, columns)), np.zeros((23, columns))
        kernel = agree(DISTANCES, x, f, target=target, contract="strict")
        is_known = columns in (3, 4)
        assert (f"double (*restrict f)[{columns}]" in kernel.source) == (is_known and target == "c")


def test_calls_with_rows_of_other_lengths_get_a_program_of_their_own() -> None:
    kernel = pv.compile(function_of(DISTANCES), target="c", contract="strict")
    random = np.random.default_rng(9)
    wide = random.random((31, 8))
    for x in (wide[:, :3].copy(), wide[:, :4].copy(), wide, wide[:, ::2], np.asfortranarray(wide[:, :3])):
        for _ in range(2):
            found, expected = np.zeros_like(x), np.zeros_like(x)
            kernel(x, found)
            function_of(DISTANCES)(x, expected)
            np.testing.assert_array_equal(found, expected)


def test_a_row_that_is_too_short_is_refused_as_ever() -> None:
    with pytest.raises(pv.PolyvizError, match="f"):
        pv.compile(function_of(DISTANCES), target="c")(np.ones((5, 3)), np.zeros((5, 2)))
