"""Counts and sums under a condition on data are sums of what the condition chooses."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import find_reductions
from polyviz.frontend import extract
from tests.running import function_of

COUNT = """
def count(x, y):
    inside = 0
    for i in range(x.shape[0]):
        if x[i] * x[i] + y[i] * y[i] < 1.0:
            inside += 1
    return inside
"""
BOTH = """
def both(x, y):
    up = 0
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > y[i]:
            up += 1
            total += x[i]
        else:
            up -= 2
            total -= y[i] / 2
    return up, total
"""


HUBER = """
def huber(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        e = abs(x[i] - y[i])
        if e < 0.25:
            total += 0.5 * e * e
        else:
            total += 0.25 * (e - 0.125)
    return total
"""


TRIANGLES = """
def triangles(x, y):
    n = 40
    found = 0
    for i in range(n):
        for j in range(i + 1, n):
            if x[i * j % n] > 0.5:
                for k in range(j + 1, n):
                    if y[j] > 0.5 and x[k] > 0.25:
                        found += 1
    return found
"""
ROWS = """
def rows(x, y):
    total = 0.0
    for i in range(100):
        if not x[i] > 0.5:
            continue
        for j in range(1000):
            total -= y[j]
    return total
"""
BELOW = {"count": COUNT, "both": BOTH, "one of two": HUBER, "triangles": TRIANGLES, "rows": ROWS}


@pytest.mark.parametrize("text", BELOW.values(), ids=BELOW)
@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_threads_and_lanes_come_to_the_same(text: str, target: str) -> None:
    x, y = np.random.default_rng(7).random((2, 1000))
    function = function_of(text)
    np.testing.assert_allclose(pv.compile(function, target=target)(x, y), function(x, y))


def test_a_count_is_shared_and_runs_in_lanes() -> None:
    kernel = pv.compile(function_of(COUNT), target="c")
    assert "inside_own_lanes[lane] += " in kernel.source
    assert "array-sum" in kernel.report()


def test_sums_in_loops_under_a_condition_are_shared_and_run_in_lanes() -> None:
    kernel = pv.compile(function_of(ROWS), target="c")
    assert "array-sum" in kernel.report()
    kernel(np.ones(100), np.ones(1000))
    assert "total_own_lanes[lane] -= y[j + lane]" in kernel.source


UNSET = """
def f(x):
    result = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            s = 1.0
            for j in range(i):
                s += x[j]
            result = max(result, s)
    return result
"""


@pytest.mark.parametrize("target", ["python", "numba", "c"])
def test_a_sum_that_begins_under_the_condition_is_not_read_without_it(target: str) -> None:
    function = function_of(UNSET)
    x = np.random.default_rng(3).random(30)
    for one in (x, np.zeros(5)):
        assert pv.compile(function, target=target)(one) == pytest.approx(function(one))
    assert len(find_reductions(extract(UNSET))) == 0


def test_lanes_ask_for_all_that_a_count_depends_on() -> None:
    kernel = pv.compile(function_of(TRIANGLES.replace("i * j % n", "j").replace("y[j]", "y[k]")), target="c")
    kernel(np.ones(40), np.ones(40))
    assert "(y[k + lane] > 0.5) & (x[k + lane] > 0.25) ? 1 : 0" in kernel.source


@pytest.mark.parametrize(
    ("body", "sums"),
    [
        ("if A[i] > 0:\n        for j in range(n):\n            s += A[j]", 1),
        ("if A[i] > 0:\n        for j in range(n):\n            if A[j] > 0:\n                s += 1", 1),
        ("if A[i] > 0:\n        for j in range(n):\n            s *= A[j]", 0),
        ("if A[i] > 0:\n        for j in range(n):\n            B[i] += A[j]", 0),
        ("if A[i] > 0:\n        for j in range(n):\n            s += A[j] * s", 0),
        ("if A[i] > 0: s += A[i]", 1),
        ("if A[i] > 0:\n        s += A[i]\n    else:\n        s -= 1", 2),
        ("if A[i] > 0:\n        s += A[i]\n    else:\n        s += 1", 2),
        ("if A[i] > 0:\n        s += 0.5 * A[i]\n    else:\n        s += A[i] - 0.5", 1),
        ("if A[i] > 0:\n        s += 1\n    else:\n        s += 3", 1),
        ("if A[i] > 0:\n        s -= A[i] / 2\n    else:\n        s -= -0.5", 1),
        ("if A[i] > s: s += A[i]", 0),
        ("if A[i] > 0: s += s * A[i]", 0),
        ("if A[i] > 0:\n        s += 1\n        r += s", 0),
        ("if A[i] > 0: s = A[i]", 0),
        ("if A[i] > 0: B[i + 1] += A[i]", 0),
        ("if A[i] > 0:\n        s += 1\n        B[i] = s", 0),
    ],
)
def test_only_sums_in_variables_that_nothing_else_there_looks_at(body: str, sums: int) -> None:
    part = extract(f"for i in range(n):\n    {body}")
    assert len(find_reductions(part)) == sums


def test_an_element_is_left_alone_where_the_condition_guards_its_subscript() -> None:
    text = "def f(A, B):\n    for i in range(A.shape[0]):\n        if A[i] > 0:\n            B[i + 1] += 1.0"
    A, B = np.array([1.0, 1.0, -1.0]), np.zeros(3)
    pv.compile(function_of(text), target="python")(A, B)
    assert B.tolist() == [0, 1, 1]


WHERE_CHOSEN = """
def chosen(x, mask, s):
    for i in range(x.shape[0]):
        if mask[i]:
            s += x[i]
    return s
"""


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint64", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_what_is_not_chosen_widens_no_sum(dtype: str, target: str) -> None:
    random = np.random.default_rng(3)
    x, mask = (random.random(300) * 50).astype(dtype), random.random(300) > 0.5
    start = np.dtype(dtype).type(0) if dtype.startswith(("float", "complex")) else 0
    found = pv.compile(function_of(WHERE_CHOSEN), target=target, contract="strict")(x, mask, start)
    assert found == function_of(WHERE_CHOSEN)(x, mask, start)


@pytest.mark.parametrize("target", ["numba", "python"])
def test_a_sum_that_nothing_is_added_to_keeps_the_sign_of_its_zero(target: str) -> None:
    # gcc 12 makes 0.0 of -0.0 in whole vectors, so C is not asked.
    kernel = pv.compile(function_of(WHERE_CHOSEN), target=target, contract="strict")
    assert str(kernel(np.ones(9), np.zeros(9, bool), -0.0)) == "-0.0"
    assert "-0.0" not in pv.compile(function_of(WHERE_CHOSEN), target=target).source
