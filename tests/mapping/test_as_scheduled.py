"""Plain Python without tiles is the schedule itself, to be read beside its tree."""

from __future__ import annotations

import numpy as np

import polyviz as pv
from tests.running import agree, function_of

SKEWED = """
def f(A, B, n):
    for i in range(1, n):
        for j in range(n - 1):
            A[i, j] = A[i - 1, j + 1] + B[i, j]
"""


def test_no_loop_moves_although_memory_would_like_it() -> None:
    kernel = pv.compile(function_of(SKEWED), schedule="pluto", target="python", tile=False)
    loops = [line.strip() for line in kernel.source.splitlines() if line.strip().startswith("for ")]
    # The tree has i + j, which is parallel, around i.
    assert [loop.split()[1] for loop in loops] == ["wave", "i"]
    assert [loop.endswith("# parallel") for loop in loops] == [True, False]
    agree(SKEWED, np.ones((6, 6)), np.ones((6, 6)), 6, target="python", tile=False)


def test_the_outermost_parallel_loops_are_marked_and_none_inside() -> None:
    text = "def f(A, n):\n    for i in range(n):\n        for j in range(n):\n            A[i, j] = i * j"
    kernel = pv.compile(function_of(text), schedule="pluto", target="python", tile=False)
    assert kernel.source.count("# parallel") == 1
    assert any("written out for reading" in one.text for one in kernel.plan.decisions)
    assert len(kernel.plan.work) == 1
