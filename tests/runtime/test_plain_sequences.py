"""Tuples and lists of numbers in the place of arrays that are only looked up."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, OutOfBoundsError


def smoothed(x, weights=(0.25, 0.5, 0.25)):
    for i in range(1, len(x) - 1):
        x[i] = weights[0] * x[i - 1] + weights[1] * x[i] + weights[2] * x[i + 1]


def totals(x, places):
    for place in places:
        x[place] += len(places)


@pytest.mark.parametrize("target", ["c", "numba"])
def test_what_is_looked_up_may_be_a_tuple_or_list(target: str) -> None:
    kernel = pv.compile(smoothed, target=target)
    given = (0.1, 0.2, 0.3)
    for more in [(), (given,), (np.array(given),), ([3.0, 2.0, 1.0],), ((4, 5, 6),), (given,)]:
        expected, found = np.arange(7.0) ** 2, np.arange(7.0) ** 2
        smoothed(expected, *more)
        kernel(found, *more)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    with pytest.raises(OutOfBoundsError, match="has 2 elements"):
        kernel(np.arange(7.0), (0.1, 0.2))  # one that is shorter than the subscripts go


def counted(x, limits, borders=(0.2, 0.9)):
    low, high = limits
    [first, last] = borders
    for i, border in enumerate(borders):
        x[i] += border
    for limit, border in zip(limits, borders, strict=False):
        x[2] += limit * border
    for i in range(3, len(x)):
        if low < x[i] <= high:
            x[i] = first * x[i] + last


@pytest.mark.parametrize("target", ["c", "numba"])
def test_what_is_taken_apart_or_walked_over_may_be_a_tuple_or_list(target: str) -> None:
    kernel = pv.compile(counted, target=target)
    for more in [((0.1, 0.5),), ([0.2, 0.6], (0.5, 1.5)), (np.array([0.1, 0.5]),), ((0, 1), [2, 3])]:
        expected, found = np.linspace(0, 1, 9), np.linspace(0, 1, 9)
        counted(expected, *more)
        kernel(found, *more)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    with pytest.raises(ArgumentError):
        kernel(np.ones(9), (0.1, 0.2, 0.3))


@pytest.mark.parametrize("target", ["c", "numba"])
def test_places_may_be_a_tuple(target: str) -> None:
    kernel = pv.compile(totals, target=target)
    for places in ((0, 3), [1, -1, 2]):
        expected, found = np.zeros(5), np.zeros(5)
        totals(expected, places)
        kernel(found, places)
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("def f(x, c):\n x[0] = c[0] + c[1]", (1, 2.0)),
        ("def f(x, c):\n x[0] = c[0] + c[1]", (True, False)),
        ("def f(x, c):\n x[0] = c[0] + c[1]", ()),
        ("def f(x, c):\n x[0] = c[0] + c[1]", ((1.0, 2.0), (3.0, 4.0))),
        ("def f(x, c):\n x[0] = c[1]\n c[0] = 1.0", [1.0, 2.0]),
        ("def f(x, c):\n x[0] = c[1]\n return c", (1.0, 2.0)),
        ("def f(x, c):\n x[:] = c[:] * 2", (1.0, 2.0)),
        ("def f(x, c):\n x[0] = c[0]\n x[1:] = c", (1.0, 2.0)),
        ("def g(c): return c[0]\ndef f(x, c):\n x[0] = g(c)", (1.0, 2.0)),
    ],
    ids=["mixed", "truth values", "empty", "rows", "written", "returned", "as a part", "as a whole", "passed on"],
)
def test_others_are_refused(text: str, value: object) -> None:
    kernel = pv.compile(text, target="python")
    with pytest.raises(ArgumentError, match=r"must be a NumPy array with 1 dimension, not a (tuple|list)"):
        kernel(np.zeros(3), value)
