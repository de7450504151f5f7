"""Counting ``while`` loops, exchanged arrays and early returns: the same result as in Python."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, CodegenError, UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled

SWAP = """
def f(A, B, n):
    for t in range(START n):
        for i in range(1, len(A) - 1):
            B[i] = 0.5 * (A[i - 1] + A[i + 1])
        A, B = B, A
    for i in range(len(A)):
        A[i] *= 2.0
"""


@pytest.mark.parametrize("steps", [0, 1, 4, 5])
@pytest.mark.parametrize("start", ["", "1, "])
def test_arrays_exchanged_after_every_step(steps: int, start: str) -> None:
    agree(SWAP.replace("START ", start), A=np.arange(6.0) ** 2, B=np.ones(6), n=steps)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4])
def test_three_arrays_in_a_circle(steps: int) -> None:
    text = """
def f(u, v, w, n):
    for t in range(n):
        for i in range(1, len(u) - 1):
            w[i] = 2 * v[i] - u[i] + 0.1 * (v[i - 1] - 2 * v[i] + v[i + 1])
        u, v, w = v, w, u
    v[0] = u[1]
"""
    agree(text, u=np.arange(6.0) ** 2, v=np.arange(6.0), w=np.zeros(6), n=steps)


FIRST = """
def f(u, v, w, n):
    for t in range(2, n):
        u, v, w = w, u, v
        for i in range(1, len(u) - 1):
            w[i] = 2 * v[i] - u[i] + 0.1 * (v[i - 1] - 2 * v[i] + v[i + 1]) + t
    v[0] = u[1]
    for t in range(n):
        v, w = w, v
        w[1] += v[2] + t
    u[2] = w[0]
"""


@pytest.mark.parametrize("steps", [0, 2, 3, 4, 5, 6])
def test_arrays_exchanged_before_every_step(steps: int) -> None:
    agree(FIRST, u=np.arange(6.0) ** 2, v=np.arange(6.0), w=np.ones(6), n=steps)


def cheapest(wall):
    before = np.zeros(wall.shape[1], dtype=wall.dtype)
    costs = wall[0].copy()
    for t in range(wall.shape[0] - 1):
        before, costs = costs, before
        for i in range(wall.shape[1]):
            least = before[i]
            if i > 0:
                least = min(least, before[i - 1])
            if i < wall.shape[1] - 1:
                least = min(least, before[i + 1])
            costs[i] = wall[t + 1, i] + least
    return costs


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("rows", [1, 2, 5, 60])
def test_the_array_that_was_filled_last_is_returned(rows: int, target: str) -> None:
    same_compiled(cheapest, {"wall": np.random.default_rng(1).integers(0, 9, (rows, 70))}, target, "strict")


def test_an_exchange_before_every_step_needs_no_third_array() -> None:
    assert {array.name for array in pv.extract(cheapest).arrays if array.rank} == {"wall", "before", "costs", "result"}


TWICE = """
for t in range(n):
    B[0] = A[0] + t
    A, B = B, A
A[1] += B[0]
for t in range(1, m):
    C[1] = A[1] * 2 - t
    A, B, C = C, A, B
B[2] = A[1] + C[0]
for t in range(n):
    B[0] += A[2]
    A, B = B, A
C[2] += A[0]
"""


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("m", [0, 2, 3, 4])
def test_several_exchanges_of_the_same_arrays(n: int, m: int) -> None:
    text = "def f(A, B, C, n, m):" + TWICE.replace("\n", "\n    ")
    agree(text, A=np.arange(4.0), B=np.zeros(4), C=np.ones(4), n=n, m=m)


@pytest.mark.parametrize("steps", [1, 2])
def test_an_exchange_in_three_lines(steps: int) -> None:
    text = """
def f(A, B, n):
    for t in range(n):
        for i in range(len(A)):
            B[i] = A[i] + t
        kept = A
        A = B
        B = kept
"""
    agree(text, A=np.arange(4.0), B=np.zeros(4), n=steps)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    "exchanges",
    [
        "A, B = B, A\n        C, D = D, C",
        "k = A; A = B; B = k\n        k = C\n        C = D\n        D = k",
        "A, B = B, A\n        B, C = C, B",
        "A, B = B, A\n        B, A = A, B\n        C, D = D, C",
    ],
    ids=["two", "in three lines each", "one after the other", "forth and back"],
)
def test_several_exchanges_at_the_end_of_a_loop(exchanges: str, steps: int) -> None:
    text = f"""
def f(A, B, C, D, n):
    for t in range(n):
        for i in range(1, len(A) - 1):
            B[i] = A[i - 1] + C[i]
            D[i] = C[i + 1] - 2 * A[i]
        {exchanges}
    A[0] = B[1] + C[2]
