"""Row blocks: which bands run several rows together, and that the results are those of the loops as written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.model.plan import JAM
from polyviz.model.processor import Processor
from polyviz.transform.tree import kind_of, walk
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint

WIDE = Processor(64, 32, 49152, 1048576, 2)
TWO_ARRAYS = """
def two_arrays(A, B, steps, n, m):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + 2 * A[1 + i, j] - A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j])
"""
IN_PLACE = """
def in_place(A, B, steps, n, m):
    for t in range(steps):
        for i in range(1, n):
            for j in range(m):
                A[i, j] = A[i, j] - 0.5 * (B[i, j] - B[i - 1, j])
        for i in range(n - 1):
            for j in range(m - 3):
                B[i, j] -= 0.25 * (A[i + 1, j] - A[i, j] + A[i, j + 3])
"""
SWEEP = """
def sweep(A, B, steps, n, m):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = (A[i, j - 1] + A[i - 1, j] + A[i, j] + A[i + 1, j] + A[i, j + 1]) / 5.0
"""


def plan_of(source: str, *, target: str = "c", processor: Processor | None = WIDE, **techniques: bool) -> Plan:
    scop = pv.extract(function_of(source))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    return make_plan(scop, dependences, schedule, target, processor=processor, **techniques)


def jams(plan: Plan) -> list[str]:
    names = [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"]
    return [name for name in names if name.startswith(JAM)]


@pytest.mark.parametrize("source", [TWO_ARRAYS, IN_PLACE])
def test_both_statements_of_a_stencil_run_in_row_blocks(source: str) -> None:
    plan = plan_of(source)
    assert jams(plan) == [f"{JAM}:4", f"{JAM}:4"]
    said = next(found for found in plan.decisions if found.step == "row-blocks")
    assert "4 rows each" in said.text


def test_fewer_registers_hold_fewer_rows() -> None:
    assert jams(plan_of(TWO_ARRAYS, processor=Processor(32, 16, 32768, 262144, 2))) == [f"{JAM}:2"] * 2


@pytest.mark.parametrize(
    "options",
    [{"row_blocks": False}, {"target": "numba"}, {"processor": None}, {"processor": Processor(0, 0, 1, 1, 1)}],
)
def test_without_the_technique_or_vectors_there_are_none(options: dict[str, Any]) -> None:
    assert jams(plan_of(TWO_ARRAYS, **options)) == []


def test_rows_that_wait_for_each_other_are_left_alone() -> None:
    assert jams(plan_of(SWEEP)) == []


@pytest.mark.thinned(4)
@pytest.mark.parametrize("source", [TWO_ARRAYS, IN_PLACE])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_results_are_those_of_the_loops_as_written(source: str, contract: FloatingPoint) -> None:
    function: Callable[..., None] = function_of(source)
    kernel = pv.compile(function, schedule="pluto", target="c", tile=(3, 6, 40), contract=contract)
    generator = np.random.default_rng(7)
    for steps, n, m in ((5, 13, 61), (4, 17, 23), (3, 6, 9), (2, 3, 3), (1, 2, 50), (0, 9, 9), (3, 1, 1)):
        given = [generator.random((n, m)) for _ in range(2)]
        expected, found = ([array.copy() for array in given] for _ in range(2))
        function(*expected, steps, n, m)
        kernel(*found, steps, n, m)
        for one, other in zip(expected, found, strict=True):
            if contract == "strict":
                assert np.array_equal(one, other), (steps, n, m)
            else:
                np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


def test_rows_may_begin_anywhere_in_a_cache_line() -> None:
    """The first vector overlaps those that fit into lines by every possible number of elements."""
    function: Callable[..., None] = function_of(TWO_ARRAYS)
    kernel = pv.compile(function, schedule="pluto", target="c", tile=(3, 6, 200), contract="strict")
    generator = np.random.default_rng(7)
    for first in range(8):
        for m in (66, 74, 104):
            memory = [generator.random(16 * m + 8) for _ in range(2)]
            expected, found = ([part.copy() for part in memory] for _ in range(2))
            for run, parts in ((function, expected), (kernel, found)):
                run(*(part[first : first + 16 * m].reshape(16, m) for part in parts), 3, 16, m)
            for one, other in zip(expected, found, strict=True):
                assert np.array_equal(one, other), (first, m)


def test_why_rows_run_one_at_a_time_is_said() -> None:
    plan = plan_of(SWEEP, interleave=False)
    (told,) = (found.text for found in plan.decisions if found.step == "row-blocks")
    start = "rows run one at a time, not several in one vector loop: "
    assert told == start + "rows or columns wait for each other"
    assert not any(found.step == "row-blocks" for found in plan_of(SWEEP, row_blocks=False).decisions)
