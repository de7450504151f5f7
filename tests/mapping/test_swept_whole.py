"""Lines that fit into the first-level cache: the plan has sweeps over whole lines beside its tiles, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import polyviz as pv
from polyviz.mapping import make_plan
from tests.lines import LINE, ROWS, WIDE
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.model.plan import Plan

PLANE = """
def plane(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.3 * (A[i, j - 1] + A[i - 1, j] + A[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.3 * (B[i, j - 1] + B[i - 1, j] + B[i, j + 1])
"""
BESIDE = LINE + "    for i in range(n):\n        A[i] = A[i] + B[i]\n"


def plan_of(text: str, **options: Any) -> Plan:
    options = {"processor": WIDE, "target": "c", **options}
    scop = pv.extract(function_of(text))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    return make_plan(scop, dependences, schedule, options.pop("target"), **options)


def test_a_line_is_swept_whole_where_the_cache_holds_it() -> None:
    plan = plan_of(LINE)
    assert plan.time_steps
    assert plan.in_cache is not None
    assert plan.in_cache.liftings[0].arrays == ("A", "B")
    (said,) = (decision for decision in plan.decisions if decision.step == "lift")
    assert said.text.startswith("where A and B fit into the first-level cache of 48 KiB, one thread sweeps over them")
    assert said.statements == ("S0", "S1")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (LINE, {"lift": False}),
        (LINE, {"tile": (8, 64)}),
        (LINE, {"row_blocks": False}),
        (LINE, {"processor": None}),
        (LINE, {"target": "numba"}),
        (ROWS, {}),
        (PLANE, {}),
        (BESIDE, {}),
    ],
)
def test_other_plans_have_no_second_one(text: str, options: dict[str, Any]) -> None:
    assert plan_of(text, **options).in_cache is None
