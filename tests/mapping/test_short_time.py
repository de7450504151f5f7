"""A time that is known to be short: it sweeps all the same, and threads have rows of tiles to share."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping import make_plan, row_height
from polyviz.mapping.tile_sizes import TileSizes
from polyviz.model.processor import Processor
from polyviz.runtime.machine import this_machine
from tests.running import function_of

STEPS = """
def steps(A, B):
    n, m = A.shape
    for t in range({count}):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = 0.25 * (B[i - 1, j] + B[i + 1, j] + B[i, j - 1] + B[i, j + 1])
"""
COLOURS = """
def colours(A, f):
    n = A.shape[0]
    for t in range(5):
        for colour in range(2):
            for i in range(1, n - 1):
                for j in range(1 + (i + colour) % 2, n - 1, 2):
                    A[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] - f[i, j])
"""


@pytest.mark.parametrize("count", ["10", "2", "60", "T", "100"])
def test_there_are_rows_of_tiles_for_all_threads(count: str) -> None:
    text = STEPS.format(count=count).replace("(A, B)", "(A, B, T)" if count == "T" else "(A, B)", 1)
    kernel = pv.compile(function_of(text), target="c")
    processor = this_machine().processor
    usual = TileSizes(None, processor).of_stencil((0, 1, 2), chains=False, together=True)[0]
    size = row_height(int(count), max(2, processor.cores), usual) if count in ("10", "2", "60") else usual
    assert f"the band is tiled by {size} x " in kernel.report()
    assert "#pragma omp parallel" in kernel.source


@pytest.mark.parametrize(("cores", "size"), [(2, 5), (4, 3), (64, 1)])
def test_the_more_threads_the_lower_are_the_rows(cores: int, size: int) -> None:
    scop = pv.extract(STEPS.format(count="10"))
    known = pv.analysis.dependences(scop)
    processor = Processor(32, 16, 32 * 1024, 512 * 1024, cores)
    plan = make_plan(scop, known, pv.schedule(scop, "pluto"), "c", processor=processor)
    assert any(decision.text.startswith(f"the band is tiled by {size} x ") for decision in plan.decisions)


def test_rows_wait_along_a_loop_with_several_tiles() -> None:
    kernel = pv.compile(function_of(COLOURS), target="c")
    assert "wait_for_row_before(before, t_tile, i_tile)" in kernel.source


@pytest.mark.parametrize("text", [STEPS.format(count="10"), COLOURS], ids=["steps", "colours"])
def test_the_result_is_that_of_the_loops(text: str) -> None:
    function = function_of(text)
    given = np.random.default_rng(5).random((2, 190, 190))
    ours, plain = given.copy(), given.copy()
    pv.compile(function, target="c")(ours[0], ours[1])
    pv.compile(function, schedule="original", target="c")(plain[0], plain[1])
    np.testing.assert_allclose(ours, plain)
