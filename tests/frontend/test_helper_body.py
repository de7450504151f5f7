"""Helpers with conditions, several assignments and several returns, compared with Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyviz import extract
from polyviz.errors import UnknownNameError, UnsupportedSyntaxError
from tests.frontend.agreement import agree

RANDOM = np.random.default_rng(4)

HELPERS = {
    "clamp": """
def helper(x, y):
    if x < y:
        x = y
    elif x > y + 0.5:
        x = y + 0.5
    return x
""",
    "three_returns": '''
def helper(a, b):
    """The slope that is less steep."""
    if a * b <= 0.0:
        return 0.0
    if abs(a) < abs(b):
        return a
    return b
''',
    "both_arms": """
def helper(a, b):
    if a <= b:
        k = b
    else:
        k = a
    if k <= 0.25:
        return k
    else:
        return 2 * k
""",
    "tuples_and_updates": """
def helper(a, b):
    "Words."
    c, d = b, a
    c, d = d, c + d
    e = g = c * d
    e += g
    e -= 1
    total: float = e
    if a > 0:
        pass
    return total
""",
    "name_in_one_arm": """
def helper(a, b):
    if a > 0:
        c = a + 1
        return c
    c = b
    return c
""",
    "nothing_out_of_range_is_read": """
def helper(a, b):
    r = 0.0
    if a > 0:
        r = a if b > a else b
        if r > 1:
            r *= 0.5
        else:
            return -r
    return r
""",
}


@pytest.mark.parametrize("name", HELPERS)
def test_agrees_with_python(name: str) -> None:
    text = f"{HELPERS[name]}\ndef f(A, B):\n    for i in range(len(A)):\n        A[i] = helper(A[i], B[i]) - B[i]\n"
    values: dict[str, Any] = {"A": RANDOM.standard_normal(12), "B": RANDOM.standard_normal(12)}
    agree(text, **values)


def test_condition_guards_what_is_read() -> None:
    text = """
def at(A, i, j):
    if i < 0 or i >= A.shape[0] or j < 0 or j >= A.shape[1]:
        return 0.0
    return A[i, j]

def blur(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = at(A, i - 1, j) + at(A, i + 1, j) + at(A, i, j - 1) + at(A, i, j + 1)
"""
    agree(text, A=RANDOM.standard_normal((4, 5)), B=np.zeros((4, 5)))


def refusal(helper: str) -> UnsupportedSyntaxError:
    with pytest.raises(UnsupportedSyntaxError) as caught:
        extract(f"{helper}\ndef f(A, n):\n    for i in range(n):\n        A[i] = helper(A[i]) if n > 3 else 0.0")
    return caught.value


def test_what_is_no_expression_is_named() -> None:
    assert "this one has a loop" in refusal("def helper(x):\n    while x > 1:\n        x /= 2\n    return x").reason
    assert "this one has `x[0]`" in refusal("def helper(x):\n    x[0] = 1\n    return 2").reason
    assert "may end without `return`" in refusal("def helper(x):\n    if x > 0:\n        return x").reason
    assert "this one has `return` without a value" in refusal("def helper(x):\n    return").reason


def test_name_of_the_helper_is_no_global() -> None:
    with pytest.raises(UnknownNameError, match="The helper uses `k`"):
        extract("k = 2\ndef helper(x):\n    y = k\n    k = x\n    return y\ndef f(A, n):\n    A[0] = helper(A[1])")


def test_helper_that_grows_is_refused_soon() -> None:
    lines = "\n".join(["    x = x * x + x"] * 40)
    assert "operations" in refusal(f"def helper(x):\n{lines}\n    return x").reason


def test_values_by_name_alone() -> None:
    text = """
def scaled(x, /, step=3, *, by=2.0, more):
    return x * by + step * more

def f(A, B):
    for i in range(len(A)):
        A[i] = scaled(A[i], more=B[i]) + scaled(B[i], 4, by=0.5, more=A[i])
"""
    agree(text, A=RANDOM.standard_normal(4), B=RANDOM.standard_normal(4))


@pytest.mark.parametrize(
    ("parameters", "call"),
    [("x", "A[i], x=2"), ("x, y=1", "A[i], **more"), ("*x", "A[i]"), ("x, *, y", "A[i], 2"), ("x, **y", "A[i]")],
)
def test_calls_that_python_would_not_make_so(parameters: str, call: str) -> None:
    """Nothing that a call gives is dropped."""
    helper = f"def helper({parameters}):\n    return 3\n"
    text = f"{helper}def f(A, n):\n    for i in range(n):\n        A[i] = helper({call})"
    with pytest.raises(UnsupportedSyntaxError, match="wrong number of values"):
        extract(text)
