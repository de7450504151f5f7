"""Parallel loops inside others: for threads where the work pays for their start, and for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.loops import Block, For, Instance
from polyviz.codegen.regions import Regions
from polyviz.model.expression import Constant, Name
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

INSIDE = """
def steps(A, x, T):
    n = A.shape[0]
    for t in range(1, T):
        for i in range(n):
            for j in range(n):
                x[t, i] += A[i, j] * x[t - 1, j]
"""

OUTERMOST = """
def outermost(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[i, j] + 1.0
"""


def source(text: str, target: str = "numba", **options: object) -> str:
    return pv.compile(function_of(text), target=target, **options).source


def test_the_text(golden: Callable[..., None]) -> None:
    golden(source(INSIDE))


def test_a_loop_without_others_around_it_is_written_once() -> None:
    assert "prange" in source(OUTERMOST)
    assert "else:" not in source(OUTERMOST)


@pytest.mark.parametrize(("statements", "most", "twice"), [(1, 1, True), (2, 2, True), (3, 2, False)])
def test_loops_with_many_statements_are_written_once(statements: int, most: int, *, twice: bool) -> None:
    plan = pv.compile(function_of(INSIDE), target="numba").plan
    (work,) = plan.work
    body = Block(tuple(Instance("S0", (Name("t"), Name("i"))) for _ in range(statements)))
    loop = For("i", Constant(0), Name("n"), 1, body, parallel=work.mark)
    regions = Regions(plan, most)
    assert regions.work_to_ask_for(loop, work.mark) is None  # nothing is around it
    with regions.inside(loop):
        assert (regions.work_to_ask_for(loop, work.mark) is not None) == twice
        with regions.deciding(work.mark):
            assert regions.work_to_ask_for(loop, work.mark) is None


def test_one_thread_needs_one_version() -> None:
    assert "else:" not in source(INSIDE, threads=1)


def test_plain_python_is_written_once() -> None:
    assert "else:" not in source(INSIDE, target="python")


@pytest.mark.slow
def test_both_versions_give_the_values_of_python() -> None:
    function = function_of(INSIDE)
    kernel = pv.compile(function, target="numba")
    for n in (0, 1, 5, 300):
        A = np.random.default_rng(n).random((n, n)) / max(n, 1)
        found = np.ones((4, n))
        wanted = found.copy()
        kernel(A, found, 4)
        function(A, wanted, 4)
        assert np.allclose(found, wanted, rtol=1e-12), n
