"""Panels: which recurrences are taken apart, that isl finds it legal, and that the results are those of the loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.mapping.ahead import Ahead, find_ahead
from polyviz.mapping.panels import ROWS, SHARED
from polyviz.model.plan import JAM, PARALLEL
from polyviz.model.processor import Processor
from polyviz.transform.tree import bands, kind_of, statements_under, walk
from tests.mapping.panel_programs import PROGRAMS, REFUSED, arguments
from tests.running import function_of, shared_function

if TYPE_CHECKING:
    from typing import Any

    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint

WIDE = Processor(64, 32, 49152, 2097152, 2)
SIZES = (*range(21), 31, 64, 127, 257, 263)
"""Below, at and above a block of rows, and more than the rows that threads share at once."""
TAKEN_APART = tuple(name for name in PROGRAMS if name not in (*REFUSED, "transposed", "several"))


def plan_of(name: str, *, target: str = "c", schedule: str = "pluto", **options: Any) -> Plan:
    scop = pv.extract(function_of(PROGRAMS[name]))
    dependences = pv.dependences(scop)
    found = pv.schedule(scop, schedule, dependences=dependences)
    plan = make_plan(scop, dependences, found, target, processor=WIDE, **options)
    assert pv.check(scop, plan.tree, known=dependences)
    return plan


def marks(plan: Plan) -> list[str]:
    return [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"]


def said(plan: Plan) -> list[str]:
    return [decision.text for decision in plan.decisions if decision.step == "panels"]


@pytest.mark.parametrize("name", TAKEN_APART)
def test_rows_run_side_by_side_and_threads_share_them(name: str) -> None:
    plan = plan_of(name)
    assert marks(plan).count(f"{JAM}:{ROWS}") >= 2
    assert any(mark.startswith(f"{PARALLEL}:panel") for mark in marks(plan))
    (text,) = said(plan)
    assert text.startswith(f"{ROWS} rows run side by side")
    assert f"threads share what {SHARED} rows need" in text


@pytest.mark.parametrize("name", REFUSED)
def test_sums_that_start_with_the_row_before_are_left_alone_and_that_is_said(name: str) -> None:
    plan = plan_of(name, schedule="original" if name == "all_needed" else "pluto")
    assert not any(mark.startswith(JAM) for mark in marks(plan))
    if name != "all_needed":
        (text,) = said(plan)
        assert text == (
            "rows run one after the other, not side by side: its first step already needs a row of the same block"
        )


@pytest.mark.parametrize(
    "options", [{"panels": False}, {"target": "numba"}, {"schedule": "original"}, {"tile": (4, 4)}], ids=str
)
def test_without_the_technique_all_rows_wait(options: dict[str, Any]) -> None:
    plan = plan_of("forward", **options)
    assert not any(mark.startswith(JAM) for mark in marks(plan))
    assert not said(plan)


def test_no_panels_are_made_whose_steps_would_keep_numbers_of_their_own() -> None:
    paired = """
        def paired(x, force):
            for i in range(len(x)):
                for j in range(i + 1, len(x)):
                    d = x[j] - x[i]
                    pull = d / (d * d + 0.1)
                    force[i] += pull
                    force[j] -= pull
    """
    kernel = pv.compile(function_of(paired), target="c")
    assert "would be kept for all of them" in kernel.report()
    assert "malloc" not in kernel.source
    x = np.random.default_rng(2).random(23)
    expected, found = np.zeros(23), np.zeros(23)
    function_of(paired)(x, expected)
    kernel(x, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_inside_other_loops_rows_run_side_by_side_without_threads_of_their_own() -> None:
    plan = plan_of("several", tile=False)
    assert [mark for mark in marks(plan) if mark.startswith((JAM, PARALLEL))] == [f"{PARALLEL}:0", f"{JAM}:{ROWS}"]
    (text,) = said(plan)
    assert "threads" not in text


def test_what_comes_before_a_block_is_what_lies_above_its_first_row() -> None:
    scop = pv.extract(function_of(PROGRAMS["forward"]))
    dependences = pv.dependences(scop)
    tree = plan_of("forward", panels=False).tree
    path = next(path for path, band in bands(tree) if "S1" in statements_under(band))
    found = find_ahead(scop, dependences, tree, path, "S1", 8)
    assert isinstance(found, Ahead)
    domain = scop.statement("S1").domain
    above = isl.Set("{ S1[i, j] : 8 * floor(i / 8) > j }").align_params(domain.get_space())
    assert found.early.is_equal(domain.intersect(above))
    assert found.first == ()


@pytest.mark.thinned(8)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in REFUSED])
def test_results_are_those_of_the_loops_as_written(name: str, contract: FloatingPoint) -> None:
    function = shared_function(PROGRAMS[name])
    tile = False if name == "several" else None
    kernel = pv.compile(function, target="c", contract=contract, tile=tile)
    for size in SIZES if name != "several" else SIZES[:22]:
        given = arguments(size, taps=min(size, 5 + size // 3) if name == "filter" else None)
        expected, found = ([array.copy() for array in given] for _ in range(2))
        function(*expected)
        kernel(*found)
        for one, other in zip(expected, found, strict=True):
            if contract == "strict":
                np.testing.assert_array_equal(other, one, str(size))
            else:
                np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9, err_msg=str(size))