"""
    agree(text, A=np.arange(5.0), B=np.ones(5), C=np.arange(5.0) ** 2, D=np.zeros(5), n=steps)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("lines", ["v, w = w, v", "kept = u; u = v; v = w; w = kept"])
def test_own_arrays_may_be_exchanged_and_returned(lines: str, steps: int) -> None:
    text = f"""
def f(A, n):
    u, v = A.copy(), A.copy()
    w = np.zeros(A.shape[0])
    for t in range(n):
        for i in range(1, len(A) - 1):
            w[i] = 2 * v[i] - u[i] + 0.1 * (v[i - 1] - 2 * v[i] + v[i + 1])
        {lines}
    v[0] += u[1]
    return v, A[0], w
"""
    agree(text, A=np.arange(6.0) ** 2, n=steps)


def smoothed(a, steps):
    x = a.copy()
    y = np.zeros_like(a)
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
        x, y = y, x
    return x


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("steps", [2, 3])
def test_own_arrays_are_exchanged_and_returned_compiled(steps: int, target: str) -> None:
    same_compiled(smoothed, {"a": np.arange(9.0) ** 2, "steps": steps}, target, "strict")


def test_an_array_of_the_caller_that_changed_names_is_returned_as_a_copy() -> None:
    text = """
def f(A, n):
    B = np.empty_like(A)
    for t in range(n):
        for i in range(1, len(A) - 1):
            B[i] = A[i - 1] + A[i + 1]
        B[0] = t
        B[len(A) - 1] = 0.0
        A, B = B, A
    return A
