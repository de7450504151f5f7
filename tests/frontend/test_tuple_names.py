"""Names of tuples stand for their values, and loops over a few names are written out: the values of Python."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from polyviz.frontend.names import GlobalNames
from polyviz.frontend.source import read_source
from polyviz.frontend.tuple_names import without_tuple_names
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled


def both(a, b):
    return a + b, a - b


def least_and_largest(x):
    low, high = x[0], x[0]
    for value in x:
        low, high = min(low, value), max(high, value)
    return low, high


def set_ends(x):
    x[0] = 0.0
    x[len(x) - 1] = x[1]


def set_both(x, y):
    for field in (x, y):
        field[0] = 7.0
    ends = (x[1], y[1])
    return ends[0] + ends[1]


def inside_of_helpers(x, y, n):
    total = set_both(x, y)
    return total * n


def numbers(x, y, n):
    step = (n, 0.5, x[1])
    a, b, c = step
    y[0] = a + b * c
    for i in range(len(step)):
        y[i] += step[-1] + step[0]
    return step


def of_helpers(x, y, n):
    for i in range(n):
        pair = both(x[i], y[i])
        x[i], y[i] = pair[0], pair[1]
    ends = least_and_largest(x)
    for i in range(n):
        x[i] = (x[i] - ends[0]) / (ends[1] - ends[0])
    y[0] = both(x[0], y[1])[1] + least_and_largest(y)[0]
    return ends


def best_so_far(x, y, n):
    best = (0.0, 0)
    for i in range(n):
        if x[i] > best[0]:
            best = (x[i], i)
    turns = (0.0, 1.0)
    for i in range(n):
        turns = (turns[1], turns[0] + y[i])
    return best[0], best[1], turns[1]


def arrays(x, y, n):
    state = (x, y)
    state[0][1] = 3.0
    for i in range(n):
        state[1][i] += state[0][i]
    for field in state:
        set_ends(field)
    results = (x[:] * 2, y.sum())
    return results


def loops_over_arrays(x, y, n):
    old, older = x.copy(), y.copy()
    for field, before in zip((x, y), (old, older), strict=False):
        for i in range(1, n - 1):
            if i == 2:
                continue
            field[i] = before[i - 1] + before[i + 1]
    for k, (field, before) in ((1, (x, old)), (2, (y, older))):
        field[0] = k * before[1]
    total = 0.0
    for part in (x[0], n, both(y[1], 2.0)[0]):
        total += part
    for number in (total, n):
        y[0] += 2 * number
    return total * number


FUNCTIONS = [inside_of_helpers, numbers, of_helpers, best_so_far, arrays, loops_over_arrays]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba"])
def test_the_values_of_python(function, target: str) -> None:
    given = {"x": np.array([2.0, 5.0, 1.0, 7.0]), "y": np.array([1.0, 0.5, 4.0, 3.0]), "n": 4}
    same_compiled(function, given, target, "strict")


def test_values_in_the_place_of_arguments() -> None:
    agree("def f(y, n):\n ends = (1, n)\n for i in range(*ends): y[i] = max(*ends, i)", y=np.zeros(5), n=4)


def _written(body: str) -> str:
    helper = "def g(a): return a, a * 2\n" if "g(" in body else ""
    source = read_source(f"{helper}def f(x, y, n):\n {body}", None, None)
    return "\n".join(map(ast.unparse, without_tuple_names(source, GlobalNames(source)).body))


def test_one_value_of_a_helper_is_computed_before() -> None:
    assert _written("x[n] = g(y[n])[1] + 1") == "values_0, values_1 = g(y[n])\nx[n] = values_1 + 1"
    assert _written("for v in (g(n)[0], x): v[0] = 1").startswith("values_0, values_1 = g(n)\nvalues_0[0] = 1")
    for text in ("x[n] = g(y[n])[1] if n > 2 else 0", "while g(x[0])[1] > 3:\n    x[0] = 1"):
        assert _written(text) == text  # nobody knows whether, or how often, it is called


def test_a_variable_that_is_read_behind_the_loop_has_its_last_value() -> None:
    assert _written("for v in (x, n): y[0] = 1\n y[1] = v") == "y[0] = 1\ny[0] = 1\nv = n\ny[1] = v"
    assert _written("for v in (x, y): v[0] = 1") == "x[0] = 1\ny[0] = 1"


@pytest.mark.parametrize(
    "body",
    [
        "p = (x, n)\nq = p",
        "p = (x, n)\nx[0] = p[n]",
        "p = (x, n)\nx[0] = p[2]",
        "p = (n, 1)\nif n > 3:\n    p = (n, 1, 2)\nx[0] = p[0]",
        "p = (n, (n, 1))\nx[0] = p[0]",
        "p = (0, 1, 3)\nfor d in p:\n    x[d] = p[n]",
        "for v in (x, y):\n    if v[0] > 3:\n        break",
        "for v in (x, y):\n    x = y",
        "for v, w in (x, y):\n    v[0] = w",
        "for v in (n, 2):\n    n += v",
    ],
    ids=["as a whole", "any place", "no such place", "other lengths", "nested", "constants", "left", "changed",
         "others", "changed inside"],
)  # fmt: skip
def test_others_stay(body: str) -> None:
    assert _written(body.replace("\n", "\n ")) == body


def test_a_cell_keeps_its_tuples() -> None:
    with pytest.raises(UnsupportedSyntaxError):
        extract("p = (n, m)\nA[0] = p[0]")
