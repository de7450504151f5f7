"""Helpers with loops, arrays and several results: the same as in Python, where their statements stand for the call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled

RANDOM = np.random.default_rng(20)


def summed(x: Any) -> Any:
    "A helper that the cell of a test calls."
    s = 0.0
    for i in range(3):
        s += x[i]
    return s


PROGRAMS = {
    "rows_are_passed": """
def distance(x, y):
    total = 0.0
    for d in range(x.shape[0]):
        total += (x[d] - y[d]) ** 2
    return np.sqrt(total)

def f(A, B, v):
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            v[j] += 2 * distance(A[i], B[j]) + distance(B[j], A[0])
""",
    "a_return_in_the_loop": """
def steps(x, most):
    for k in range(most):
        x = x * 0.5
        if x < 0.2:
            return k
    return 99

def f(A, B, v):
    for i in range(len(v)):
        v[i] = steps(abs(v[i]), 4)
""",
    "several_results_and_names_of_the_caller": """
def sums(x, i):
    s = 0.0
    t = 0.0
    for k in range(i):
        s += x[k]
        t -= x[k]
    return s, t * i

def f(A, B, v):
    s = 1.0
    for k in range(len(v)):
        a, b = sums(v, k)
        A[0, 0] += a * s + b
        s, a = sums(A[1], 2)
        v[k] = s - a
""",
    "results_that_change_places": """
def turned(a, b):
    return b, a + b

def f(A, B, v):
    x, y = 1.0, 2.0
    for i in range(len(v)):
        x, y = turned(x, y)
        v[i] += x - 2 * y
""",
    "an_array_is_made_and_changed": """
