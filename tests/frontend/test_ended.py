"""Loops that end when their data say so: ``break``, and ``while`` that counts nothing. The same result as in Python."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.agreement import agree

PROGRAMS = {
    "search": """
for i in range(n):
    B[i] = -1
    for j in range(n):
        if A[i, j] > 0.5:
            B[i] = j
            break
""",
    "variable read after break": """
for i in range(n):
    for k in range(n):
        if A[i, k] > 0.5:
            break
        A[i, k] = 2.0
    B[i] = k
""",
    "variable read after a loop of another length in each row": """
for i in range(n):
    for k in range(1, i):
        if A[i, k] > 0.5:
            break
    B[i] = i
k = 0
B[0] = k
""",
    "before and after break": """
s = 0.0
for i in range(n):
    for j in range(n):
        s += A[i, j]
        if s > 3.0:
            s = 0.0
            break
        A[i, j] = s
    B[i] = s
""",
    "break below continue": """
for i in range(n):
    count = 0
    for j in range(n):
        if A[i, j] < 0.2:
            continue
        count += 1
        if A[i, j] > 0.9:
            break
    B[i] = count
""",
    "of two loops the inner one": """
for i in range(n):
    for j in range(n):
        for k in range(n):
            if A[j, k] > 0.5:
                break
            B[i] += 1
        B[i] += A[i, j]
""",
    "of two loops the outer one": """
for j in range(n):
    for k in range(n):
        A[j, k] *= 0.5
    if A[j, 0] > 0.3:
        break
B[0] = A[0, 0]
""",
    "over elements": """
for v in B:
    if v > 2:
        break
    A[0, 0] += v
""",
    "while": """
for i in range(n):
    y = A[i, i] + 1.0
    x = y
    while abs(y * y - x) > 1e-9:
        y = 0.5 * (y + x / y)
    B[i] = y
""",
    "while that shifts": """
for i in range(1, n):
    key = B[i]
    j = i - 1
    while j >= 0 and B[j] > key:
        B[j + 1] = B[j]
        j -= 1
    B[j + 1] = key
""",
    "while true": """
for i in range(n):
    s = 1.0
    while True:
        s *= 0.5 + 0.3 * A[i, 0]
        if s < 0.1:
            break
    B[i] = s
""",
    "while around loops": """
steps = 0
error = 1.0
while error > 1e-3:
    error = 0.0
    for i in range(n):
        error = max(error, B[i])
        B[i] *= 0.5
    steps += 1
""",
    "whole numbers": """
for i in range(n):
    x = i + 7
    y = 12
    while y:
        x, y = y, x % y
    B[i] = x
""",
}


@pytest.mark.parametrize("form", ["cell", "function"])
@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_result_of_python(name: str, n: int, form: str) -> None:
    text = PROGRAMS[name].strip()
    if form == "function":
        text = "def f(A, B, n):\n    " + text.replace("\n", "\n    ")
    agree(text, A=np.random.default_rng(n).random((6, 6)), B=np.arange(6.0)[::-1].copy(), n=n)


def test_the_loops_around_are_analysed() -> None:
    part = extract(PROGRAMS["search"])
    assert [str(one.domain) for one in part.statements] == [
        "[n] -> { S0[i] : 0 <= i < n }",
        "[n] -> { S1[i] : 0 <= i < n }",
    ]
    assert "S1 (line 4) stays whole: `break` may end its loop early." in part.notes


def test_a_cell_relies_on_what_the_notebook_says_of_a_variable() -> None:
    """Where the loop runs, every row writes ``k``; a cell in which it does not leaves the notebook's own ``k``."""
    text = PROGRAMS["variable read after break"]
    names = {"A": np.ones((3, 3)), "B": np.zeros(3)}
    assert str(extract(text, namespace=names | {"n": 3}).context).endswith("n > 0 }")
    part = extract(text, namespace=names | {"n": 0, "k": 7})
    [write] = [one for statement in part.statements for one in statement.accesses if one.text == "k"][:1]
    assert not write.exact


@pytest.mark.parametrize(
    "text",
    [
        "for i, j in np.ndindex(n, n):\n    if A[i, j] > 1: break\n    A[i, j] = 0.0",
        "for t in range(n):\n    B[0] = A[0]\n    if A[0] > 1: break\n    A, B = B, A",
    ],
)
def test_what_leaves_more_than_one_loop_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedSyntaxError):
        extract(text)
