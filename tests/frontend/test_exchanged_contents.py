"""Arrays that change names in loops of which nobody knows how often they run: the values of Python."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, CodegenError, UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled


def until_settled(x, n):
    old, new = x.copy(), x.copy()
    change, steps = 1.0, 0
    while change > 1e-2 and steps < n:
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.max(np.abs(new - old))
        old, new = new, old
        steps += 1
    return old, steps


def broken_off(x, n):
    old, new = x.copy(), np.zeros_like(x)
    for _ in range(n):
        change = 0.0
        for i in range(1, len(x) - 1):
            new[i] = 0.5 * (old[i - 1] + old[i + 1])
            change = max(change, abs(new[i] - old[i]))
        new[0], new[len(x) - 1] = old[0], old[len(x) - 1]
        if change < 1e-2:
            break
        old, new = new, old
    return old, new


def in_a_circle(x, n):
    a, b, c = x.copy(), x * 2, np.zeros(len(x))
    for s in range(n):
        for t in range(s):
            for i in range(1, len(x)):
                c[i] = a[i - 1] + b[i] - t
            a, b, c = b, c, a
        a[0] = s
    return a, b, c


def with_a_name_between(x, n):
    old, new = x.copy(), x.copy()
    while old[1] < n:
        for i in range(len(x)):
            new[i] = old[i] + 1.0
        kept = old
        old = new
        new = kept
    return new, old


def sometimes(x, n):
    a, b = x.copy(), np.zeros(len(x))
    for i in range(n):
        if x[i] > 2.0:
            a, b = b, a
        b[i] += 1.0
    return a, b


def of_two_dimensions(A, n):
    old, new = A.copy(), A.copy()
    change = 1.0
    while change > 0.05:
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])
        change = np.abs(new - old).max()
        old, new = new, old
    return old


def of_arguments(u, v, n):
    prev, steps = u, 0
    cur = v
    change = 1.0
    while change > 0.01 and steps < n:
        change = 0.0
        for i in range(1, len(u) - 1):
            cur[i] = 0.5 * (prev[i - 1] + prev[i + 1])
            change = max(change, abs(cur[i] - prev[i]))
        prev, cur = cur, prev
        steps += 1
    return prev, steps


def arguments_in_a_circle(u, v, x, n):
    total = 0.0
    while total < 9.0 * n:
        for i in range(len(u)):
            u[i] += 0.25 + x[i]
            total += u[i]
        if u[0] > 20.0:
            return total, total
        u, v, x = v, x, u
    return u[0] - v[1], total


def arguments_and_others(u, n):
    b = u.copy()
    while b[0] < 3 * n:
        u[0] = b[0] + 1.0
        u[1] += 1.0
        u, b = b, u


def two_pairs(u, v, x, y, n):
    total = 0.0
    while total < 7.0 * n:
        u[0] = v[0] + 1.0
        for _ in range(3):
            x[1] = y[1] + u[0]
            x, y = y, x
        u, v = v, u
        total += v[0]
    return u, y, u * 2.0 - v


FUNCTIONS = [until_settled, broken_off, in_a_circle, with_a_name_between, sometimes, of_two_dimensions]
def broken_off_later(u, v, n):
    for t in range(n):
        v[0] = u[0] + t
        u, v = v, u
        if u[0] > 3.0:
            break


def in_inner_loops(u, v, n):
    for s in range(n):
        for t in range(s):
            v[t] = u[0] + s
            u, v = v, u
        u[1] += 1.0


OF_ARGUMENTS = [broken_off_later, in_inner_loops, of_arguments, arguments_in_a_circle, arguments_and_others, two_pairs]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba"])
def test_the_values_of_python(function, target: str) -> None:
    for n in (5, 6):
        given = {"n": n, "A": np.random.default_rng(1).random((n, n)), "x": np.arange(7.0) ** 2 / 4}
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        same_compiled(function, {name: given[name] for name in names}, target, "strict")


@pytest.mark.parametrize("function", OF_ARGUMENTS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba"])
def test_arguments_hold_what_is_theirs_at_the_end(function, target: str) -> None:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    for n in (4, 5, 6):
        given = {name: np.random.default_rng(place).random(7) for place, name in enumerate("uvxy")} | {"n": n}
        same_compiled(function, {name: given[name] for name in names}, target, "strict")


def test_arguments_of_other_types_or_sizes_are_not_exchanged() -> None:
    text = "def f(a, b):\n while b[0] > 1:\n  a[0] = b[0] / 2\n  a, b = b, a"
    kernel = pv.compile(text, target="python")
    a, b = np.zeros(3), np.array([5.0, 1.0, 2.0])
    kernel(a, b)
    assert a.tolist() == [0.625, 0.0, 0.0] and b.tolist() == [1.25, 1.0, 2.0]
    with pytest.raises(CodegenError, match="given values of float32"):
        kernel(np.ones(3), np.ones(3, np.float32))
    with pytest.raises(ArgumentError, match="these sizes"):
        kernel(np.ones(3), np.ones(4))


def test_it_is_said_that_elements_are_exchanged() -> None:
    loop = "while a[0] > 1:\n  b[0] = a[0] / 2\n  a, b = b, a"
    scop = extract(f"def f(x):\n a = x.copy()\n b = x.copy()\n {loop}\n return a")
    assert scop.notes.count("Line 6 exchanges the elements of its arrays, in the place of their names.") == 1


def test_numbers_change_names_as_they_did() -> None:
    agree("def f(A, n):\n a = 0\n b = 1\n while b < n:\n  A[a] = b\n  a, b = b, a + b", A=np.zeros(9), n=8)
    scop = extract("def f(A, n):\n a = 0.5\n b = A[0]\n while b < n:\n  k = a\n  a = b\n  b = k\n A[0] = b")
    assert not any("exchanges" in note for note in scop.notes)


def test_arrays_of_other_types_are_not_exchanged() -> None:
    text = "def f(x):\n a = np.zeros(3)\n b = x.copy()\n while b[0] > 1:\n  a[0] = b[0] / 2\n  a, b = b, a\n return a"
    kernel = pv.compile(text, target="python")
    assert kernel(np.array([5.0, 1.0, 2.0])).tolist() == [1.25, 1.0, 2.0]
    with pytest.raises(CodegenError, match="given values of float32"):
        kernel(np.ones(3, np.float32))


@pytest.mark.parametrize(
    "body",
    [
        "a = x\n b = x.copy()\n while b[0] > 1:\n  a[0] = b[0] / 2\n  a, b = b, a",
        "a = x.copy()\n b = x.copy()\n c = b\n while c[0] > 1:\n  a[0] = b[0] / 2\n  a, b = b, a",
        "b = x.copy()\n while b[0] > 1:\n  x[0] = b[0] / 2\n  x, b = b, x\n return b[1:]",
        "b = x.copy()\n c = x * 2\n while b[0] > 1:\n  x[0] = c[0] / 2\n  x, b = b, x\n  x, c = c, x",
    ],
    ids=["another name of an argument", "another name", "a part is returned", "two ways"],
)
def test_arrays_that_somebody_else_knows_are_refused(body: str) -> None:
    with pytest.raises(UnsupportedSyntaxError):
        extract(f"def f(x):\n {body}")
