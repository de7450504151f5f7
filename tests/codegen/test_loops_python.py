"""Loops that numba shares between threads, taken from both ends where their iterations grow or shrink."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.loops import Block, For
from polyviz.codegen.loops_python import BothEnds, parallel_lines
from polyviz.model.expression import Name
from tests.running import function_of


class _Prange:
    """Stands in for numba: ``prange`` counts in unsigned numbers."""

    @staticmethod
    def prange(*bounds: int) -> list[np.uint64]:
        return [np.uint64(number) for number in range(*bounds)]


def visited(start: int, stop: int, step: int, ends: BothEnds | None) -> list[int]:
    """The iterations in the order of the counter that numba cuts into runs."""
    loop = For("i", Name("start"), Name("stop"), step, Block(()), parallel=True)
    lines = [*parallel_lines(PythonExpressionPrinter({}, None), loop, "number", ends), (1, "seen.append(i)")]
    names: dict[str, Any] = {"start": start, "stop": stop, "seen": [], "numba": _Prange, "np": np}
    exec("\n".join("    " * level + line for level, line in lines), names)
    return [int(value) for value in names["seen"]]


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("length", range(9))
def test_every_iteration_runs_once(length: int, step: int) -> None:
    start, stop = 5, 5 + length
    assert visited(start, stop, step, None) == [*range(start, stop, step)]
    both = visited(start, stop, step, BothEnds("count", "turn"))
    assert sorted(both) == [*range(start, stop, step)]


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_runs_of_a_triangle_are_of_about_equal_work(threads: int) -> None:
    order, rows = visited(0, 240, 1, BothEnds("count", "turn")), 240
    cuts = [rows * thread // threads for thread in range(threads + 1)]
    shares = [sum(order[first:last]) for first, last in pairwise(cuts)]
    assert max(shares) - min(shares) <= rows
    in_order = [sum(range(first, last)) for first, last in pairwise(cuts)]
    assert max(in_order) > 1.4 * sum(in_order) / threads


TRIANGLE = """
def triangle(C, A, B):
    for i in range(A.shape[0]):
        for j in range({stop}):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""


@pytest.mark.parametrize(("stop", "from_both_ends"), [("i + 1", True), ("A.shape[0]", False)])
@pytest.mark.parametrize("tiles", [True, False], ids=["blocks", "loops"])
def test_triangles_are_taken_from_both_ends(stop: str, from_both_ends: bool, tiles: bool) -> None:
    function = function_of(TRIANGLE.format(stop=stop))
    arrays = [np.zeros((70, 70)), np.random.default_rng(1).random((70, 70)), np.ones((70, 70))]
    expected = [array.copy() for array in arrays]
    function(*expected)
    kernel = pv.compile(function, target="numba", register_tile=tiles)
    kernel(*arrays)
    np.testing.assert_allclose(arrays[0], expected[0])
    assert ("from both ends" in kernel.source) is from_both_ends