"""
    for steps in range(4):
        scop = agree(text, A=np.arange(5.0), n=steps)
    assert "Line 10 returns an array of its own, a copy of the one that is meant then." in scop.notes
    agree("def f(A, B, n):\n for t in range(n):\n  B[0] = A[1] + t\n  A, B = B, A\n return A, B", **{
        "A": np.arange(3.0), "B": np.ones(3), "n": 3,
    })  # fmt: skip
    loop = "for t in range(n):\n  B[0] = A[1]\n  A, B = B, A"
    kernel = pv.compile(f"def f(A, B, n):\n {loop}\n return A", target="python")
    with pytest.raises(CodegenError, match="given values of float32"):
        kernel(np.ones(3), np.ones(3, np.float32), 2)
    with pytest.raises(ArgumentError):
        kernel(np.ones(3), np.ones(4), 2)


def test_own_arrays_of_different_types_are_not_returned() -> None:
    head = "def f(A, n):\n x, y = A.copy(), np.zeros(len(A))\n"
    text = f"{head} for t in range(n):\n  y[0] = x[1]\n  x, y = y, x\n return x"
    kernel = pv.compile(text, target="python")
    assert kernel(np.arange(4.0), 3).tolist() == [1.0, 0.0, 0.0, 0.0]
    with pytest.raises(CodegenError, match="given values of float64"):
        kernel(np.arange(4), 3)


@pytest.mark.parametrize(
    "text",
    [
        "def f(A, B, n):\n for t in range(n):\n  B[0] = A[0]\n  A, B = B, A\n  if A[0] > 3: break\n return A[1:]",
        "def f(A, n):\n B, C = A.copy(), A.copy()\n D = B\n for t in range(n):\n  B[0] = 1\n  C, B = B, C\n return D",
        "def f(A, B, C, n):\n for s in range(n):\n  for t in range(n):\n   B[0] = A[0]\n   A, B = B, A\n  A, C = C, A",
        "for t in range(n):\n if t > 2:\n  continue\n B[0] = A[0]\n A, B = B, A",
        "B = np.zeros(4)\nfor t in range(n):\n B[0] = A[0]\n A, B = B, A",
    ],
)
def test_an_exchange_that_cannot_be_followed_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedSyntaxError):
        extract(text)


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize(
    "loops",
    [
        "i = 0\nwhile i < n:\n    A[i] = i\n    i += 1",
        "i = 2\nwhile i <= n - 1:\n    A[i] = i\n    i = i + 3\nA[0] = i",
        "i = n - 1\nwhile i > 0:\n    A[i] = A[i - 1]\n    i -= 1\nA[0] = i",
        "i = 0\nwhile i < n:\n    j = i\n    while j < len(A):\n        A[j] += i\n        j += 2\n    i += 1",
        "i = -1\nwhile i < n - 1:\n    i += 1\n    if A[i] > 3:\n        continue\n    A[i] += i\nA[0] = i",
        "i = n\nwhile i > 0:\n    A[i - 1] += i\n    i -= 1\n    A[i] += i",
        "i = 0\nwhile i < n:\n    i += 1\n    for j in range(i):\n        if j > 2: break\n        A[j] = i",
        "i = 1\nwhile i < n:\n    i += 1\n    A[0] += i\n    i += 1\nA[1] = i",
        "i = 0\nfor j in range(3):\n    while i < n:\n        A[i] += j\n        i += 1\n    i = j",
    ],
)
@pytest.mark.parametrize("form", ["cell", "function"])
def test_a_while_that_counts(loops: str, n: int, form: str) -> None:
    text = loops if form == "cell" else "def f(A, n):\n    " + loops.replace("\n", "\n    ")
    agree(text, A=np.arange(7.0), n=n)


@pytest.mark.parametrize(
    "loops",
    ["i = 0\nwhile i < n:\n    i += 1\n    A[i - 1] = i", "while n > 0:\n    n -= 1\n    A[n] = n"],
)
def test_the_line_that_counts_may_stand_anywhere(loops: str) -> None:
    [statement] = extract("def f(A, n):\n    " + loops.replace("\n", "\n    ")).statements[-1:]
    assert len(statement.iterators) == 1


STEPS = {
    "counted last": "t = 0\nwhile t < n:\n    BODY\n    A, B = B, A\n    t += 1",
    "counted first": "t = 0\nwhile t < n:\n    t += 1\n    BODY\n    A, B = B, A",
    "counted before the exchange": "t = 2\nwhile t <= n:\n    BODY\n    t = t + 1\n    A, B = B, A\nA[0] = t",
    "counted down": "while n > 0:\n    BODY\n    A, B = B, A\n    n -= 1",
    "backwards": "for t in range(n, 0, -1):\n    BODY\n    A, B = B, A",
    "by one": "for t in range(1, n, 1):\n    BODY\n    A, B = B, A",
}


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("name", STEPS)
def test_names_are_exchanged_however_steps_are_counted(name: str, steps: int) -> None:
    body = STEPS[name].replace("BODY", "for i in range(1, len(A) - 1): B[i] = 0.5 * (A[i - 1] + A[i + 1]) + n")
    text = "def f(A, B, n):\n    " + (body + "\nA[1] += B[2]").replace("\n", "\n    ")
    agree(text, A=np.arange(6.0) ** 2, B=np.ones(6), n=steps)
    assert not any("exchanges the elements" in note for note in extract(text).notes)


@pytest.mark.parametrize("n", [0, 1, 3, 6])
@pytest.mark.parametrize(
    "body",
    [
        "if n == 0: return\nfor i in range(n): A[i] = i",
        "if n == 0: return 0.0\nif n < 3:\n    A[0] = 9.0\n    return A[0]\nfor i in range(n): A[i] += i\nreturn A[1]",
        "s = 0.0\nfor i in range(n): s += A[i]\nif s > 4: return s, 1.0\nelse: return 2.0, s",
        "if n > 2:\n    if n > 4: return\n    A[0] = 1.0\nelse:\n    A[1] = 2.0\n    return\nA[2] = 4.0",
    ],
)
def test_an_early_return(body: str, n: int) -> None:
    agree("def f(A, n):\n    " + body.replace("\n", "\n    "), A=np.arange(6.0), n=n)


def test_a_cell_says_which_names_it_exchanges() -> None:
    part = extract("for t in range(1, n):\n    B[0] = A[0]\n    A, B = B, A", sizes={})
    [exchange] = part.exchanges
    assert (exchange.names, exchange.values) == (("A", "B"), ("B", "A"))


def test_a_result_is_returned_after_arrays_were_exchanged() -> None:
    """What comes after the last mention of them does not stand in each branch: an array is returned at the end only."""

    def smoothed(A, B, n):
        C = np.zeros(n)
        total = 0.0
        for _ in range(3):
            for i in range(1, n - 1):
                B[i] = A[i - 1] * 0.5
            A, B = B, A
        for i in range(n):
            C[i] -= B[i] * 1.5
            total += A[i]
        C[0] += total
        return C

    given, expected = ([np.arange(6.0), np.ones(6)] for _ in range(2))
    np.testing.assert_array_equal(pv.compile(smoothed, target="python")(*given, 6), smoothed(*expected, 6))
    np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_continue_in_nested_conditions(seed: int) -> None:
    text = """
def f(A, x):
    count = 0
    for i in range(len(x)):
        if i > 1:
            if A[i, 0] > 0.5:
                x[i] = 3
                continue
            A[i, 0] = 1.0
        elif x[i] > 0.5:
            count += 1
        else:
            continue
        for j in range(len(x)):
            if j == i:
                continue
            if j % 2 == 0:
                x[i] += A[i, j]
                if x[i] > 2:
                    x[i] *= 0.5
                    continue
            else:
                if j % 3 == 0:
                    continue
                A[i, j] = 0
            A[i, j] += 1
        A[i, 0] += 1.0
        continue
    return count
"""
    random = np.random.default_rng(seed)
    agree(text, A=random.random((6, 6)), x=random.random(6))


def test_an_exchange_by_a_name_that_meant_something_else_before() -> None:
    text = "def f(A, B, n):\n for t in range(n):\n  k = 1\n  B[t] = A[t + 1] + k\n  k = A\n  A = B\n  B = k"
    for n in range(4):
        agree(text, A=np.arange(5.0), B=np.arange(5.0) * 2 + 1, n=n)
