"""Extremes in an arm of a choice, or behind `and`, whose array may have no elements."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

HEAD = "def f(x):\n"
GUARDED = {
    "length": "    return x.max() if len(x) > 0 else -1.0\n",
    "size": "    m = 0.5 * x.min() if x.size > 0 else -1.0\n    return m\n",
    "turned": "    return -1.0 if x.size == 0 else x.max()\n",
    "place": "    return np.argmax(x) if len(x) else -1\n",
    "and": "    found = 0\n    if len(x) > 0 and x.max() > 3.0:\n        found = 1\n    return found\n",
    "or": "    found = 0\n    if len(x) == 0 or x.min() > 3.0:\n        found = 1\n    return found\n",
    "three": "    found = 0\n    if len(x) > 0 and x[0] > 0 and x.max() > 3.0:\n        found = 1\n    return found\n",
}
PREFIXES = """
    def prefixes(x, o):
        for i in range(len(o)):
            o[i] = x[:i].max() if i > 0 else -1.0
    """
MATRIX = "def f(A):\n    return np.abs(A[:, :]).max() if A.size > 0 else -1.0\n"
DATA = """
    def data(A, wanted, o):
        for i in range(A.shape[0]):
            o[i] = A[i, :].max() if wanted[i] > 0 else -1.0
    """


@pytest.mark.parametrize("target", ["c", "python"])
@pytest.mark.parametrize("case", GUARDED)
def test_an_extreme_is_looked_for_only_where_it_is_meant(case: str, target: str) -> None:
    original = function_of(HEAD + GUARDED[case])
    kernel = pv.compile(original, target=target)
    for x in (np.zeros(0), np.array([1.0, 4.0, 2.0]), np.array([4.0, 7.0])):
        assert kernel(x) == original(x)


def test_ranges_of_the_loops_around_it_count() -> None:
    x, o = np.array([3.0, 1.0, 5.0, 2.0]), np.zeros(4)
    pv.compile(function_of(PREFIXES), target="c")(x, o)
    assert list(o) == [-1.0, 3.0, 3.0, 5.0]


@pytest.mark.parametrize(("shape", "expected"), [((0, 0), -1.0), ((2, 0), -1.0), ((0, 2), -1.0), ((2, 3), 1.0)])
def test_all_sizes_of_a_matrix_count(shape: tuple[int, int], expected: float) -> None:
    assert pv.compile(function_of(MATRIX), target="c")(np.full(shape, -1.0)) == expected


def test_so_does_data() -> None:
    original = function_of(DATA)
    wanted = np.array([0, 1, 0, 1])
    for A in (np.arange(8.0).reshape(4, 2), np.zeros((4, 0))[:0]):
        o = np.zeros(A.shape[0])
        pv.compile(original, target="c")(A, wanted[: A.shape[0]], o)
        expected = np.zeros(A.shape[0])
        original(A, wanted, expected)
        assert np.array_equal(o, expected)


def test_sums_stand_in_front_without_a_condition() -> None:
    part = pv.extract("def f(x):\n    return np.sum(x[:]) / len(x) if len(x) > 0 else 0.0\n", namespace={"np": np})
    assert "S0:  once" in str(part)