def doubled(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = 2 * x[i]
    return out

def f(A, B, v):
    w = doubled(v)
    v = doubled(w)
    for i in range(len(v)):
        A[0, 0] += v[i] - w[i]
        w[i] = 0.0
""",
    "changes_what_it_is_given": """
def scale(x, factor):
    x[:] = factor * x[:]
    factor += 1
    for i in range(x.shape[0]):
        x[i] -= factor

def f(A, B, v):
    factor = 3.0
    scale(v, factor)
    for i in range(A.shape[0]):
        scale(A[i], factor)
    v[0] = factor
""",
    "a_name_is_given_a_value_of_its_own": """
def smoothed(x, n):
    s = 0.5 * n
    for n in range(n):
        s += x[n]
    return s + n

def f(A, B, v):
    for i in range(A.shape[0]):
        n = 3
        B[i, 0] = smoothed(A[i, :], n) + n + A[i, 0]
""",
    "helpers_of_helpers": """
def dot(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s

def normed(x):
    i = 1.0 / (1.0 + dot(x, x))
    return i * dot(x, x)

def f(A, B, v):
    for i in range(A.shape[0]):
        v[0] += normed(A[i]) - normed(B[i])
""",
    "names_of_functions_as_locals": """
def largest(x):
    max = x[0]
    for abs in range(x.shape[0]):
        if x[abs] > max:
            max = x[abs]
    return max

def f(A, B, v):
    v[1] = largest(v)
    for i in range(A.shape[0]):
        v[0] = max(largest(A[i]), abs(v[0]))
""",
    "in_bounds_and_conditions": """
def count(x):
    c = 0
    for i in range(x.shape[0]):
        if x[i] > 0:
            c += 1
    return c

def f(A, B, v):
    if count(v) > 1:
        v[0] = 7.0
    elif count(A[0]) > 1:
        v[0] = 8.0
    while v[1] < 3.0:
        v[1] += 1.0 + count(B[0])
""",
    "the_same_parameter_twice": """
def rotated(x, y, c, s):
    for i in range(x.shape[0]):
        t = c * x[i] - s * y[i]
        y[i] = s * x[i] + c * y[i]
        x[i] = t

def f(A, B, v):
    rotated(A[0], A[1], 0.6, -0.8)
    rotated(v, v, v[0], 0.5)
""",
    "changes_and_a_number_beside": """
def moved(x, unused, by):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        x[i] += by
    return s

def f(A, B, v):
    t = 2.0
    for i in range(A.shape[0]):
        v[0] = 1.0 - 0.5 * moved(v, A[i, :], 0.25)
        t += moved(A[i], B[i], t)
    v[1] = -moved(v, v, t)
""",
    "sums_of_products": """
def normal(x):
    return x * (x @ x + 1.0)

def f(A, B, v):  # of whole numbers, whose products no library rounds in an order of its own
    w = normal(np.floor(4.0 * v[:]))
    v[0] = w @ w
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_python(name: str) -> None:
    values: dict[str, Any] = {"A": RANDOM.standard_normal((4, 5)), "B": RANDOM.standard_normal((4, 5))}
    agree(PROGRAMS[name], **values, v=RANDOM.standard_normal(5))


def test_what_a_helper_changes_is_changed_at_its_time() -> None:
    text = """
def emptied(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        x[i] = 0.0
    return s

def f(v, w):
    w[1] = emptied(v)
    v[0] = 1.0
"""
    agree(text, v=RANDOM.standard_normal(4), w=np.zeros(3))
    with pytest.raises(UnsupportedSyntaxError, match="`emptied` cannot be inlined"):
        extract(text.replace("= emptied(v)", "= v[0] + emptied(v)"))
    with pytest.raises(UnsupportedSyntaxError, match="`emptied` cannot be inlined"):
        extract(text.replace("w[1] = emptied(v)", "v[1] += emptied(v)"))


@pytest.mark.parametrize("call", ["helper(v) if v[0] > 1 else 0.0", "1.0 * (v[0] > 1 and helper(v))"])
def test_what_may_not_run_is_not_computed_before(call: str) -> None:
    helper = "def helper(x):\n    s = 0.0\n    for i in range(3):\n        s += x[i]\n    return s\n"
    with pytest.raises(UnsupportedSyntaxError, match="`helper` cannot be inlined"):
        extract(f"{helper}def f(v):\n    v[0] = {call}")


def derivative(x: Any, t: Any, rate: Any) -> Any:
    "A helper that computes with whole arrays, and looks like one for numbers."
    slope = rate * np.sin(t - x)
    again = rate * rate * np.cos(x)
    return slope + again


def negated(x: Any) -> Any:
    return -x


def integrated(x: Any, t: float, rate: Any, step: float) -> Any:
    first = derivative(x, t, rate)
    middle = x + 0.5 * step * first
    second = derivative(middle, t + 0.5 * step, rate)
    last = derivative(x + step * second, t + step, negated(rate))
    return x + step / 6 * (first + 2 * second + last)


@pytest.mark.parametrize("target", ["c", "numba"])
def test_whole_arrays_go_through_helpers(target: str) -> None:
    given = {"x": RANDOM.standard_normal(6), "t": 0.5, "rate": RANDOM.standard_normal(6), "step": 0.1}
    same_compiled(integrated, given, target, "strict")


LONG = """
def face(a, b, c):
    p = (a - 2.0 * b + c) ** 2 + (a - c) ** 2
    q = (b - 2.0 * c + a) ** 2 + (b - a) ** 2
    u = 1.0 / (p + 1e-6) ** 2
    v = 1.0 / (q + 1e-6) ** 2
    return (u * (a + b) + v * (b + c)) / (u + v)

def flux(x, i):
    left = face(x[i - 1], x[i], x[i + 1])
    right = face(x[i + 1], x[i], x[i - 1])
    return 0.5 * (left * left + right * right) - 0.5 * (left - right)

def change(x, i):
    here = flux(x, i)
    there = flux(x, i + 1)
    here = here * here + there
    return here * there - here / (1.0 + there * there)

def f(x, y):
    for i in range(1, x.shape[0] - 2):
        y[i] = change(x, i)
"""


def test_what_is_too_long_as_an_expression_is_written_as_statements() -> None:
    scop = agree(LONG, x=RANDOM.standard_normal(9), y=np.zeros(9))
    assert len(scop.statements) > 3
    head, _, loop = LONG.partition("def change")
    short = head + loop[loop.index("def f") :].replace("change(x, i)", "flux(x, i)")
    assert len(extract(short).statements) == 1


def test_a_long_helper_that_calls_itself_is_refused() -> None:
    text = "def g(x):\n    return g(x * x)\n\ndef f(A):\n    A[0] = g(A[1])"
    with pytest.raises(UnsupportedSyntaxError, match="calls itself"):
        extract(text)


def bordered(x: Any, mode: str, value: float = 0.0) -> Any:
    if mode == "periodic":
        x[0] = x[x.shape[0] - 2]
        x[x.shape[0] - 1] = x[1]
    elif mode == "constant":
        x[0] = value
    elif mode != "none":
        raise ValueError("unknown mode")
    return x


def with_borders(x: Any, n: int) -> None:
    for _ in range(n):
        bordered(x, "periodic")
        for i in range(1, len(x) - 1):
            x[i] += 1
        bordered(x, mode="constant", value=2.0)
    bordered(x, "none")


def length(p: Any, q: Any) -> Any:
    x, y = p
    u, v = q
    return np.sqrt((x - u) ** 2 + (y - v) ** 2)


def of_points(points: Any, squares: Any) -> Any:
    total = 0.0
    for i in range(len(points)):
        for j in range(i):
            total += length(points[i], points[j])
    for i in range(len(squares)):
        block = squares[i]
        squares[i] = block.T @ block
    return total


def nearest(x: Any, length: float) -> Any:
    return x - length * np.round(x / length)


def strength(r2: float) -> tuple[float, float]:
    r6 = (0.1 / r2) ** 3
    return 4 * (r6 * r6 - r6), 24 * (2 * r6 * r6 - r6) / r2


def of_pairs(points: Any, length: float) -> Any:
    forces = np.zeros_like(points)
    energy = 0.0
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            between = nearest(points[i] - points[j], length)
            r2 = np.dot(between, between)
            if r2 < 0.4:
                potential, force = strength(r2)
                forces[i] += force * between
                forces[j] -= force * between
                energy += potential
    return forces, energy


@pytest.mark.parametrize("target", ["c", "numba"])
def test_rows_are_computed_with_in_helpers(target: str) -> None:
    for count in (5, 1):
        same_compiled(of_pairs, {"points": RANDOM.random((count, 3)), "length": 0.9}, target, "strict")


@pytest.mark.parametrize("target", ["c", "numba"])
def test_texts_that_a_helper_compares_are_known(target: str) -> None:
    same_compiled(with_borders, {"x": RANDOM.standard_normal(6), "n": 3}, target, "strict")


@pytest.mark.parametrize("target", ["c", "numba"])
def test_rows_are_taken_apart_in_helpers(target: str) -> None:
    given = {"points": RANDOM.standard_normal((5, 2)), "squares": RANDOM.standard_normal((2, 3, 3))}
    same_compiled(of_points, given, target, "strict")


def test_text_that_a_loop_compares_is_refused() -> None:
    text = "def g(x, mode):\n    for i in range(3):\n        if mode == x[i]:\n            x[i] = 0.0\n\ndef f(A):\n"
    with pytest.raises(UnsupportedSyntaxError, match="A string is not supported"):
        extract(text + "    g(A, 'text')")


def test_names_of_a_helper_stay_its_own_in_a_cell() -> None:
    text = "for i in range(2):\n    y[i] = summed(x)"
    known = {"summed": summed, "x": np.ones(3), "y": np.zeros(2)}
    scop = extract(text, namespace=known)
    assert not any(array.live_out and array.rank == 0 for array in scop.arrays)
