"""`else` of loops: it runs where no `break` has left the loop, as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from tests.frontend.agreement import agree

X = np.array([1.0, -2.0, 4.0, 3.0])

PROGRAMS = {
    "with_break": """
def f(x, edges, counts):
    for i in range(x.shape[0]):
        for b in range(edges.shape[0] - 1):
            if edges[b] <= x[i] and x[i] < edges[b + 1]:
                counts[b] += 1
                break
        else:
            if x[i] == edges[0] + 6.0:
                counts[0] += 10
""",
    "without_break": """
def f(x, edges, counts):
    for i in range(x.shape[0]):
        counts[0] += i
    else:
        counts[1] += x[0]
""",
    "goes_on_with_the_loop_around": """
def f(x, edges, counts):
    for i in range(x.shape[0]):
        for b in range(2):
            if x[i] < b:
                break
        else:
            continue
        counts[2] += x[i]
""",
    "leaves_the_loop_around": """
def f(x, edges, counts):
    for i in range(x.shape[0]):
        for b in range(2):
            if x[i] < b - 4:
                break
        else:
            break
        counts[2] += x[i]
    else:
        counts[1] = 5.0
""",
    "of_while": """
def f(x, edges, counts):
    i = 0
    while i < x.shape[0]:
        if x[i] < -1:
            break
        i += 1
    else:
        counts[0] = 3.0
    counts[1] = i
""",
    "in_a_helper": """
def place(x, v):
    for k in range(x.shape[0]):
        if x[k] > v:
            found = k
            break
    else:
        found = -1
    return found

def f(x, edges, counts):
    for i in range(edges.shape[0]):
        counts[1] += place(x, edges[i])
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_python(name: str) -> None:
    for x in (X, X + 3):
        agree(PROGRAMS[name], x=x, edges=np.array([-3.0, 0.0, 2.0]), counts=np.zeros(3))


def found(x: Any, v: float) -> float:
    for i in range(len(x)):
        if x[i] > v:
            break
    else:
        return -1.0
    return x[i]


@pytest.mark.parametrize("target", ["c", "numba"])
def test_a_return_stands_there(target: str) -> None:
    kernel = pv.compile(found, target=target)
    for v in (3.5, 0.0, 9.0):
        assert kernel(X, v) == found(X, v)


def test_a_cell_keeps_no_flag() -> None:
    text = "for i in range(n):\n    if A[i] > v:\n        break\nelse:\n    A[0] = v"
    scop = agree(text, A=X, v=9.0, n=4)
    assert not any(array.live_out for array in scop.arrays if array.name.startswith("left"))
