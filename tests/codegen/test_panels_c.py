"""The C of panels: what rows share, what is said where they run one by one, and other types and layouts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.c import print_c
from polyviz.mapping import make_plan
from polyviz.model.processor import Processor
from polyviz.model.program import ArrayType
from tests.mapping.panel_programs import PROGRAMS, arguments
from tests.running import function_of, shared_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.program import FloatingPoint, Program

SHORT = Processor(32, 16, 32768, 262144, 2)


def program_of(
    source: str,
    dtype: str = "float64",
    layout: Literal["C", "A"] = "C",
    contract: FloatingPoint = "reassociate",
    processor: Processor | None = SHORT,
) -> Program:
    scop = pv.extract(function_of(source))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    plan = make_plan(scop, dependences, schedule, "c", processor=processor)
    types = {array.name: ArrayType(dtype, array.rank, layout if array.rank else "C") for array in scop.arrays}
    return print_c(scop, plan, types, contract)


def test_rows_share_what_they_load(golden: Callable[..., None]) -> None:
    golden(program_of(PROGRAMS["temporary"]).text, "c")


def test_sums_in_order_run_side_by_side_in_variables(golden: Callable[..., None]) -> None:
    golden(program_of(PROGRAMS["backward"], contract="strict").text, "c")


@pytest.mark.parametrize(
    ("dtype", "layout", "reason"),
    [
        ("int64", "C", "int64 is added up in one row at a time"),
        ("float64", "A", "what they add up are not float64 values side by side in memory"),
    ],
)
def test_why_rows_run_one_by_one_is_said(dtype: str, layout: Literal["C", "A"], reason: str) -> None:
    program = program_of(PROGRAMS["coupled"], dtype, layout)
    assert program.notes == (f"rows of i run one after the other, not side by side: {reason}",)
    assert "vector_" not in program.text


def test_rows_with_columns_of_their_own_run_one_by_one() -> None:
    (note,) = program_of(PROGRAMS["filter"]).notes
    assert note.endswith("they do not all have the same columns")


@pytest.mark.parametrize("processor", [None, Processor(0, 0, 1, 1, 1)])
def test_without_vector_registers_each_row_has_a_variable(processor: Processor | None) -> None:
    program = program_of(PROGRAMS["forward"], processor=processor)
    assert "x_sum7 -= L[i + 7][j] * x[j]" in program.text
    assert not program.notes


def test_names_of_the_user_stay_his_own() -> None:
    source = """
        def names(L, x, x_lanes0, x_shared, j_stop):
            for i_stop in range(len(x)):
                for j_start in range(i_stop):
                    x[i_stop] -= L[i_stop, j_start] * x[j_start] * j_stop[0] + x_lanes0[i_stop] * x_shared[j_start]
        """
    given = [*arguments(40), np.linspace(0.0, 0.1, 40), np.ones(1)]
    expected, found = ([array.copy() for array in given] for _ in range(2))
    function = function_of(source)
    function(*expected)
    pv.compile(function, target="c")(*found)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-9)


@cache
def kernel(name: str, contract: FloatingPoint) -> Any:
    """The same for all types and layouts that it is called with."""
    return pv.compile(shared_function(PROGRAMS[name]), target="c", contract=contract)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize(
    ("dtype", "order"), [("float32", "C"), ("float64", "F"), ("complex128", "C"), ("int64", "C")]
)
def test_other_types_and_layouts(dtype: str, order: str, contract: FloatingPoint) -> None:
    for size in (0, 1, 7, 8, 19, 71, 259):
        given = arguments(size, "float64", order)
        given = [(100 * one).astype(dtype, order="A") if dtype == "int64" else one.astype(dtype) for one in given]
        expected, found = ([one.copy("A") for one in given] for _ in range(2))
        with np.errstate(over="ignore"):
            shared_function(PROGRAMS["coupled"])(*expected)
        kernel("coupled", contract)(*found)
        for one, other in zip(expected, found, strict=True):
            if contract == "strict" or dtype == "int64":
                np.testing.assert_array_equal(other, one)
            else:
                close = 1e-3 if dtype == "float32" else 1e-9
                np.testing.assert_allclose(other, one, rtol=close, atol=close)


def test_views_with_gaps_are_right_and_that_is_said() -> None:
    L, x, b = arguments(90)
    wide = np.zeros((90, 180))
    wide[:, ::2] = L
    expected, found = x.copy(), x.copy()
    shared_function(PROGRAMS["forward"])(L, expected, b)
    forward = kernel("forward", "reassociate")
    forward(wide[:, ::2], found, b)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert "not float64 values side by side in memory" in " ".join(forward.program.notes)
