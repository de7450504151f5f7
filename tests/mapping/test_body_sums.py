"""Which statements that stay whole add in lanes, and who may say no."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.mapping.body_sums import find_body_sums
from polyviz.model.processor import Processor
from tests.running import function_of

SOLVER = """
def solve(A, x, y, limit, n):
    for t in range(n):
        for i in range(n):
            y[i] = 0.0
            for j in range(n):
                y[i] += A[i, j] * x[j]
        if y[0] < limit:
            break
"""
WIDE, NARROW = Processor(64, 32, 49152, 2097152, 2), Processor(16, 16, 32768, 1048576, 2)


def lanes_of(**options: object) -> tuple[str, ...]:
    return pv.compile(function_of(SOLVER), target="c", **options).plan.body_sums


def test_a_loop_of_a_whole_statement_adds_in_lanes() -> None:
    kernel = pv.compile(function_of(SOLVER), target="c")
    assert kernel.plan.body_sums == ("S0",)
    assert "double y_lanes[32] = {0};" in kernel.source
    (said,) = (one for one in kernel.plan.decisions if one.step == "accumulate")
    assert said.statements == ("S0",)


@pytest.mark.parametrize("options", [{"contract": "strict"}, {"accumulate": False}])
def test_the_order_of_sums_may_be_kept(options: dict[str, object]) -> None:
    assert lanes_of(**options) == ()


def test_short_vectors_have_no_lanes() -> None:
    scop = pv.extract(function_of(SOLVER))
    assert find_body_sums(scop, WIDE)[0] == find_body_sums(scop, None)[0] == ("S0",)
    assert find_body_sums(scop, NARROW) == ((), ())
