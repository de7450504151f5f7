"""Where the rows of a block are in C: one pointer for those of an array where their addresses would be too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.c import print_c
from polyviz.mapping import make_plan
from polyviz.model.processor import Processor
from polyviz.model.program import ArrayType
from tests.codegen.test_row_blocks_c import CROSS
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

CUBE = """
def cube(A, B, W, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(2, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = W[i, j, k] * (A[i + 1, j, k] - A[i - 1, j, k] - A[i, j - 2, k]) + A[i, j, k + 1]
        for i in range(1, n - 1):
            for j in range(2, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = B[i, j, k] + 0.1 * (B[i, j, k - 1] - B[i, j, k + 1])
"""
FOUR_ROWS = Processor(64, 32, 48 * 1024, 1024 * 1024, 2)
"""A processor with so many registers that four rows run together."""


def c_of(source: str) -> str:
    scop = pv.extract(function_of(source))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    plan = make_plan(scop, dependences, schedule, "c", processor=FOUR_ROWS)
    types = {array.name: ArrayType("float64", array.rank, "C") for array in scop.arrays}
    return print_c(scop, plan, types).text


@pytest.mark.slow
def test_rows_count_from_the_first_of_their_array(golden: Callable[..., None]) -> None:
    lines = [line.strip() for line in c_of(CUBE).splitlines()]
    begin = next(number for number, line in enumerate(lines) if "_from0 = " in line)
    end = next(number for number, line in enumerate(lines) if "  // line 6" in line)
    golden("\n".join(lines[begin : end + 4]) + "\n", "c")


@pytest.mark.slow
def test_few_rows_have_addresses_of_their_own() -> None:
    """Those of the second statement of the cube, and of a cross in two dimensions."""
    text = c_of(CUBE)
    assert "const vector_float64 B_row0_plus1" in text
    assert "const double *const B_from" not in text
    assert "_from" not in c_of(CROSS)


@pytest.mark.parametrize("n", [3, 4, 12, 21, 40])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_cells_are_those_of_the_user(n: int, dtype: str) -> None:
    cube = function_of(CUBE)
    kernel = pv.compile(cube, target="c", threads=2)
    random = np.random.default_rng(7)
    arrays = [random.random((n, n, n)).astype(dtype) for _ in range(3)]
    expected = [array.copy() for array in arrays]
    cube(*expected, 5, n)
    kernel(*arrays, 5, n)
    for found, right in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-12 if dtype == "float64" else 1e-4)
