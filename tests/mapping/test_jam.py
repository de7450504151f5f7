"""Rows together: which passes over matrices that is done for, that isl finds it legal, and that results stay right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.mapping.jam import ROWS
from polyviz.model.plan import JAM, UNROLL_JAM
from polyviz.model.processor import Processor
from polyviz.runtime.machine import Machine
from polyviz.transform.tree import kind_of, walk
from tests.mapping.jam_programs import ALONE, PROGRAMS, arguments
from tests.running import agree, function_of, shared_function

if TYPE_CHECKING:
    from typing import Any

    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint

WIDE = Processor(64, 32, 49152, 2097152, 2)
SHORT = Processor(32, 16, 32768, 524288, 2)
THREE_MATRICES = """
    def three(A, x, y, s, B, C):
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                x[i] += A[i, j] * y[j]
                s[i] += B[i, j] * y[j] + C[i, j]
    """
SIZES = [(0, 0), (1, 9), (3, 5), (4, 8), (5, 17), (70, 1), (67, 130), (303, 301)]


def plan_of(
    text: str, *, target: str = "c", schedule: str = "pluto", processor: Processor = WIDE, **options: Any
) -> Plan:
    scop = pv.extract(function_of(text))
    dependences = pv.dependences(scop)
    found = pv.schedule(scop, schedule, dependences=dependences)
    plan = make_plan(scop, dependences, found, target, processor=processor, **options)
    assert pv.check(scop, plan.tree, known=dependences) or plan.array_sums
    return plan


def jams(plan: Plan) -> list[str]:
    names = [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"]
    return [name for name in names if name.partition(":")[0] in (JAM, UNROLL_JAM)]


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("product", [f"{JAM}:{ROWS}"]),
        ("through", [f"{JAM}:{ROWS}", f"{UNROLL_JAM}:{ROWS}"]),
        ("outer", [f"{UNROLL_JAM}:{ROWS}"]),
        ("shifted", [f"{JAM}:{ROWS}"]),
        ("a sum in a variable", [f"{JAM}:{ROWS}"]),
        ("two variables", [f"{JAM}:{ROWS}"]),
        ("some rows", [f"{JAM}:{ROWS}"]),
    ],
)
def test_rows_that_share_a_row_or_column_run_together(name: str, marks: list[str]) -> None:
    plan = plan_of(PROGRAMS[name])
    assert jams(plan) == marks
    (text,) = [decision.text for decision in plan.decisions if decision.step == "jam"]
    assert text.startswith(f"{ROWS} rows run together, and what they use of ")


@pytest.mark.parametrize("name", ALONE)
def test_rows_that_would_gain_nothing_run_one_by_one(name: str) -> None:
    assert jams(plan_of(ALONE[name])) == []


def test_rows_of_two_matrices_run_together_where_vectors_are_short() -> None:
    assert jams(plan_of(ALONE["two matrices"], processor=SHORT)) == [f"{JAM}:{ROWS}"]
    assert jams(plan_of(THREE_MATRICES, processor=SHORT)) == []


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_results_of_two_matrices_are_those_of_the_loops(
    contract: FloatingPoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "processor", SHORT)
    function = function_of(ALONE["two matrices"])
    kernel = pv.compile(function, target="c", contract=contract)
    for rows, columns in SIZES:
        given = [*arguments(rows, columns), np.random.default_rng(columns).random((rows, columns))]
        expected, found = ([array.copy() for array in given] for _ in range(2))
        function(*expected)
        kernel(*found)
        for one, other in zip(expected, found, strict=True):
            tolerance = 0.0 if contract == "strict" else 1e-12
            np.testing.assert_allclose(other, one, rtol=tolerance, err_msg=f"{rows} x {columns}")
    assert any(decision.step == "jam" for decision in kernel.plan.decisions)


@pytest.mark.parametrize(
    "options", [{"jam": False}, {"target": "numba"}, {"schedule": "original"}, {"tile": (4, 4)}], ids=str
)
def test_without_the_technique_rows_run_one_by_one(options: dict[str, Any]) -> None:
    assert jams(plan_of(PROGRAMS["product"], **options)) == []


def test_the_variable_of_each_row_has_a_cell_in_its_block() -> None:
    kernel = pv.compile(function_of(PROGRAMS["a sum in a variable"]), target="c")
    kernel(*arguments(70, 9))
    lines = [line.partition("//")[0].strip() for line in kernel.source.splitlines()]
    first = lines.index("if (A_shape_1 >= 1 && A_shape_0 >= i_tile + 4) {")
    assert lines[first + 1 : first + 3] == ["double t[4];", "for (int64_t i = i_tile; i < i_tile + 4; i++) {"]
    assert "memory_for" not in kernel.source
    (said,) = [decision.text for decision in kernel.plan.decisions if decision.step == "storage"]
    assert said.startswith("t becomes an array of 4 cells where it is used")


def test_one_line_for_each_row_in_the_loop_over_columns() -> None:
    kernel = pv.compile(function_of(PROGRAMS["outer"]), target="c")
    kernel(*arguments(5, 9))
    lines = [line.partition("//")[0].strip() for line in kernel.source.splitlines()]
    first = lines.index("A[i][j] = A[i][j] + x[i] * y[j];")
    assert lines[first - 2 : first + 4] == [
        "#pragma omp simd",
        "for (int64_t j = 0; j < A_shape_1; j++) {",
        "A[i][j] = A[i][j] + x[i] * y[j];",
        "A[i + 1][j] = A[i + 1][j] + x[i + 1] * y[j];",
        "A[i + 2][j] = A[i + 2][j] + x[i + 2] * y[j];",
        "A[i + 3][j] = A[i + 3][j] + x[i + 3] * y[j];",
    ]


@pytest.mark.thinned(7)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_the_loops_as_written(name: str, contract: FloatingPoint) -> None:
    function = shared_function(PROGRAMS[name])
    kernel = pv.compile(function, target="c", contract=contract)
    for rows, columns in SIZES:
        given = arguments(rows, columns)
        expected, found = ([array.copy() for array in given] for _ in range(2))
        function(*expected)
        kernel(*found)
        for one, other in zip(expected, found, strict=True):
            if contract == "strict":
                np.testing.assert_array_equal(other, one, f"{rows} x {columns}")
            else:
                np.testing.assert_allclose(other, one, rtol=1e-12, err_msg=f"{rows} x {columns}")


def test_rows_are_left_alone_where_nobody_can_tell_how_an_access_moves() -> None:
    text = """
    def diagonal(C, D, n):
        for i in range(n + 1):
            for j in range(n + 1):
                D[i, j] = 0.25 * ((2 * i - 3 * j) % 7)
        for i in range(1, n):
            D[i, i] += C[i + 2] - 0.5 * D[i, n]
    """
    for n in (0, 3, 9):
        agree(text, np.arange(n + 3.0), np.zeros((n + 1, n + 1)), n, target="c", schedule="isl")
