"""A schedule edited by hand is mapped to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.transform.tree import kind_of, walk
from tests.editing.kernels import GEMM, edit
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.model.plan import Plan


def marks(plan: Plan) -> list[str]:
    return [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"]


def plan_of(edited: pv.Edit) -> Plan:
    return make_plan(edited.scop, edited.dependences, edited.schedule, "c")


def test_marks_are_numbered_and_end_below_their_loop() -> None:
    edited = edit(GEMM).apply("parallel", "i").apply("unroll", "k", factor=4).apply("vector", "S1.j")
    plan = plan_of(edited)
    assert marks(plan) == ["parallel:0", "end", "unroll:4", "end", "vector", "end"]
    assert [work.mark for work in plan.work] == ["parallel:0"]
    assert [len(work.extents) for work in plan.work] == [3]


def test_nothing_is_added() -> None:
    edited = edit(GEMM).apply("interchange", "S1", order=("j", "k"))
    plan = plan_of(edited)
    assert marks(plan) == []
    texts = [decision.text for decision in plan.decisions]
    assert any("kept to the letter" in text for text in texts)
    assert "No loop is marked parallel: everything runs on one thread." in texts


def test_the_outermost_of_parallel_loops_gets_the_threads() -> None:
    edited = edit(GEMM).apply("parallel", "i").apply("parallel", "S0.j")
    plan = plan_of(edited)
    assert marks(plan) == ["parallel:0", "end"]
    assert any("inside another parallel loop" in decision.text for decision in plan.decisions)
    apart = edit(GEMM).apply("distribute", "i").apply("parallel", "S0.i").apply("parallel", "S1.i")
    assert marks(plan_of(apart)) == ["parallel:0", "end", "parallel:1", "end"]


def test_full_tiles_are_found() -> None:
    edited = edit(GEMM).apply("tile", "k", sizes=(4, 5))
    plan = plan_of(edited)
    assert marks(plan) == ["tile", "points:0"]
    assert [full.mark for full in plan.full_tiles] == ["points:0"]
    marked = edited.apply("vector", "S1.j")
    assert plan_of(marked).full_tiles[0].tiles.is_equal(plan.full_tiles[0].tiles)


def test_a_schedule_edited_by_hand_is_not_tiled_again() -> None:
    edited = edit(GEMM).apply("reversal", "i")
    with pytest.raises(pv.OptionError, match="is not tiled again"):
        pv.compile(function_of(GEMM), schedule=edited, target="python", tile=(4, 4))
    assert pv.compile(function_of(GEMM), schedule=edited, target="python", tile=False).schedule.by_hand
