"""Arrays that are made of lists: the values, types and shapes of NumPy."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, CodegenError, UnsupportedSyntaxError
from polyviz.frontend import extract
from polyviz.frontend.listed_values import with_filled_arrays
from polyviz.frontend.names import GlobalNames
from polyviz.frontend.source import read_source
from tests.frontend.compiled import same_compiled


def wave(a, k):
    total = 0.0
    for j in range(k):
        total += np.sin(a * j)
    return total


def comprehensions(x, y, n):
    doubled = np.array([2 * value for value in x])
    moved = np.array([x[i] * i for i in range(1, n)])
    places = np.array([i * i for i in range(n)])
    waves = np.array([wave(a, n) + b for a, b in zip(x, y, strict=False)])
    counted = np.array([k * v for k, v in enumerate(y)], dtype=np.float32)
    return doubled, moved, places, waves, counted


def appended(x, y, n):
    history, total = [], 0.0
    largest = []
    for i in range(n):
        total += x[i]
        history.append(total)
        y[i] = total
    for value in y:
        largest.append(max(value, 1.0))
    return np.array(history), np.array(largest, dtype=np.float32), len(history), history[-1]


def never_an_array(x, y, n):
    squares = [v * v for v in x]
    for i in range(n):
        y[i] = squares[i] + squares[-1] * len(squares)
    for square in squares:
        y[0] += square
    return sum(squares)


def squares(x):
    return np.array([v * v for v in x])


def history(x, n):
    kept = []
    for i in range(n):
        kept.append(x[i] * i)
    return np.array(kept)


def of_helpers(x, y, n):
    y[:] = squares(x) + squares(y)
    return history(y, n)


FUNCTIONS = [comprehensions, appended, never_an_array, of_helpers]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba"])
def test_the_values_of_numpy(function, target: str) -> None:
    given = {"x": np.array([2.0, 5.0, 1.0, 7.0]), "y": np.array([1.0, 0.5, 4.0, 3.0]), "n": 4}
    same_compiled(function, given, target, "strict")


def test_arrays_inside_of_expressions() -> None:
    text = """
def f(x, y, n):
    table = np.array([[x[i] * y[j] for j in range(n)] for i in range(n - 1)])
    sums = np.array([table[i, :].sum() for i in range(n - 1)]) + 1.0
    return table, sums, np.array([i + 0.5 for i in range(n)])
"""
    x, y = np.arange(1.0, 5.0), np.ones(4)
    table, sums, halves = pv.compile(text, target="c")(x, y, 4)
    np.testing.assert_allclose(table, np.outer(x[:3], y))
    np.testing.assert_allclose(sums, 4 * x[:3] + 1)
    assert halves.tolist() == [0.5, 1.5, 2.5, 3.5]


def single(x):
    return np.array([x[i] + x[i] for i in range(len(x))])


def test_the_type_is_that_of_the_values() -> None:
    text = "def f(x): return np.array([2 * v for v in x])"
    for kind in (np.float64, np.int64):
        result = pv.compile(text, target="python")(np.arange(3, dtype=kind))
        assert result.dtype == kind and result.tolist() == [0, 2, 4]
    with pytest.raises(CodegenError, match="is not clear"):  # NumPy and numba promote such numbers in different ways
        pv.compile(text, target="python")(np.arange(3, dtype=np.float32))
    same_compiled(single, {"x": np.arange(3, dtype=np.float32)}, "c", "strict")


def test_lists_without_values_are_refused_at_the_call() -> None:
    kernel = pv.compile("def f(n): return np.array([i + 0.5 for i in range(n)])", target="python")
    assert kernel(2).tolist() == [0.5, 1.5]
    with pytest.raises(ArgumentError, match="They assume n"):
        kernel(0)


def test_truth_values_are_refused() -> None:
    kernel = pv.compile("def f(x): return np.array([v > 1 for v in x])", target="python")
    with pytest.raises(CodegenError):
        kernel(np.arange(3.0))


def _written(body: str) -> str:
    source = read_source(f"def f(x, n):\n {body}", None, None)
    return "\n".join(map(ast.unparse, with_filled_arrays(source, GlobalNames(source)).body))


@pytest.mark.parametrize(
    "body",
    [
        "y = [v for v in x if v > 1]\nx[0] = y[0]",
        "y = [v for v in x]\nreturn y",
        "y = [v for v in x]\ny[0] = 1",
        "y = [[i * j for j in range(i)] for i in range(n)]\nx[0] = y[0]",
        "y = [v for v in x[n]]\nx[0] = y[0]",
        "y = [v for v in x]\nx[0] = y[1:][0]",
        "y = []\nfor i in range(n):\n    if x[i] > 1:\n        y.append(i)\nx[0] = len(y)",
        "y = []\nfor i in range(n):\n    if x[i] > 1:\n        break\n    y.append(i)\nx[0] = len(y)",
        "y = []\nfor i in range(n):\n    y.append(i)\n    y.append(i)\nx[0] = len(y)",
        "y = []\nfor i in range(n):\n    y.append(len(y))\nx[0] = len(y)",
        "y = []\nfor i in range(n):\n    y.append(x.copy())\nx[0] = len(y)",
        "y = []\nfor i in range(n):\n    n = 3\n    y.append(n)\nx[0] = len(y)",
        "y = []\nwhile x[0] > n:\n    y.append(n)\nx[0] = len(y)",
        "y = [n]\nfor i in range(n):\n    y.append(n)\nx[0] = len(y)",
    ],
    ids=["chosen", "returned", "changed", "triangle", "row", "a part", "sometimes", "left", "twice", "looked at",
         "arrays", "count changes", "while", "not empty"],
)  # fmt: skip
def test_other_lists_stay(body: str) -> None:
    assert _written(body.replace("\n", "\n ")) == body


def test_a_cell_leaves_a_list_behind() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="list"):
        extract("y = []\nfor i in range(3): y.append(A[i])")
