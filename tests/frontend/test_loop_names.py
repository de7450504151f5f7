"""Names that are variables of loops and hold other values elsewhere."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from polyviz.frontend.loop_names import with_loop_names
from polyviz.frontend.names import GlobalNames
from polyviz.frontend.source import read_source
from tests.frontend.compiled import same_compiled

V = np.arange(6.0) + 0.5


def counted_down(A: Any, n: int) -> None:
    for k in range(n):
        A[k] += 1
    k = n - 1
    while k > 0:
        A[k] += A[k - 1]
        k -= 1


def of_data(A: Any, n: int) -> float:
    s = 0.0
    for t in range(n):
        for j in range(3):
            s += A[j]
        j = int(A[t])
        A[t] = j + s
    return s


def of_factors(A: Any, n: int) -> None:
    k = 2.5
    for i in range(n):
        A[i] *= k
    for k in range(n):
        A[k] += k
    k = 1.5
    for i in range(n):
        A[i] *= k


def of_two_at_once(A: Any, n: int) -> int:
    for i in range(n):
        A[i] += 1
    i = j = 0
    while i < n and j < 3:
        if A[i] > A[j]:
            j += 1
        i += 1
    return i + 10 * j


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize(
    "function", [counted_down, of_data, of_factors, of_two_at_once], ids=lambda function: function.__name__
)
def test_as_in_python(function: Any, target: str) -> None:
    same_compiled(function, {"A": V, "n": 4}, target, "strict")


LOOP = "for k in range(n): A[k] = k"


@pytest.mark.parametrize(
    ("text", "is_own"),
    [
        (f"{LOOP}\nk = n\nA[0] = k", True),
        (f"{LOOP}\nif n > 3: k = 1\nelse: k = 2\nA[0] = k", True),
        (f"{LOOP}\nk, m = n, n\nA[0] = k + m", True),
        (f"{LOOP}\nk = m = n\nA[0] = k + m", True),
        (f"{LOOP}\nm = k = n\nA[0] = k + m", True),
        (f"{LOOP}\nm = k = k + 1\nA[0] = k + m", False),
        (f"{LOOP}\nA[k] = k = 2\nA[0] = k", False),
        (f"for t in range(n):\n {LOOP}\n k = n\n A[0] = k", True),
        (f"k = 3\nA[0] = k\n{LOOP}", True),
        (f"{LOOP}\nA[0] = k\nk = n", False),
        (f"{LOOP}\nif n > 3: k = 1\nA[0] = k", False),
        (f"{LOOP}\nk += 1\nA[0] = k", False),
        (f"{LOOP}\nwhile A[0] > 1: k = 1\nA[0] = k", False),
        (f"for t in range(n):\n A[t] = k\n {LOOP}\n k = 1\n if n > 3: k = 4", True),
        (f"k = 1\nfor t in range(n):\n A[t] = k\n {LOOP}", False),
        (f"k = 1\nwhile A[k] > 0:\n {LOOP}\n if A[0] > 3: break\n k = 2", False),
        (f"for t in range(n):\n {LOOP}\n if A[0] > 3: break\n k = 2\nA[0] = k", False),
        ("for k in range(n):\n k = 2\n A[k] = 1", False),
        (f"{LOOP}\nA[0] = 2", False),
    ],
)
def test_loops_get_names_of_their_own_where_nobody_can_tell(text: str, is_own: bool) -> None:
    source = read_source("def f(A, n):\n" + "".join(f" {line}\n" for line in text.splitlines()), None, None)
    written = ast.unparse(ast.Module(list(with_loop_names(source, GlobalNames(source)).body), []))
    assert ("k_at" in written) == is_own
