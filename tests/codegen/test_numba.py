"""The text for numba: a function one can copy out, parallel where the plan says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import pytest

import polyviz as pv
from tests.codegen.programs import SOURCES, program
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("name", SOURCES)
def test_text(name: str, golden: Callable[..., None]) -> None:
    golden(program(name, "numba").source)


def test_text_under_the_strict_contract(golden: Callable[..., None]) -> None:
    function = function_of(SOURCES["sum"])
    golden(pv.compile(function, target="numba", floating_point="strict").source)


def test_tested_subscripts_keep_numba_serial(golden: Callable[..., None]) -> None:
    function = function_of("""
        def gather(A, J, B):
            for i in range(len(J)):
                for j in range(len(J)):
                    A[i, j] = B[J[i], J[j]]
    """)
    kernel = pv.compile(function, target="numba")
    assert "prange" not in kernel.source
    golden("\n".join(kernel.program.notes))
    assert "omp parallel" in pv.compile(function, target="c").source


@pytest.mark.slow
def test_the_text_alone_is_the_function() -> None:
    text = program("gemm", "numba").source
    names: dict[str, object] = {}
    exec(compile(text, "copied out", "exec"), names)
    copied = names["gemm"]
    assert isinstance(copied, numba.core.registry.CPUDispatcher)
    first, second, result = np.ones((3, 4)), np.ones((4, 5)), np.ones((3, 5))
    copied(2.0, 0.5, result, first, second)
    np.testing.assert_array_equal(result, 8.5)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("change", "value"), [("s = A[i] - s", 2.0), ("s = A[i]", 3.0), ("s += A[i]", 4.0)])
def test_a_scalar_that_one_iteration_of_a_parallel_loop_changes(change: str, value: float) -> None:
    """numba would forget the value, or take it for a reduction that it does not know."""
    function = function_of(f"""
        def once(A, B, n):
            s = 1.0
            for i in range(n):
                B[i] = A[i] * 2
                if 2 * i == n:
                    {change}
            return s
    """)
    schedule = "[n] -> { S0[] -> [0, 0, 0]; S1[i] -> [1, i, 0]; S2[i] -> [1, i, 1] }"
    kernel = pv.compile(function, schedule=schedule, target="numba", tile=False)
    assert "prange(n)" in kernel.source
    assert kernel(np.arange(6.0), np.zeros(6), 6) == value


@pytest.mark.slow
def test_names_that_numba_gives_to_the_values_of_others() -> None:
    """It calls the values of ``total`` total_1, total_2 and so on where loops are parallel."""
    function = function_of("""
        def twice_normed(v):
            w = v[:] / np.sqrt(v[:] @ v[:] + 1.0)
            v[0] = w @ w
    """)
    kernel, vector = pv.compile(function, target="numba"), np.ones(3)
    assert "prange" in kernel.source
    kernel(vector)
    np.testing.assert_allclose(vector, [0.75, 1, 1])
