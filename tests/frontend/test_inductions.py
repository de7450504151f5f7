"""Counters, periodic integers and wrap-around variables: what is followed, and that it is what Python computes."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from polyviz.frontend import extract
from tests.frontend.agreement import agree

HEAD = "def f(A, B, n, m):\n"
FOLLOWED = {
    "an assignment": "k = 0\nfor i in range(n // 2):\n    A[i] = B[k]\n    k = k + 2",
    "downwards": "k = n - 1\nfor i in range(0, n, 2):\n    A[k] = B[i]\n    k -= 1",
    "twice": "k = -1\nfor i in range(n // 2):\n    k += 1\n    A[k] = B[i]\n    k = 1 + k\n    A[k] = 0",
    "by each other": "j = -1\nfor i in range(n // 2):\n    k = j + 1\n    A[i] = B[k]\n    j = k + 1\n    A[k] = 1",
    "both at once": "j, k = 0, 1\nfor i in range(n // 2):\n    A[i] = B[j] + B[k]\n    j, k = j + 1, k + 1",
    "in both arms": "k = 0\nfor i in range(n):\n    if B[i] > 3:\n        A[k] = 1\n        k += 1\n"
    "    else:\n        k += 1",
    "past continue": "k = 0\nfor i in range(n):\n    k += 1\n    if B[i] > 3:\n        continue\n    A[k - 1] = 1",
    "by a size": "k = 0\nfor i in range(n):\n    A[i] = B[k]\n    k += m",
    "rows": "k = 0\nfor i in range(n):\n    for j in range(m):\n        A[k] = B[i] + j\n        k += 1",
    "longer rows": "k = 1\nfor i in range(n):\n    for j in range(1, m):\n        A[k - 1] = j\n        k += 1\n"
    "    k += 1",
    "four each": "k = 0\nfor i in range(n // 4):\n    for j in range(4):\n        A[k] = j\n        k += 1",
    "strided rows": "k = 0\nfor i in range(n):\n    for j in range(m, 0, -2):\n        A[k] = j\n        k += 1",
    "three levels": "k = 0\nfor t in range(2):\n    for i in range(n):\n        for j in range(m):\n"
    "            A[k] += t * j\n            k += 1\n    k = 0",
    "in an inner loop alone": "k = 0\nfor i in range(n):\n    k = i\n    for j in range(n - i):\n"
    "        A[k] = j\n        k += 1",
    "triangle": "k = 0\nfor i in range(n):\n    for j in range(i):\n        A[k] = B[j]\n        k += 1",
    "pairs": "k = 3\nfor i in range(n):\n    for j in range(i + 1, n):\n        A[k] = B[i] - B[j]\n        k += 1",
    "every second row": "k = 0\nfor i in range(1, n, 2):\n    for j in range(i):\n        A[k] = j\n        k += 2",
    "from the last row": "k = 63\nfor i in range(n - 1, -1, -1):\n    for j in range(i):\n        A[k] = j\n"
    "        k -= 1",
    "longer steps": "k = 0\nfor i in range(n):\n    A[k] = i\n    k += i + 1",
    "swapped": "a, b = 0, 1\nfor t in range(n):\n    for j in range(2):\n"
    "        A[2 * b + j] = A[2 * a + j] + 1\n    a, b = b, a",
    "in a circle": "a = 0\nb = 1\nc = 2\nfor t in range(1, 2 * n, 2):\n    A[c] = A[a] + B[b]\n    d = a\n"
    "    a = b\n    b = c\n    c = d",
    "flipped": "a = 0\nfor t in range(n):\n    A[1 - a] = A[a] + 1\n    a = 1 - a",
    "signs": "s = 1\nfor i in range(n - 1, -1, -1):\n    A[i] = s * B[i]\n    s = -s",
    "around": "a = 0\nfor t in range(n):\n    b = (a + 1) % 3\n    A[b] = A[a] + 1\n    a = b",
    "around from outside": "a = 7\nfor t in range(n):\n    A[a] = t\n    a = (a - 2) % 5",
    "the one before": "last = n - 1\nfor i in range(n):\n    A[i] = B[i] + B[last]\n    last = i",
    "the two before": "x = n - 1\ny = n - 2\nfor i in range(n):\n    A[i] = B[x] + B[y]\n    y = x\n    x = i",
    "a step before": "last = 5\nfor i in range(n - 1, 0, -2):\n    A[i] = B[last]\n    last = i - 1",
    "two before at once": "x, y = 3, 2\nfor i in range(n):\n    A[i] = B[x] + B[y]\n    x, y = y, i",
    "the row before": "p = 0\nfor i in range(1, n):\n    for j in range(2):\n"
    "        A[2 * i + j] = A[2 * p + j]\n    p = i",
}
LEFT = {
    "under a condition": "k = 0\nfor i in range(n):\n    if B[i] > 3:\n        A[k] = B[i]\n        k += 1",
    "as often as the data say": "k = 0\nfor i in range(n):\n    for j in range(int(B[i])):\n"
    "        A[k % n] = j\n        k += 1",
    "until the data say": "k = 0\nfor i in range(n):\n    for j in range(m):\n        if B[j] > 7:\n            break\n"
    "        k += 1\n    A[i] = k",
    "rows that may be cut": "k = 0\nfor i in range(n):\n    for j in range(i, m):\n        A[i] = B[k % n]\n"
    "        k += 1",
    "growing": "k = 1\nfor i in range(min(n, 5)):\n    A[i] = k\n    k = k + k",
    "sums of each other": "p, q = 0, 1\nfor i in range(n):\n    A[i] = p\n    p, q = q, p + q",
    "made of data": "last = 0\nfor i in range(n):\n    A[i] = B[last]\n    last = int(B[i])",
}


def _text(body: str, result: str = "") -> str:
    return HEAD + "".join(f"    {line}\n" for line in (body + result).splitlines())


def _agrees(text: str) -> None:
    for n in (0, 1, 2, 3, 7, 8):
        for m in (0, 1, 3, 4):
            values = np.arange(64.0) * 5 % 9
            agree(text, A=np.zeros(64), B=values, n=n, m=m)


def _integers(text: str) -> set[str]:
    """The names whose values are kept in memory."""
    return {array.name for array in extract(text).arrays if not array.rank} - {"result"}


@pytest.mark.parametrize("name", FOLLOWED)
def test_followed(name: str) -> None:
    assert _integers(_text(FOLLOWED[name])) == set()
    _agrees(_text(FOLLOWED[name]))


@pytest.mark.parametrize("name", FOLLOWED)
def test_after_the_loop(name: str) -> None:
    body = FOLLOWED[name]
    before = ast.walk(ast.parse(body[: body.index("for ")]))
    names = sorted(node.id for node in before if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    text = _text(body, "\nreturn " + ", ".join(names))
    assert {one for one in _integers(text) if not one.startswith("result")} == set()
    _agrees(text)


@pytest.mark.parametrize("name", LEFT)
def test_left_in_memory(name: str) -> None:
    assert _integers(_text(LEFT[name]))
    _agrees(_text(LEFT[name]))


def test_after_a_loop_that_may_end_early_it_is_not_known() -> None:
    text = _text("k = 0\nfor i in range(n):\n    if B[i] > 6:\n        break\n    A[k] = 1\n    k += 1\nreturn k")
    assert "k" in _integers(text)
    _agrees(text)


def test_a_cell_leaves_them_as_python_does() -> None:
    agree(
        "k = 0\nlast = n - 1\nfor i in range(n):\n    A[k] = B[last]\n    k = k + 2\n    last = i\n",
        A=np.zeros(20),
        B=np.arange(10.0),
        n=10,
    )
