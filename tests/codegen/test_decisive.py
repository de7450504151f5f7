"""Statements in which a last bit decides about a whole number are compiled as they are written."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.decisive import decisive_statements
from polyviz.codegen.typing import Environment

DTYPES = {"k": "int64", "h": "int64", "x": "float64", "y": "float64", "t": "float64", "b": "uint8", "c": "bool"}


@pytest.mark.parametrize(
    "line, decides",
    [
        ("k[i] = 0.3 * x[i] + 0.6 * y[i]", True),
        ("k[i] += 0.5 * x[i]", True),
        ("k[i] = x[i] * 10", False),  # one operation, rounded as IEEE 754 says
        ("k[i] = b[i] * 2 + k[i] // 3", False),
        ("t[i] = 0.3 * x[i] + 0.6 * y[i]", False),
        ("t[i] = math.floor(0.3 * x[i] + 0.5)", True),
        ("t[i] = np.rint(0.3 * x[i] + 0.5)", True),
        ("t[i] = (0.3 * x[i] + y[i]) % 1.0", True),
        ("t[i] = math.floor(x[i])", False),
        ("h[int(x[i] * y[i] + 0.5)] += 1", True),
        ("h[int(x[i])] += 1", False),
        ("c[i] = x[i] * x[i] + y[i] * y[i] < 1.0", True),
        ("c[i] = x[i] < 1.0", False),
    ],
)
def test_assignments(line: str, decides: bool) -> None:
    assert decided(f"for i in range(n):\n    {line}\n") == (("S0",) if decides else ())


@pytest.mark.parametrize(
    "body, decides",
    [
        ("if x[i] * x[i] + y[i] * y[i] < 1.0:\n        k[i] += 1", True),
        ("if x[i] * x[i] + y[i] * y[i] < 1.0:\n        t[i] += 1", False),
        ("if x[i] < 1.0:\n        k[i] += 1", False),
    ],
)
def test_branches(body: str, decides: bool) -> None:
    assert bool(decided(f"for i in range(n):\n    {body}\n")) == decides


def test_what_is_stored_before_it_is_cut_off() -> None:
    text = "for i in range(n):\n    t[i] = 0.3 * x[i] + 0.6 * y[i]\nfor i in range(n):\n    k[i] = int(t[i])\n"
    assert decided(text) == ("S1",)


def test_the_nearest_of_finished_sums_does_not_slow_them_down() -> None:
    text = """
for i in range(n):
    for j in range(m):
        t[i, j] = 0.0
        for l in range(p):
            t[i, j] += (x[i, l] - y[j, l]) * (x[i, l] - y[j, l])
        if t[i, j] < t[i, k[i]]:
            k[i] = j
"""
    assert decided(text) == ()


@pytest.mark.parametrize("target", ["c", "numba"])
def test_gray_bytes_are_those_of_the_written_order(target: str) -> None:
    """A gray pixel of 255 stays one: its three products add up to 255 or, fused, to a little less."""
    shade = np.arange(256, dtype=np.uint8).reshape(16, 16)
    expected, found = np.zeros_like(shade), np.zeros_like(shade)
    gray(expected, shade, shade, shade)
    kernel = pv.compile(gray, target=target)
    kernel(found, shade, shade, shade)
    np.testing.assert_array_equal(found, expected)
    assert "S0: a last bit decides about a whole number" in kernel.report()


def test_terms_stay_as_written_where_their_sum_is_cut_off_later() -> None:
    x = np.arange(3000.0)
    shades, wholes, expected = np.zeros(3000), np.zeros(3000, np.int64), np.zeros(3000, np.int64)
    cut_off(np.zeros(3000), expected, x)
    pv.compile(cut_off, target="c")(shades, wholes, x)
    np.testing.assert_array_equal(wholes, expected)


def gray(out, red, green, blue):  # type: ignore[no-untyped-def]
    n, m = out.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = 0.299 * red[i, j] + 0.587 * green[i, j] + 0.114 * blue[i, j]


def cut_off(shades, wholes, x):  # type: ignore[no-untyped-def]
    for i in range(shades.shape[0]):
        shades[i] = 0.299 * x[i] + 0.587 * x[i] + 0.114 * x[i]
    for i in range(shades.shape[0]):
        wholes[i] = int(shades[i])


def decided(text: str) -> tuple[str, ...]:
    return decisive_statements(pv.extract(text), Environment(DTYPES))
