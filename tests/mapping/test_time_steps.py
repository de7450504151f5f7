"""Steps over time that run together: which bands have them, and what is said of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.model.plan import TimeSteps
from tests.lines import LINE, ROWS, WIDE
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.model.processor import Processor

IN_PLACE = """
def in_place(A, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            A[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1])
"""


def steps_of(source: str, *, processor: Processor | None = WIDE, row_blocks: bool = True) -> tuple[TimeSteps, ...]:
    scop = pv.extract(function_of(source))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    return make_plan(scop, dependences, schedule, "c", processor=processor, row_blocks=row_blocks).time_steps


def test_each_step_runs_as_far_behind_as_the_skewed_rows_ask_for() -> None:
    assert steps_of(LINE) == (TimeSteps(("S0", "S1"), 2, (0, 1), 2),)


def test_one_statement_runs_in_more_steps() -> None:
    assert steps_of(ROWS) == (TimeSteps(("S0",), 1, (0,), 4),)


def test_columns_that_wait_for_each_other_run_step_by_step() -> None:
    assert steps_of(IN_PLACE) == ()


def test_without_vector_registers_or_the_technique_nothing_runs_together() -> None:
    assert steps_of(LINE, processor=None) == ()
    assert steps_of(LINE, row_blocks=False) == ()


def test_the_report_says_that_steps_run_together() -> None:
    report = pv.compile(function_of(LINE), target="c", tuned=False).report()
    assert "2 steps of the time run together in one vector loop" in report
