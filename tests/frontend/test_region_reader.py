"""Parts of arrays whose bounds change with the loops around, and slices of one element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, OutOfBoundsError
from tests.frontend.compiled import same_compiled

x = np.arange(20.0) % 7 + 0.25


def whole_blocks(x: Any, b: int) -> Any:
    out = np.zeros(len(x))
    for s in range(0, len(x) - b + 1, b):
        out[s] = x[s : s + b].mean() + np.sum(x[s + 1 : s + b])
    return out


def ragged_blocks(x: Any, b: int) -> float:
    total = 0.0
    for s in range(0, len(x), b):
        total += np.max(x[s : min(s + b, len(x))])
    return total


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [whole_blocks, ragged_blocks], ids=lambda function: function.__name__)
def test_blocks_of_a_computed_length(function: Any, target: str) -> None:
    for b in (1, 3, 4, 20):
        same_compiled(function, {"x": x, "b": b}, target, "strict")


def test_steps_backwards_and_blocks_beyond_the_end_are_refused() -> None:
    with pytest.raises(ArgumentError, match="these sizes"):
        pv.compile(whole_blocks, target="python")(x, -2)
    text = "def f(x, b):\n t = 0.0\n for s in range(0, len(x), b):\n  t += np.sum(x[s:s+b])\n return t"
    kernel = pv.compile(pv.extract(text))
    assert kernel(x, 5) == np.sum(x)
    with pytest.raises(OutOfBoundsError):
        kernel(x, 3)


def one_column(A: Any, B: Any, i: int) -> Any:
    total = A[:, 0:1] * B + A[i : i + 1, :]
    for k in range(A.shape[1]):
        total += A[:, k : k + 1] * A[k : k + 1, :]
    B[:, :1] = A[:, 1:2]
    B[1:2, :] = A[:1, :]
    B[2:3, 2:3] = 7.0
    column = A[:, 2:3]
    apart = column.T - column
    return total, apart, A / np.sum(A[:, 0:1]), np.sum(A[:, 0:1], axis=1), A[:, :1].sum(axis=0)


@pytest.mark.parametrize("target", ["c", "numba"])
def test_slices_of_one_element_go_with_every_length(target: str) -> None:
    A = np.arange(16.0).reshape(4, 4) % 5 + 1.0
    same_compiled(one_column, {"A": A, "B": A * 2.0, "i": 2}, target, "strict")
    with pytest.raises(ArgumentError, match="these sizes"):
        pv.compile(one_column, target="python")(A, A * 2.0, -2)
    kernel = pv.compile("def f(x, y):\n x[0:1] = y[:]", target="python")
    with pytest.raises(ArgumentError, match="these sizes"):
        kernel(np.ones(3), np.ones(2))
