"""Conditions that keep the smaller or larger of two values are their minimum or maximum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import dependences, find_reductions, with_extremes
from polyviz.runtime.toolchain import find_toolchain
from tests.running import compiled_by_numba, function_of

SHORTEST_PATHS = """
    def shortest(d):
        n = d.shape[0]
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    t = d[i, k] + d[k, j]
                    if d[i, j] > t:
                        d[i, j] = t
    """
GREATEST = """
    def greatest(a):
        m = a[0, 0]
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] > m:
                    m = a[i, j]
        return m
    """
LEAST_OF_ROWS = """
    def least(a):
        m = np.full(a.shape[0], np.inf)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if m[i] > a[i, j] * a[i, 0]:
                    m[i] = a[i, j] * a[i, 0]
        return m
    """
LIKE_ANOTHER = """
    def rows(a):
        m = np.zeros_like(a)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] > m[i, 0]:
                    m[i, 0] = a[i, j]
        return m
    """
OWN_CELLS = """
    def first_column(a):
        for j in range(1, a.shape[1]):
            for i in range(a.shape[0]):
                if a[i, j] < a[i, 0]:
                    a[i, 0] = a[i, j]
    """
SORTED = """
    def sort(a):
        for end in range(a.shape[0], 1, -1):
            for i in range(end - 1):
                if a[i, 2] > a[i + 1, 2]:
                    a[i, 2], a[i + 1, 2] = a[i + 1, 2], a[i, 2]
    """
SORTED_DOWNWARDS = """
    def sort(a):
        for start in range(a.shape[0]):
            for i in range(start % 2, a.shape[0] - 1, 2):
                if a[i, 2] < a[i + 1, 2]:
                    t = a[i + 1, 2]
                    a[i + 1, 2] = a[i, 2]
                    a[i, 2] = t
    """
TAKEN = {
    "a temporary": (SHORTEST_PATHS, "min"),
    "the other way round": (SHORTEST_PATHS.replace("d[i, j] > t", "t < d[i, j]"), "min"),
    "a variable": (GREATEST, "max"),
    "fractions": (LEAST_OF_ROWS, "min"),
    "its own array": (OWN_CELLS, "min"),
    "an array like it": (LIKE_ANOTHER, "max"),
}
EXCHANGED = {
    "bubbles": SORTED,
    "a temporary of its own": SORTED_DOWNWARDS,
    "compared the other way round": SORTED_DOWNWARDS.replace("a[i, 2] < a[i + 1, 2]", "a[i + 1, 2] < a[i, 2]"),
}
KEPT = {
    "ties are stored": SHORTEST_PATHS.replace(">", ">="),
    "another value": SHORTEST_PATHS.replace("d[i, j] = t", "d[i, j] = t + 1"),
    "another cell": OWN_CELLS.replace("a[i, 0] = ", "a[i, 1] = "),
    "something else as well": GREATEST.replace("m = a[i, j]", "m = a[i, j]; a[i, 0] = 0"),
    "an alternative": OWN_CELLS.rstrip() + "\n                else:\n                    a[i, 0] = 1\n",
    "an update": GREATEST.replace("m = a[i, j]", "m += a[i, j]"),
    "an array of another type, perhaps": """
        def f(a, m):
            for i in range(a.shape[0]):
                if a[i] > m[0]:
                    m[0] = a[i]
        """,
    "whole numbers and fractions": SHORTEST_PATHS.replace("d[k, j]", "0.5"),
    "a temporary of another array": """
        def f(a, b):
            for i in range(a.shape[0]):
                for j in range(a.shape[0]):
                    t = b[j]
                    if a[i] > t:
                        a[i] = t
        """,
    "a whole number to begin with": LEAST_OF_ROWS.replace("np.inf", "1000"),
    "an exchange of ties": SORTED.replace(">", ">="),
    "an exchange of others": SORTED.replace("if a[i, 2]", "if a[i, 1]"),
    "no exchange": SORTED_DOWNWARDS.replace("= t", "= a[i + 1, 2]"),
    "a temporary that is used again": SORTED_DOWNWARDS + "        a[0, 0] = t\n",
    "an exchange of two arrays": """
        def f(a, b):
            for i in range(a.shape[0]):
                if a[i] > b[i]:
                    a[i], b[i] = b[i], a[i]
        """,
    "cells that data tell": """
        def f(a, which):
            for i in range(a.shape[0]):
                if a[which[i]] > a[i]:
                    a[which[i]] = a[i]
        """,
}


@pytest.mark.parametrize("name", TAKEN)
def test_the_condition_is_a_minimum_or_maximum(name: str) -> None:
    text, operator = TAKEN[name]
    part = pv.extract(function_of(text))
    found = with_extremes(part, dependences(part))
    [note] = found.notes[len(part.notes) :]
    assert f"it is taken as `{operator}`" in note
    assert all(statement.exact for statement in found.statements)
    if text not in (SHORTEST_PATHS, TAKEN["the other way round"][0]):  # these read other cells of their array
        assert [one.operator for one in find_reductions(found)] == [operator]


@pytest.mark.parametrize("name", EXCHANGED)
def test_an_exchange_is_a_minimum_and_a_maximum(name: str) -> None:
    part = pv.extract(function_of(EXCHANGED[name]))
    found = with_extremes(part, dependences(part))
    assert "puts two values in order" in found.notes[-1]
    assert all(statement.exact for statement in found.statements)


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_a_condition(name: str) -> None:
    part = pv.extract(function_of(KEPT[name]))
    assert with_extremes(part, dependences(part)) is part


def values(dtype: str) -> np.ndarray[Any, Any]:
    found = (np.random.default_rng(5).random((70, 70)) * 200 - 60).astype(dtype)
    if found.dtype.kind == "f":
        found[3, 4:8] = found[0, 0] = np.nan
        found[5, 6:9] = 0.0, -0.0, np.inf
    else:
        found[1, 2] = np.iinfo(dtype).max  # beyond what float64 tells apart
    return found


@pytest.mark.thinned(8)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint64", "int8"])
@pytest.mark.parametrize("name", [*TAKEN, *EXCHANGED])
@pytest.mark.parametrize("target", ["c", "numba"])
def test_every_target_keeps_what_the_condition_keeps(
    target: str, name: str, dtype: str, contract: str
) -> None:
    if target == "c" and find_toolchain() is None:
        pytest.skip("no C compiler")
    function = function_of(EXCHANGED.get(name) or TAKEN[name][0])
    given, own = values(dtype), values(dtype)
    expected = compiled_by_numba(function, (given,))(given)
    found = pv.compile(function, target=target, contract=contract)(own)
    np.testing.assert_array_equal(own, given)
    if expected is not None:
        np.testing.assert_array_equal(found, expected)


def test_it_can_be_switched_off() -> None:
    kernel = pv.compile(function_of(GREATEST), target="python", extremes=False)
    assert not find_reductions(kernel.scop)
