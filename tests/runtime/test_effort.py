"""gcc is asked for less where many conditions choose between values."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import Program
from polyviz.runtime.effort import LESS_EFFORT, LESS_EFFORT_NOTE, MANY, SOME, WITHOUT_COPIES, effort_flags
from polyviz.runtime.toolchain import find_toolchain
from tests.running import agree, function_of

BORDERS = """
def f(n, m, T, A, B):
    for t in range(T):
        for i in range(n):
            for j in range(m):
                up = A[i - 1, j] if i > 0 else 0.0
                left = A[i, j - 1] if j > 0 else 0.0
                down = A[i + 1, j] if i < n - 1 else 0.0
                right = A[i, j + 1] if j < m - 1 else 0.0
                B[i, j] = A[i, j] + up + left + down + right
        A[:, :] = B[:, :]
"""


@pytest.mark.parametrize(
    ("choices", "flags"),
    [(0, ()), (SOME - 1, ()), (SOME, WITHOUT_COPIES), (MANY - 1, WITHOUT_COPIES), (MANY, LESS_EFFORT)],
)
def test_choices_are_counted_in_the_function(choices: int, flags: tuple[str, ...]) -> None:
    helpers = "static int larger(int a, int b) { return a > b ? a : b; }\n" * 80
    text = f"{helpers}int64_t kernel_f(int64_t n)\n{{\n" + "    n = n > 3 ? n : 3;\n" * choices + "}\n"
    assert effort_flags(Program("c", "kernel_f", text, (), {}, {})) == flags


@pytest.mark.slow
@pytest.mark.skipif(find_toolchain() is None or find_toolchain().is_clang, reason="for gcc")
def test_choices_at_borders_in_tiles_are_compiled_in_seconds() -> None:
    """Not within a limit: gcc took minutes, and the limit of a compiler would end the test."""
    random = np.random.default_rng(1)
    kernel = agree(BORDERS, 70, 90, 5, random.random((70, 90)), np.zeros((70, 90)), target="c")
    assert LESS_EFFORT_NOTE in kernel.report()


def test_usual_loops_are_compiled_as_before() -> None:
    kernel = pv.compile(function_of("def f(A):\n    for i in range(len(A)):\n        A[i] += 1.0"), target="c")
    kernel(np.zeros(3))
    assert effort_flags(kernel.program) == ()
    assert "Compiled with -O2" not in kernel.report()
