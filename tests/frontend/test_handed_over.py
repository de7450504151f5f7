"""Arrays that go from one name to the next: the values of Python, and fewer names than lines."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from polyviz.frontend.handed_over import with_own_arrays
from polyviz.frontend.names import GlobalNames
from polyviz.frontend.source import read_source
from tests.frontend.compiled import same_compiled


def step(u, c):
    new = np.zeros(len(u))
    for i in range(1, len(u) - 1):
        new[i] = u[i] + c * (u[i - 1] - 2 * u[i] + u[i + 1])
    return new


def moved(u, v, c):
    a, b = np.empty_like(u), np.empty_like(v)
    for i in range(len(u)):
        a[i] = u[i] + c * v[i]
        b[i] = v[i] - c * u[i]
    return a, b


def named_first(u, n):
    for _ in range(n):
        new = step(u, 0.1)
        u = new
    return u


def changed_afterwards(u, n):
    u = u.copy()
    for t in range(n):
        u = step(u, 0.1)
        u[0] = t
    return u


def until_settled(u, n):
    change, t = 1.0, 0
    while change > 1e-3 and t < n:
        v = step(u, 0.1)
        change = np.max(np.abs(v - u))
        u = v
        t += 1
    return u, change


def twice(u, n):
    v = u.copy()
    for _ in range(n):
        v = step(step(v, 0.1), 0.2)
    return v


def leapfrog(u, n):
    before, now = u.copy(), u * 1.5
    for _ in range(n):
        after = np.zeros(len(u))
        for i in range(1, len(u) - 1):
            after[i] = 2 * now[i] - before[i] + 0.1 * (now[i + 1] - 2 * now[i] + now[i - 1])
        before, now = now, after
    return before, now


def leapfrog_line_by_line(u, n):
    before, now = u.copy(), u.copy()
    for _ in range(n):
        after = np.zeros(len(u))
        for i in range(1, len(u) - 1):
            after[i] = 2 * now[i] - before[i]
        before = now
        now = after
    return now


def what_the_other_was(u, n):
    before = u
    now = step(u, 0.1)
    for _ in range(n):
        before, now = now, step(now, 0.1) + 0.5 * before
    return now


def pairs(u, n):
    v = u * 2
    for _ in range(n):
        u, v = moved(u, v, 0.1)
    return u, v


def argument_copied_first(u, n):
    u = u.copy()
    new = np.empty_like(u)
    for _ in range(n):
        for i in range(1, len(u) - 1):
            new[i] = u[i - 1] + u[i + 1]
        new[0], new[len(u) - 1] = 0.0, 1.0
        u, new = new, u
    return u


FUNCTIONS = [
    named_first, changed_afterwards, until_settled, twice, leapfrog, leapfrog_line_by_line, what_the_other_was, pairs,
    argument_copied_first,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba"])
def test_the_values_of_python(function, target: str) -> None:
    for n in (0, 1, 4):
        same_compiled(function, {"u": np.arange(6.0) ** 2 / 9, "n": n}, target, "strict")


def _written(body: str) -> str:
    lines = body.replace("\n", "\n ")
    source = read_source(f"def f(a, b, n):\n {lines}", None, None)
    return "\n".join(map(ast.unparse, with_own_arrays(source, GlobalNames(source)).body))


def test_values_are_computed_before_names_change() -> None:
    assert _written("a[0] = 1\na, b = b, a + b[:]") == "a[0] = 1\nb_new = a + b[:]\na = b\nb = b_new"
    assert _written("a[0] = 1\na, b = a + 1, a") == "a[0] = 1\nb = a\na = a + 1"


@pytest.mark.parametrize(
    "body",
    [
        "a[0] = b[0]\na, b = (b, a)",
        "n, k = (k, n + 1)\na[0] = n",
        "for i in range(n):\n    c = np.zeros(n)\n    if i > 3:\n        break\n    d = c\nd[0] = 1",
        "c = np.zeros(n)\nd = np.ones(n)\nc[0] = d[0]\nd = c",
        "c = np.zeros(n)\nd = c\nd[0] = 1\nc[1] = 2",
        "c = b[1:]\nd = c\nd[0] = 1",
        "a = b\na[0] = 1",
    ],
    ids=["exchange", "numbers", "left before", "looked at", "both used", "a part", "no new array"],
)
def test_what_would_mean_something_else_stays(body: str) -> None:
    assert _written(body) == body


def test_a_name_of_an_argument_that_is_changed_is_still_refused() -> None:
    with pytest.raises(UnsupportedSyntaxError):
        extract("def f(u, n):\n v = u\n for t in range(n):\n  v[0] = t\n  v = v * 2\n return v")
