"""Lists of one value, repeated, are arrays where nobody can tell."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import CodegenError, UnsupportedSyntaxError
from polyviz.frontend import extract
from polyviz.frontend.names import GlobalNames
from polyviz.frontend.repeated_lists import with_repeated_lists
from polyviz.frontend.source import read_source
from tests.frontend.compiled import same_compiled
from tests.running import function_of


def increasing(a, n):
    best = [1] * n
    for i in range(n):
        for j in range(i):
            if a[j] < a[i]:
                best[i] = max(best[i], best[j] + 1)
    return max(best), len(best), best[-1]


def common(a, n):
    table = [[0] * (n + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            if a[i - 1] == a[n - j]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[n][n], len(table), len(table[0])


def distance(a, n):
    before, now = [0] * (n + 1), [0 for _ in range(n + 1)]
    for j in range(n + 1):
        before[j] = j
    for i in range(n):
        now[0] = i + 1
        for j in range(n):
            now[j + 1] = min(before[j + 1] + 1, now[j] + 1, before[j] + (a[i] != a[n - 1 - j]))
        before, now = now, before
    return before[n]


def distance_of_copies(a, n):
    before, now = [0] * (n + 1), [0] * (n + 1)
    for j in range(n + 1):
        before[j] = j
    for i in range(n):
        now[0] = i + 1
        for j in range(n):
            now[j + 1] = min(before[j + 1] + 1, now[j] + 1, before[j] + (a[i] != a[n - 1 - j]))
        before = now[:]
        now[0] = -1
    return before[n], now[0]


def sieve(a, n):
    prime = n * [True]
    prime[0] = False
    for i in range(2, n):
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
    return sum(prime), np.array(prime), np.asarray(prime, dtype=np.float64)


def shortest(a, n):
    far = [math.inf] * n
    far[0] = 0
    for _ in range(n):
        for i in range(n):
            for j in range(n):
                far[j] = min(far[j], far[i] + abs(a[i] - 2 * a[j]) + 1)
    total = 0.0
    for one in far:
        total += one
    return total


def cube(a, n):
    sums = [[[0.0 for k in range(3)] for j in range(n)] for i in range(2)]
    for i in range(2):
        for j in range(n):
            for k in range(3):
                sums[i][j][k] += a[j] * (i + 1) + k
    return sums[1][n - 1][2]


def in_a_loop(a, n):
    for i in range(n):
        row = [0.0] * n
        for j in range(n):
            row[j] = a[j] * i
        for j in range(n):
            a[i] += row[j]
    return a[0]


FUNCTIONS = [increasing, common, distance, distance_of_copies, sieve, shortest, cube, in_a_loop]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("n", [2, 9])
def test_the_values_of_python(function, target: str, n: int) -> None:
    same_compiled(function, {"a": np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5])[:n], "n": n}, target, "strict")


def test_of_a_negative_length_there_is_nothing() -> None:
    kernel = pv.compile(function_of("def f(n):\n    kept = [1] * n\n    return len(kept)"), target="c")
    assert [kernel(n) for n in (-3, 0, 2)] == [0, 0, 2]


def test_what_is_stored_has_to_fit() -> None:
    text = "def f(a, n):\n    best = [0] * n\n    for i in range(n):\n        best[i] = a[i]\n    return best[0]"
    kernel = pv.compile(function_of(text), target="python")
    assert kernel(np.array([4, 5]), 2) == 4
    assert kernel(np.array([4, 5], np.uint8), 2) == 4
    with pytest.raises(CodegenError, match="The list `best` is made of int64, and given float64 here") as raised:
        kernel(np.array([0.5, 1.5]), 2)
    assert "`[0.0] * n`" in str(raised.value)
    floats = pv.compile(function_of(text.replace("[0] *", "[0.0] *")), target="python")
    assert [floats(np.array([7], kind), 1) for kind in (np.int64, np.float64)] == [7.0, 7.0]


def _written(body: str) -> str:
    source = read_source(f"def f(x, n):\n {body}", None, None)
    return "\n".join(map(ast.unparse, with_repeated_lists(source, GlobalNames(source)).body))


@pytest.mark.parametrize(
    "body",
    [
        "y = [0] * n\nreturn y",
        "y = [0] * n\nx[0] = y[1:][0]",
        "y = [0] * n\ny.append(1)",
        "y = [0] * n\nz = [0] * (n + 1)\ny = z[:]\nx[0] = y[0]",
        "y = [0] * n\nz = [0] * n\ny = z[1:]\nx[0] = y[0]",
        "y = [0] * n\nz = [0] * n\ny = z[:]\nz.append(1)\nx[0] = y[0]",
        "y = [0] * n\ny = [1] * n\nx[0] = y[0]",
        "y = [0] * n\nz = y\nz[0] = 1",
        "y = [0] * n + [1]\nx[0] = y[0]",
        "y = [0, 1] * n\nx[0] = y[0]",
        "y = [[0] * n] * n\ny[0][0] = 1",
        "y = [[0] * n for _ in range(n)]\ny[0] = y[1]",
        "y = [[0] * n for _ in range(n)]\nrow = y[0]\nrow[0] = 1",
        "y = [[0] * i for i in range(n)]\ny[0][0] = 1",
        "y = [0] * n\nz = x\ny, z = z, y",
        "y = [0] * n\ny[0, 1] = 1",
        "y = [0] * n\nx[0] = 3 in y",
    ],
)
def test_what_stays_a_list(body: str) -> None:
    body = body.replace("\n", "\n ")
    source = read_source(f"def f(x, n):\n {body}", None, None)
    assert _written(body) == "\n".join(map(ast.unparse, source.body))


def test_a_list_that_is_seen_is_refused() -> None:
    text = "def f(n):\n    kept = [0] * n\n    return kept"
    with pytest.raises(UnsupportedSyntaxError, match="A list is not supported") as raised:
        extract(text)
    assert "`[0] * n`" in str(raised.value)


@pytest.mark.parametrize(("text", "value"), [("inf", np.inf), ("-inf", -np.inf), (" 2.5 ", 2.5)])
def test_numbers_in_quotes(text: str, value: float) -> None:
    kernel = pv.compile(function_of(f'def f(A):\n    A[0] = float("{text}")'), target="c")
    array = np.zeros(2)
    kernel(array)
    assert array.tolist() == [value, 0.0]


def test_other_text_is_no_number() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="A string"):
        extract('def f(A):\n    A[0] = float("many")')
