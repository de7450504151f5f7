"""Arguments that may be None: ``if out is None`` is decided by what is given."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend import ABSENT, extract, may_be_none
from polyviz.frontend.absent import without_absent
from polyviz.frontend.source import read_source
from tests.frontend.compiled import same_compiled
from tests.running import function_of

X = np.random.default_rng(4).random(6)
PROGRAMS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "out": (
        "def f(x, out=None):\n    if out is None:\n        out = np.empty_like(x)\n    for i in range(len(x)):\n"
        "        out[i] = 2 * x[i]\n    return out",
        [{}, {"out": np.zeros(6)}],
    ),
    "both_arms": (
        "def f(x, w=None):\n    s = 0.0\n    if w is None:\n        for i in range(len(x)):\n            s += x[i]\n"
        "    else:\n        for i in range(len(x)):\n            s += w[i] * x[i]\n    return s",
        [{}, {"w": X + 1}],
    ),
    "returned_early": (
        "def f(x, w=None):\n    if w is None:\n        return x.sum()\n    return (w * x).sum()",
        [{}, {"w": X + 1}],
    ),
    "numbers": (
        "def f(x, w=None, n=None):\n    n = len(x) if n is None else n\n    w = 1.0 if w is None else w\n    s = 0.0\n"
        "    for i in range(n):\n        s += x[i] * w\n    return s",
        [{}, {"w": 2.0}, {"n": 3}, {"w": 2.0, "n": 3}],
    ),
    "more_than_that": (
        "def f(x, w=None, *, k=2.0):\n    y = x * k\n    if w is not None and w.shape[0] == x.shape[0]:\n"
        "        y += w\n    return y",
        [{}, {"w": X}, {"w": X, "k": 3.0}],
    ),
    "in_a_loop": (
        "def f(x, w=None):\n    for i in range(len(x)):\n        if not (w is None) or i > 3:\n            x[i] = 0.0",
        [{}, {"w": 1}],
    ),
}


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_with_and_without(name: str, target: str) -> None:
    text, calls = PROGRAMS[name]
    function = function_of(text)
    for given in calls:
        same_compiled(function, {"x": X.copy(), **given}, target, "strict")


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("if w is None: a = 1\n else: a = 2", "a = 1"),
        ("if w is not None: a = 1", "pass"),
        ("if w is not None or x > 0: a = 1", "if x > 0:\n    a = 1"),
        ("if w is not None and x > 0: a = 1\n else: a = 2", "a = 2"),
        ("w = x\n if w is None: a = 1\n else: a = 2", "w = x\na = 2"),
        ("if x > 0: w = x\n a = 1 if w is None else 2", "if x > 0:\n    w = x\na = 1 if w is None else 2"),
        ("for i in x:\n  if w is None: w = x[i]", "for i in x:\n    if w is None:\n        w = x[i]"),
        ("while w is None: a = 1", "while True:\n    a = 1"),
    ],
)
def test_what_is_left_where_an_argument_is_none(lines: str, left: str) -> None:
    source = without_absent(read_source(f"def f(x, w=None):\n {lines}", None, None), {})
    assert "\n".join(map(ast.unparse, source.body)) == left
    assert source.absent == {"w"}


def test_defaults_tell_where_no_call_does() -> None:
    text = "def f(x, w=None, v=None):\n    if w is None:\n        x[0] = 1.0\n    else:\n        x[v] = w"
    assert may_be_none(text) == {"w"}
    scop = extract(text)
    assert [argument.name for argument in scop.arguments] == ["x", "v"]
    assert "`w` is None, as in a call without it." in scop.notes
    given = extract(text, ranks={"w": 0})
    assert [argument.name for argument in given.arguments] == ["x", "w", "v"]
    assert [argument.name for argument in extract(text, ranks={"w": ABSENT}).arguments] == ["x", "v"]


@pytest.mark.parametrize(
    "lines",
    [
        "return x + w if w is not None or x[0] > 0 else x",
        "for i in range(len(x)):\n  if w is None: w = x[i]\n return x",
        "w = None\n if w is None: x[0] = 2.0",
        "if x[0] is None: x[0] = 1.0",
    ],
)
def test_what_stays_open_is_refused(lines: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(x, w=None):\n x[0] = 1.0\n {lines}")


HELPED = {
    "weights": "def g(x, w=None):\n    if w is None:\n        return x.sum()\n    return (w * x).sum()\n\n"
    "def f(x, y: 'float64[:]'):\n    return g(x[:]), g(x[:], y), g(x[:], None)",
    "numbers": "def g(x, k=None):\n    k = 2.0 if k is None else k\n    return x * k\n\n"
    "def f(x, y):\n    for i in range(len(x)):\n        y[i] = g(x[i]) + g(x[i], 3.0) + g(k=y[0], x=1.0)",
    "out": "def g(x, out=None):\n    if out is None:\n        out = np.zeros_like(x)\n    for i in range(len(x)):\n"
    "        out[i] = 2 * x[i]\n    return out\n\ndef f(x, y):\n    z = g(x)\n    g(z, y)\n    return z + y",
    "handed_on": "def g(x, w=None, by=2.0):\n    s = 0.0\n    for i in range(len(x)):\n"
    "        if w is None or w[i] > 0.5:\n            s += by * x[i]\n    return s\n\n"
    "def f(x, y, w=None):\n    total = g(x, w=w)\n    for i in range(len(x)):\n"
    "        if w is not None and w[i] < 0.5:\n            continue\n        y[i] += total\n    return total",
    "only_handed_on": "def g(x, w=None):\n    return x[0] if w is None else w[0] * x[0]\n\n"
    "def f(x, y, w=None):\n    y[0] = g(x, w)\n    return y[0] + 1.0",
}  # fmt: skip


@pytest.mark.parametrize("name", HELPED)
def test_helpers_that_are_called_with_and_without(name: str) -> None:
    world: dict[str, Any] = {"np": np}
    exec(HELPED[name], world)
    expected, found = (X.copy(), X.copy() + 1), (X.copy(), X.copy() + 1)
    results = world["f"](*expected), pv.compile(f"import numpy as np\n{HELPED[name]}", target="c")(*found)
    for one, other in zip((*expected, results[0]), (*found, results[1]), strict=True):
        if one is not None:
            np.testing.assert_allclose(other, one)
