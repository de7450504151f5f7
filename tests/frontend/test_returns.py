"""Arrays behind an early ``return``: made once, at the start, with no fewer than 0 elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, CodegenError, UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled

X = np.array([1.0, -2.0, 4.0, 3.0])


def distance(s: Any, t: Any) -> int:
    if len(s) == 0:
        return len(t)
    elif len(t) == 0:
        return len(s)
    n = len(t)
    before = np.empty(n + 1, dtype=np.int64)
    now = np.empty(n + 1, dtype=np.int64)
    for j in range(len(before)):
        before[j] = j
    for i in range(len(s)):
        now[0] = i + 1
        for j in range(n):
            cost = 0 if s[i] == t[j] else 1
            now[j + 1] = min(now[j] + 1, before[j + 1] + 1, before[j] + cost)
        for j in range(n + 1):
            before[j] = now[j]
    return now[n]


def of_differences(x: Any, n: int) -> float:
    if n < 3:
        return 0.0
    d = np.zeros(n - 2)
    for i in range(n - 2):
        d[i] = x[i + 2] - 2 * x[i + 1] + x[i]
    squares = d * d
    s = 0.0
    for i in range(n - 2):
        s += squares[i]
    return s


def of_data(x: Any) -> float:
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    if s > 5:
        return s
    t = x * 2
    w = np.full(len(x), 3.0)
    for i in range(1, len(x)):
        t[i] += t[i - 1] * w[i]
    return t[len(x) - 1]


def from_a_loop(x: Any, v: float) -> float:
    for i in range(len(x)):
        if x[i] > v:
            return x[i]
    t = np.zeros(len(x))
    for i in range(1, len(x)):
        t[i] = x[i] + t[i - 1]
    return t[len(x) - 1]


def without_value(x: Any, n: int) -> None:
    if n == 0:
        return
    t = np.ones(n)
    for i in range(n):
        x[i] += t[i]


def same_array(x: Any, v: float) -> Any:
    y = x.copy()
    if v == 0:
        return y
    c = np.zeros(len(x))
    for i in range(len(x)):
        c[i] += x[i] / v
    y += c
    return y


def same_arrays(x: Any, v: float) -> Any:
    y = np.zeros(len(x))
    z = x.copy()
    if v > 3:
        return y, z
    if v > 2:
        y[0] = 1
        return y, z
    for i in range(len(x)):
        y[i] = v * x[i]
    return y, z


def whole_array(x: Any, v: float) -> Any:
    y = x * 2
    if v > 1:
        return y
    y += 1
    return y


def array_and_number(x: Any, v: float) -> Any:
    y = x.copy()
    s = 0.0
    if v > 1:
        return y, s
    s = 1.0
    y[0] = 2
    return y, s


def array_and_another_number(x: Any, v: float) -> Any:
    y = x.copy()
    if v > 3:
        return y, 0, v
    count = 0
    for i in range(len(x)):
        if x[i] > v:
            y[i] = v
            count += 1
    if count > 1:
        return y, count, v + 1
    return y, -count, 0.5


def other_array(x: Any, y: Any, v: float) -> Any:
    z = x * 2
    if v > 3:
        return z
    if v > 2:
        x[1] = 7.0
        return x
    y[0] = v
    return y


def other_arrays(x: Any, y: Any, v: float) -> Any:
    for i in range(len(x)):
        x[i] += y[i]
    if v > 3:
        return x, y, v
    return y, x, 0.5


CASES: dict[Any, list[dict[str, Any]]] = {
    distance: [
        {"s": np.array(one, dtype=np.int64), "t": np.array(other, dtype=np.int64)}
        for one, other in (([1, 2, 3], [1, 3, 2, 2]), ([], [1]), ([1, 1], []))
    ],
    of_differences: [{"x": X, "n": n} for n in (4, 2, 0)],
    of_data: [{"x": X}, {"x": X - 1}],
    from_a_loop: [{"x": X, "v": v} for v in (2.0, 9.0)],
    without_value: [{"x": X, "n": n} for n in (3, 0)],
    same_array: [{"x": X, "v": v} for v in (2.0, 0.0)],
    whole_array: [{"x": X, "v": v} for v in (0.5, 1.5)],
    array_and_number: [{"x": X, "v": v} for v in (0.5, 1.5)],
    array_and_another_number: [{"x": X, "v": v} for v in (3.5, 1.0, 3.0)],
    other_array: [{"x": X, "y": X * X, "v": v} for v in (1.0, 2.5, 4.0)],
    other_arrays: [{"x": X, "y": X * X, "v": v} for v in (1.0, 4.0)],
    same_arrays: [{"x": X, "v": v} for v in (1.0, 2.5, 4.0)],
}


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_as_in_python(function: Any, target: str) -> None:
    for given in CASES[function]:
        same_compiled(function, given, target, "strict")


def test_other_arrays_are_refused() -> None:
    text = (
        "def f(x, v):\n    y = x.copy()\n    if v > 3:\n        return y\n    z = x.copy()\n    z[0] = v\n    return z"
    )
    with pytest.raises(UnsupportedSyntaxError, match="or with the same arrays") as caught:
        extract(text)
    assert caught.value.span is not None and caught.value.span.line == 4


def test_arrays_that_each_branch_chooses_are_returned_as_copies_of_one_shape_and_type() -> None:
    text = "def f(x, y, v):\n    x[0] = y[0]\n    if v > 3:\n        return x\n    return y"
    note = "Line 4 returns an array of its own, a copy of the one that is meant then."
    assert note in extract(text).notes
    kernel = pv.compile(text, target="python")
    with pytest.raises(ArgumentError, match="sizes"):
        kernel(np.ones(3), np.ones(4), 5)
    with pytest.raises(CodegenError, match="given values of float32"):
        kernel(np.ones(3), np.ones(3, np.float32), 5)


def test_other_arrays_beside_the_same_are_refused() -> None:
    text = "def f(x, v):\n    y = x.copy()\n    z = y.copy()\n    z[0] = v\n    if v > 3:\n        return y, z\n"
    with pytest.raises(UnsupportedSyntaxError, match="or with the same arrays"):
        extract(f"{text}    return y, x")


def test_array_of_a_loop_behind_stays_there() -> None:
    text = "def f(x, n):\n    if n == 0:\n        return 0.0\n    s = 0.0\n    for i in range(n):\n"
    with pytest.raises(UnsupportedSyntaxError, match="is made inside a loop"):
        extract(text + "        t = np.zeros(i)\n        s += t[0] + x[i]\n    return s")
