"""Steps over time that run together in C: the results are those of the loops as written, for all sizes and types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

TWO_ARRAYS = """
def two_arrays(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1])
"""
FAR = """
def far(A, B, steps, n):
    for t in range(steps):
        for i in range(3, n - 2):
            B[i] = 0.2 * A[i - 3] + 0.4 * A[i] - 0.1 * A[i + 2]
        for i in range(n):
            A[i] = B[i] + 0.5
"""
ROWS = """
def rows(A, B, steps, n):
    for t in range(1, steps):
        for i in range(1, n - 1):
            A[t, i] = 0.3 * A[t - 1, i - 1] + 0.4 * A[t - 1, i] + 0.2 * A[t - 1, i + 1] + B[i]
"""
UNEVEN = """
def uneven(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = A[i + 1] - 0.5 * B[i]
        for i in range(4, n - 7):
            A[i] = 0.5 * (A[i] - B[i - 1])
"""
FIXED = """
def fixed(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = A[0] * (A[i - 1] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = A[0] * (B[i] + B[i - 1]) - B[n - 1]
"""


def case(source: str, n: int, steps: int, dtype: str) -> tuple[np.ndarray, np.ndarray, int, int]:
    random = np.random.default_rng(n)
    shape = (steps + 1, n) if "t, i" in source else (n,)
    return (0.4 * random.random(shape)).astype(dtype), random.random(n).astype(dtype), steps, n


def text_of(source: str, dtype: str = "float64") -> str:
    kernel = pv.compile(function_of(source), target="c", tuned=False)
    return kernel.specialise(kernel._binder.bind(case(source, 40, 4, dtype), {}).types).text


@pytest.mark.thinned(3)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("source", [TWO_ARRAYS, FAR, ROWS, UNEVEN, FIXED])
def test_the_results_are_those_of_the_loops_as_written(source: str, dtype: str) -> None:
    function: Callable[..., None] = function_of(source)
    kernel = pv.compile(function, target="c", tuned=False)
    for n in (2, 5, 33, 36, 37, 70, 150, 600):
        for steps in (0, 1, 2, 7, 33):
            expected, found = case(source, n, steps, dtype), case(source, n, steps, dtype)
            function(*expected)
            kernel(*found)
            for one, other in zip(expected[:2], found[:2], strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-3 if dtype == "float32" else 1e-9)


@pytest.mark.parametrize(
    ("source", "dtype"), [(TWO_ARRAYS, "float64"), (FAR, "float64"), (ROWS, "float64"), (FIXED, "float32")]
)
def test_a_step_finds_what_the_one_before_computed_in_registers(
    source: str, dtype: str, one_processor: None
) -> None:
    lines = text_of(source, dtype).splitlines()
    assert any("steps run together" in line for line in lines)
    shifted = [line for line in lines if "operand0_stage2_0 = " in line]
    assert shifted
    assert all("= shifted_" in line for line in shifted)


def test_whole_numbers_run_step_by_step_and_say_so() -> None:
    kernel = pv.compile(function_of(TWO_ARRAYS), target="c", tuned=False)
    program = kernel.specialise(kernel._binder.bind(case(TWO_ARRAYS, 40, 4, "int64"), {}).types)
    assert "steps run together" not in program.text
    assert any("run one at a time, not several in one vector loop" in note for note in program.notes)


def test_only_as_many_vectors_are_read_as_there_are_cells() -> None:
    """The columns that all stages have begin and end inside the array: nothing around it is touched."""
    kernel = pv.compile(function_of(TWO_ARRAYS), target="c", tuned=False)
    around = np.full((2, 300), np.nan)
    inside = around[:, 100:171]
    inside[:] = np.random.default_rng(0).random(inside.shape)
    expected = inside.copy()
    function_of(TWO_ARRAYS)(expected[0], expected[1], 9, 71)
    kernel(inside[0], inside[1], 9, 71)
    np.testing.assert_allclose(inside, expected)
    assert np.isnan(around[:, :100]).all()
    assert np.isnan(around[:, 171:]).all()


def test_a_number_is_no_vector() -> None:
    """Columns that are set to a number, or to a cell that all of them read, are left to the compiler."""
    for value in ("0.25", "B[0]"):
        source = TWO_ARRAYS.replace("A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1])", f"A[i] = {value}")
        kernel = pv.compile(function_of(source), target="c", tuned=False)
        expected, found = case(source, 70, 7, "float64"), case(source, 70, 7, "float64")
        function_of(source)(*expected)
        kernel(*found)
        np.testing.assert_allclose(found[0], expected[0])


def test_a_stage_that_sets_the_same_number_everywhere() -> None:
    def set_and_sum(u, steps):
        for _ in range(steps):
            new = np.zeros_like(u)
            for i in range(1, len(u)):
                new[i] = u[i - 1] + u[i]
            u[:] = new

    for dtype in ("float64", "float32"):
        given = (np.arange(200) % 3).astype(dtype)
        expected = given.copy()
        set_and_sum(expected, 5)
        pv.compile(set_and_sum, target="c", contract="strict")(given, 5)
        assert np.array_equal(given, expected)
