"""Arrays that are returned up to a number that the loops count."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from polyviz.frontend.cut_results import with_cut_results
from polyviz.frontend.source import read_source
from tests.frontend.compiled import same_compiled


def kept(x, n, least):
    found = np.zeros(n)
    count = 0
    for i in range(n):
        if x[i] > least:
            found[count] = x[i]
            count += 1
    return found[:count]


def kept_with_places(x, n, least):
    found, places = np.zeros((n, 2)), np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        if x[i] > least:
            found[count, 0] = x[i]
            found[count, 1] = 2.0 * x[i]
            places[count] = i
            count += 1
    return found[:count], count, places[:count]


def in_place(x, n, least):
    count = 0
    for i in range(n):
        if x[i] > least:
            x[count] = x[i]
            count += 1
    return (x[:count],)


def primes(x, n, least):
    prime = np.ones(n + 1, dtype=np.bool_)
    found = np.zeros(n, dtype=np.int64)
    count = 0
    for i in range(2, n + 1):
        if prime[i]:
            found[count] = i
            count += 1
            for j in range(i * i, n + 1, i):
                prime[j] = False
    return found[:count]


@pytest.mark.parametrize("function", [kept, kept_with_places, in_place, primes], ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba", "python", "emulated"])
def test_the_values_of_numpy(function, target: str) -> None:
    x = np.random.default_rng(2).random(30)
    for least in (0.5, -1.0, 2.0):
        same_compiled(function, {"x": x, "n": 30, "least": least}, target, "strict")


def test_calls_like_one_before() -> None:
    kernel = pv.compile(kept, target="c")
    for seed in range(4):
        x = np.random.default_rng(seed).random(30)
        np.testing.assert_array_equal(kernel(x, 30, 0.5), x[x > 0.5])
    assert kernel._quick.run((x, 30, 0.5)) is not None


@pytest.mark.slow
def test_what_is_handed_back_is_compared() -> None:
    found = pv.compare(kept, np.random.default_rng(1).random(30), 30, 0.5, targets=["c"])
    assert all(row.status == "ok" and row.verified for row in found.rows)


def _written(end: str) -> str:
    lines = ["def f(x, n, m):", " k = 0", " for i in range(n):", "  if x[i] > 0:", "   k += 1", *end.splitlines()]
    found = with_cut_results(read_source("\n".join(lines), None, None))
    return f"{ast.unparse(found.body[-1])} {found.cut}"


def test_one_number_may_end_several() -> None:
    assert _written(" return x[:k], m[:k]").startswith("return (x, m, k) Cut(ends=((0, 2), (1, 2)), hidden=1")
    assert _written(" return k, x[:k]").startswith("return (k, x) Cut(ends=((1, 0),), hidden=0, is_tuple=True")


@pytest.mark.parametrize(
    "end",
    [" return x[:n]", " return x[1:k]", " return x[:k:2]", " return x[:k].sum()", " return x[:k, 0]", " return", ""],
)
def test_others_stay_as_they_are(end: str) -> None:
    assert _written(end).endswith("None")


def test_another_array_returned_early_is_refused() -> None:
    text = """
def f(x, y, n):
    if n < 2:
        return y[:0]
    k = 0
    for i in range(n):
        if x[i] > 0:
            k += 1
    return x[:k]
"""
    with pytest.raises(ExtractionError):
        extract(text)


def until_large(x, limit):
    count = 0
    for i in range(x.shape[0]):
        if x[i] > limit:
            return x[:i]
        count += 1
    return x[:count]


def kept_beside_places(x, limit):
    kept, places = np.empty(x.shape[0]), np.empty(x.shape[0], np.int64)
    count = 0
    for i in range(x.shape[0]):
        if x[i] > limit:
            kept[count] = x[i]
            places[count] = i
            count += 1
    if count == 0:
        return kept[:0], places[:0], 0.0
    return kept[:count], places[:count], x[0]


def at_most_three(x, limit):
    kept = np.zeros(x.shape[0])
    count = 0
    for i in range(x.shape[0]):
        if x[i] > limit:
            kept[count] = x[i]
            count += 1
        if count == 3:
            return kept[:count]
    return kept


@pytest.mark.parametrize("function", [until_large, kept_beside_places, at_most_three])
@pytest.mark.parametrize("target", ["c", "python"])
def test_a_part_is_returned_beside_an_early_return(function, target) -> None:
    kernel = pv.compile(function, target=target)
    for x in (np.arange(6.0), np.arange(6.0)[::-1].copy(), np.zeros(4), np.zeros(1)):
        for limit in (-1.0, 2.5, 9.0):
            expected, found = function(x, limit), kernel(x, limit)
            assert isinstance(found, tuple) == isinstance(expected, tuple)
            for one, other in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
                assert np.array_equal(one, other)
