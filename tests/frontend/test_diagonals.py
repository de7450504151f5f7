"""Diagonals of matrices, as arrays, sums and what is stored along them, compiled and compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled
from tests.running import function_of

RANDOM = np.random.default_rng(6)
GIVEN = {"A": RANDOM.random((4, 4)) + 4 * np.eye(4), "W": RANDOM.random((3, 5)), "v": RANDOM.random(4), "c": 2.0}
PROGRAMS = {
    "traces": "def f(A, W):\n    B = A @ A\n    return 2 * np.trace(A) + np.trace(B), np.trace(W)",
    "filled": "def f(A, W, c):\n    np.fill_diagonal(A, c)\n    np.fill_diagonal(W, c * A[0, 1] + W[0, 0])",
    "of_a_matrix": "def f(W):\n    d = np.diag(W)\n    return d * 2",
    "of_a_vector": "def f(v):\n    D = np.diag(v)\n    return D",
    "kept": "def f(A):\n    n, m = A.shape\n    d = np.diag(A).copy()\n    A[0, 0] = 5.0\n    return d",
    "others": "def f(A: 'float64[:, :]'):\n    d = np.diag(A, 1)\n    e = np.diagonal(A, offset=-2)\n    return d, e",
    "beside": "def f(v: 'float64[:]'):\n    D = np.diag(v, 1)\n    E = np.diag(v, k=-2)\n    return D, E",
    "outside": "def f(W: 'float64[:, :]'):\n    d = np.diag(W, 7) * 2.0\n    return d",
    "without": "def f(A: 'float64[:, :]', v):\n    B = A - np.diag(np.diag(A))\n    return v / np.diag(A), B",
    "computed": "def f(A, v):\n    d = np.diag(A.sum(axis=1)) - A\n    s = np.trace(A @ A) + 1\n"
    "    d += np.diag(v * 2)\n    return d, s",
    "added_up": "def f(A: 'float64[:, :]'):\n    return np.sum(np.diag(A)) + np.diag(A).sum()",
    "steps": "def f(A, v, c):\n    D = np.diag(A)\n    x = np.zeros(len(v))\n    for t in range(3):\n"
    "        x[:] = (v - A @ x + D * x) / D * c\n    return x",
}  # fmt: skip


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_those_of_numpy(name: str, target: str) -> None:
    function = function_of(PROGRAMS[name])
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    same_compiled(function, {one: GIVEN[one] for one in names}, target, "strict")


@pytest.mark.parametrize("kind", ["int32", "float32", "bool"])
def test_types_stay(kind: str) -> None:
    given: dict[str, Any] = {"A": np.arange(9).reshape(3, 3).astype(kind)}
    text = "def f(A: 'float64[:, :]'):\n    d = np.diag(A)\n    D = np.diag(d)\n    return d, D"
    same_compiled(function_of(text), given, "c", "strict")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def f(A):\n n, m = A.shape\n d = np.diag(A)\n A[0, 0] = 1.0\n return d", "stands for a diagonal of `A`"),
        ("def f(A, c):\n return np.trace(A @ A) if c > 0 else A[0, 0]", "np.trace"),
        ("def f(A, k):\n return np.diag(A, k) + A[0, 0]", "np.diag"),
        ("def f(A):\n np.fill_diagonal(A, 1.0, wrap=True)\n A[0, 0] = 1.0", "np.fill_diagonal"),
    ],
)
def test_what_they_are_is_not_known(text: str, told: str) -> None:
    with pytest.raises(ExtractionError, match=told):
        extract(text)


def test_a_cell_keeps_elements() -> None:
    names = {"A": np.ones((3, 3)), "np": np}
    with pytest.raises(ExtractionError, match="stands for a diagonal"):
        extract("d = np.diag(A)", namespace=names)
    assert extract("d = np.diag(A).copy()\nnp.fill_diagonal(A, 0.0)", namespace=names).statements
