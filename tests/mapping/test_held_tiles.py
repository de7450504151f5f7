"""Held tiles: which sums keep their cells in registers, what is said of them, and that results stay right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.generate import generate
from polyviz.mapping import make_plan
from polyviz.model.plan import HELD_COLUMNS, HELD_ROWS, PARALLEL
from polyviz.model.processor import Processor
from polyviz.model.program import ArrayType
from polyviz.transform.tree import kind_of, walk
from tests.mapping.held_programs import ALONE, PROGRAMS, arguments
from tests.running import agree, function_of, shared_function

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint

WIDE = Processor(64, 32, 49152, 2097152, 2)
NARROW = Processor(32, 16, 32768, 1048576, 2)
SIZES = [*((size % 7, size) for size in range(21)), (9, 31), (17, 63), (8, 64), (21, 65), (4, 130)]


def plan_of(
    text: str, *, target: str = "c", schedule: str = "pluto", processor: Processor = WIDE, **options: Any
) -> Plan:
    scop = pv.extract(function_of(text))
    dependences = pv.dependences(scop)
    found = pv.schedule(scop, schedule, dependences=dependences)
    plan = make_plan(scop, dependences, found, target, processor=processor, **options)
    assert pv.check(scop, plan.tree, known=dependences)
    return plan


def marks(plan: Plan) -> list[str]:
    names = [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"]
    return [name for name in names if name in (HELD_ROWS, HELD_COLUMNS)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_cells_of_sums_over_windows_stay_in_registers(name: str) -> None:
    rows = [] if name == "filter" else [HELD_ROWS]
    assert marks(plan_of(PROGRAMS[name])) == [*rows, HELD_COLUMNS]


@pytest.mark.parametrize("name", ALONE)
def test_other_sums_run_as_they_did(name: str) -> None:
    assert marks(plan_of(ALONE[name])) == []


@pytest.mark.parametrize(
    "options", [{"register_tile": False}, {"target": "numba"}, {"schedule": "original"}, {"tile": (4, 4)}], ids=str
)
def test_without_register_tiles_there_are_none(options: dict[str, Any]) -> None:
    assert marks(plan_of(PROGRAMS["channels"], **options)) == []


def said(plan: Plan) -> dict[str, str]:
    return {one.step: one.text for one in plan.decisions}


def test_it_says_what_stays_in_registers_and_what_threads_share() -> None:
    decisions = said(plan_of(PROGRAMS["channels"]))
    assert decisions == {
        "held-tile": "tiles of cells along o and j stay in registers while the sum over c and p and q runs; operands "
        "are read where they are, and what is loaded of image serves all rows of a tile",
        "parallel": "threads share the loop over b and the loop over i",
    }
    assert said(plan_of(PROGRAMS["filter"]))["parallel"] == "threads share strips of 512 iterations of i"
    window = said(plan_of(PROGRAMS["window"]))
    assert window["held-tile"].endswith("what is loaded of image serves several rows of a tile")
    assert window["parallel"] == "threads share strips of 16 iterations of i"
    lines = said(plan_of(PROGRAMS["lines"]))["parallel"]
    assert lines == "threads share the loop over b and strips of 512 iterations of j"


def test_the_work_that_threads_share_is_that_of_the_whole_sum() -> None:
    plan = plan_of(PROGRAMS["filter"])
    (name,) = [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"][:1]
    assert name.startswith(PARALLEL)
    (work,) = [work for work in plan.work if work.mark == name]
    assert len(work.extents) == 2


@pytest.mark.slow
def test_the_text(golden: Callable[..., None]) -> None:
    for name, processor in (("channels", NARROW), ("every second", WIDE), ("window", WIDE)):
        scop = pv.extract(function_of(PROGRAMS[name]))
        types = {one.name: ArrayType("float64", one.rank) for one in scop.arrays if one.rank}
        golden(generate(scop, plan_of(PROGRAMS[name], processor=processor), types).text, name.replace(" ", "-"))


@pytest.mark.thinned(7)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_the_loops_as_written(name: str, contract: FloatingPoint, dtype: str) -> None:
    function = shared_function(PROGRAMS[name])
    kernel = pv.compile(function, target="c", contract=contract)
    # The variable holds float64, as it does under numba; Python adds up in the type of the array.
    exact = contract == "strict" and (name, dtype) != ("in a variable", "float32")
    for rows, columns in SIZES:
        given = arguments(name, rows, columns, dtype)
        expected, found = ([array.copy() for array in given] for _ in range(2))
        function(*expected)
        kernel(*found)
        what = f"{rows} x {columns}"
        if exact:
            np.testing.assert_array_equal(found[0], expected[0], what)
        else:
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-12 if dtype == "float64" else 1e-4, err_msg=what)


@pytest.mark.parametrize("dtype", ["int64", "complex128"])
def test_cells_of_other_types_are_swept_along_memory(dtype: str) -> None:
    given = tuple((10 * array).astype(dtype) for array in arguments("channels", 3, 20))
    kernel = agree(PROGRAMS["channels"], *given, target="c")
    assert "_tile[" not in kernel.source
    (note,) = [note for note in kernel.program.notes if "registers" in note]
    assert note == "cells of S0 do not stay in registers through its sum: out does not hold float64 or float32"


@pytest.mark.slow
def test_arrays_with_gaps_are_swept_along_memory() -> None:
    out, image, weights = arguments("channels", 3, 20)
    kernel = agree(PROGRAMS["channels"], out, np.asfortranarray(image), weights, target="c")
    assert "_tile[" not in kernel.source
