"""The C of row blocks: what is loaded once and shifted, and what runs element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

import polyviz as pv
from polyviz.codegen.c import print_c
from polyviz.mapping import make_plan
from polyviz.model.processor import Processor
from polyviz.model.program import ArrayType
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.program import Program

CROSS = """
def cross(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = B[i, j] + 1
"""


def program_of(source: str, dtype: str = "float64", layout: Literal["C", "A"] = "C") -> Program:
    scop = pv.extract(function_of(source))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    plan = make_plan(
        scop, dependences, schedule, "c", processor=Processor(16, 16, 32768, 262144, 2), tile=(4, 8, 64)
    )
    types = {array.name: ArrayType(dtype, array.rank, layout if array.rank else "C") for array in scop.arrays}
    return print_c(scop, plan, types)


def c_of(source: str, dtype: str = "float64", layout: Literal["C", "A"] = "C") -> str:
    return program_of(source, dtype, layout).text


def test_rows_share_what_they_load(golden: Callable[..., None]) -> None:
    golden(c_of(CROSS), "c")


@pytest.mark.parametrize(("dtype", "layout"), [("int64", "C"), ("float32", "C"), ("float64", "A")])
def test_elements_that_no_vector_loads_run_one_by_one(
    dtype: str, layout: Literal["C", "A"]
) -> None:
    """A float32 array times a Python number is float64 in numba, so vectors of either would be wrong."""
    text = c_of(CROSS, dtype, layout)
    assert "vector_" not in text
    assert "#pragma omp simd" in text


def test_why_elements_run_one_by_one_is_said() -> None:
    whole, gaps = program_of(CROSS, "int64").notes, program_of(CROSS, "float64", "A").notes
    start = "rows of S0 run one at a time, not several in one vector loop: "
    assert f"{start}B does not hold float64 or float32" in whole
    assert f"{start}the cells of B do not lie side by side in memory" in gaps


def test_rows_that_are_set_to_a_number_run_one_by_one() -> None:
    program = program_of(CROSS.replace("B[i, j] + 1", "0.25"))
    assert "loose_float64 *)&B" in program.text
    assert "loose_float64 *)&A[i][j] = " not in program.text
    assert "not all that S1 computes are float64 values side by side in memory" in program.notes[0]
