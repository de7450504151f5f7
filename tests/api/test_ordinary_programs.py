"""Programs as people write them in notebooks, compiled and called: results, types, and what is changed in place."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, ExtractionError
from tests.running import function_of

RANDOM = np.random.default_rng(5)

PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "levels": (
        """
        def levels(A, src):
            level = np.full(len(A), -1)
            share = np.full(len(A), 1 / len(A))
            seen = np.full(len(A), False)
            level[src] = 0
            for i in range(len(A)):
                seen[i] = A[i, src] > 0
                level[i] = level[i] + seen[i]
            return level, share, seen
        """,
        (RANDOM.integers(0, 2, (6, 6)), 2),
    ),
    "filled_with_an_argument": (
        """
        def filled_with_an_argument(n, k, x):
            whole = np.full(n, k)
            real = np.full((n, 2), x)
            for i in range(n):
                whole[i] += i
                real[i, 0] += i
            return whole, real
        """,
        (5, 7, 0.5),
    ),
    "change": (
        """
        def change(coins, amount):
            ways = np.zeros(amount + 1, dtype=np.int64)
            ways[0] = 1
            for coin in coins:
                for v in range(coin, amount + 1):
                    ways[v] += ways[v - coin]
            return ways
        """,
        (np.array([1, 5, 10]), 30),
    ),
    "diagonals": (
        """
        def diagonals(data, offsets, x):
            n = x.size
            y = np.zeros(n)
            for d, off in enumerate(offsets):
                for j in range(max(0, off), min(n, n + off)):
                    y[j - off] += data[d, j] * x[j]
            return y
        """,
        (RANDOM.random((3, 9)), np.array([-2, 0, 4]), RANDOM.random(9)),
    ),
    "welford": (
        """
        def welford(x):
            mean = 0.0
            squares = 0.0
            for n, v in enumerate(x, start=1):
                delta = v - mean
                mean += delta / n
                squares += delta * (v - mean)
            return mean, squares
        """,
        (RANDOM.random(20),),
    ),
    "perceptron": (
        """
        def perceptron(X, y):
            w = np.zeros(X.shape[1])
            for row, label in zip(X, y):
                if label * np.dot(w, row) <= 0:
                    w += label * row
            return w
        """,
        (RANDOM.random((9, 3)), RANDOM.integers(0, 2, 9) * 2.0 - 1),
    ),
    "runge_kutta": (
        """
        def runge_kutta(y, h):
            def slope(y, t):
                return -rate * y + np.cos(t)
            step = lambda k, part=2: y[i] + h * k / part
            rate = 2.0
            for i in range(len(y) - 1):
                k1 = slope(y[i], i * h)
                k2 = slope(step(k1), i * h + h / 2)
                y[i + 1] = step(k2, part=1)
                rate = rate * 0.99
            return rate
        """,
        (RANDOM.random(12), 0.1),
    ),
    "values_by_place_and_by_name": (
        """
        def values_by_place_and_by_name(y, h):
            step = lambda k, part=2, more=1: y[0] * more + h * k / part
            def scaled(k, *, by, more=2):
                return k * by + more + h
            for i in range(len(y)):
                y[i] = step(y[i], 3) + step(2.0, 3, 4) + step(1.0, more=5)
                y[i] += scaled(y[0], by=3) + scaled(2.0, more=1, by=2)
        """,
        (RANDOM.random(7), 0.1),
    ),
    "helper_of_an_array": (
        """
        def helper_of_an_array(x, w):
            def between(values, i):
                return values[i + 1, 0] - values[i, 1]
            for i in range(len(w) - 1):
                w[i] = between(x, i)
        """,
        (RANDOM.random((9, 2)), np.zeros(9)),
    ),
    "lorenz": (
        """
        def lorenz(path, dt, start):
            a, b = start
            path[0] = 0.0, a, b
            for i in range(len(path) - 1):
                x, y, z = path[i]
                path[i + 1, :] = [x + dt * (y - x), y + dt * x, z + dt * (x * y - z)]
                path[i + 1] = path[i + 1, 1], path[i + 1, 0], path[i + 1, 2]
        """,
        (RANDOM.random((8, 3)), 0.1, np.array([1.0, 1.05])),
    ),
    "rows_taken_apart": (
        """
        def rows_taken_apart(points, edges):
            total = 0.0
            for x, y in points:
                total += x * y
            for i, (a, b) in enumerate(edges):
                total += points[a, 0] * i - points[b, 1]
            return total
        """,
        (RANDOM.random((7, 2)), RANDOM.integers(0, 7, (5, 2))),
    ),
    "first_above": (
        """
        def first_above(A, limit):
            for i in range(len(A)):
                total = 0.0
                for j in range(A.shape[1]):
                    total += A[i, j]
                    if total > limit:
                        return i, j, total
                A[i, 0] = total
            A[0, 0] = -1.0
            return -1, -1, 0.0
        """,
        (RANDOM.random((6, 6)), 3.5),
    ),
    "none_above": (
        """
        def none_above(A, limit):
            for i in range(len(A)):
                if A[i] > limit:
                    return True
            return False
        """,
        (RANDOM.random(9), 2.0),
    ),
    "halfway": (
        """
        def halfway(A):
            for i in range(len(A)):
                if A[i] > 0.5:
                    return
                A[i] = 0.0
            A[0] = 9.0
        """,
        (np.array([0.1, 0.2, 0.7, 0.3]),),
    ),
    "guarded": (
        """
        def guarded(A, x, n):
            assert n > 0, "nothing to do"
            if A.shape[1] != len(x) or n > len(A):
                raise ValueError("shapes differ")
            for i in range(n):
                for j in range(len(x)):
                    A[i, j] *= x[j]
        """,
        (RANDOM.random((4, 3)), RANDOM.random(3), 2),
    ),
    "asked_of_rows": (
        """
        def asked_of_rows(A, z, whole, some, every, count, norms):
            for i in range(A.shape[0]):
                some[i] = np.any(A[i, :] > 0.9)
                every[i] = (A[i, :] > 0.1).all()
                count[i] = np.count_nonzero(whole[i])
                norms[i] = np.linalg.norm(A[i])
                if whole[i].any():
                    count[i] += 100
            columns = np.all(whole[:, :], axis=0)
            return np.linalg.norm(z[:]) + np.linalg.norm(whole[:, :]), np.any(A[:, :] > 2), columns
        """,
        (
            RANDOM.random((7, 5)),
            RANDOM.random(5) + 1j * RANDOM.random(5),
            RANDOM.integers(0, 3, (7, 5)) * (RANDOM.random((7, 1)) > 0.4),
            np.zeros(7, bool),
            np.zeros(7, bool),
            np.zeros(7, np.int64),
            np.zeros(7),
        ),
    ),
    "divisor": (
        """
        def divisor(n):
            if n < 2:
                return 0
            d = 2
            while d * d <= n:
                if n % d == 0:
                    return d
                d += 1
            return n
        """,
        (91,),
    ),
}


ADDED_UP = ("asked_of_rows",)
"""NumPy adds up in an order of its own."""


def _parts(value: Any) -> list[np.ndarray[Any, Any]]:
    if value is None:
        return []
    return [np.asarray(one) for one in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", ["python", "c"])
def test_does_what_python_does(name: str, target: str) -> None:
    text, given = PROGRAMS[name]
    function = function_of(text)
    expected, actual = copy.deepcopy(given), copy.deepcopy(given)
    wanted = _parts(function(*expected))
    found = _parts(pv.compile(function, target=target, contract="strict")(*actual))
    assert [one.dtype for one in found] == [one.dtype for one in wanted]
    for one, other in zip([*found, *actual], [*wanted, *expected], strict=True):
        if name in ADDED_UP:
            np.testing.assert_allclose(one, other, rtol=1e-14)
        else:
            np.testing.assert_array_equal(one, other)


def test_a_row_that_is_taken_apart_has_as_many_elements() -> None:
    kernel = pv.compile(function_of(PROGRAMS["rows_taken_apart"][0]), target="python")
    with pytest.raises(ArgumentError):
        kernel(np.zeros((7, 3)), np.zeros((5, 2), int))


@pytest.mark.parametrize(("columns", "n"), [(4, 2), (3, 0), (3, 5)])
def test_what_the_loops_ask_of_sizes_is_checked_before_anything_is_changed(columns: int, n: int) -> None:
    kernel = pv.compile(function_of(PROGRAMS["guarded"][0]), target="python")
    A = np.ones((4, columns))
    with pytest.raises(ArgumentError):
        kernel(A, np.full(3, 2.0), n)
    assert (A == 1).all()


@pytest.mark.parametrize(
    ("lines", "construct"),
    [
        ("x, y = A[0]\n    A[1, 2, 3] = x", "dimensions"),
        ("f = lambda x: x\n    g = f\n    A[0] = g(A[1])", "`lambda`"),
        ("def f(x):\n        global B\n        return x\n    A[0] = f(A[1])", "nested function"),
        ("for i in range(9):\n        if A[i] > 0:\n            return A\n    return A + 1.0", "`return`"),
    ],
)
def test_what_stays_refused_says_so(lines: str, construct: str) -> None:
    with pytest.raises(ExtractionError, match=construct):
        pv.extract(f"def f(A):\n    {lines}\n")


@pytest.mark.slow
def test_numba_tells_the_sums_of_one_row_apart() -> None:
    """numba mixes up variables that differ by underscores at their ends where threads share their loop."""
    text = """
        def asked(A, some, every, count):
            for i in range(A.shape[0]):
                count[i] = np.count_nonzero(A[i, :])
                some[i] = np.any(A[i, :] > 5)
                every[i] = np.all(A[i, :] < 6)
    """
    A = np.arange(60.0).reshape(6, 10) % 7
    expected, found = np.zeros((3, 6)), np.zeros((3, 6))
    function_of(text)(A, *expected)
    pv.compile(function_of(text), target="numba")(A, *found)
    np.testing.assert_array_equal(found, expected)
