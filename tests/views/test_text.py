from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polyviz.errors import Span
from polyviz.model.dependences import Legality, LoopParallelism, Privatization, Violation
from polyviz.model.scop import Creation, ParameterSource
from polyviz.views import text
from polyviz.views.pictures import dependence_rows, pictures
from tests.builders import scop, statement
from tests.views.samples import SAMPLES, dependences_of, gemm, jacobi, tiled

VIOLATION = Violation(
    "flow", "A", "S0", (1, 2), "S1", (0, 3), {"n": 4}, "S0[1, 2] writes A[3], which S1[0, 3] reads."
)


@pytest.mark.parametrize("name", SAMPLES)
def test_scop(name, golden):
    golden(text.scop_text(SAMPLES[name]()[0]))


@pytest.mark.parametrize("name", SAMPLES)
def test_dependences(name, golden):
    part, found = SAMPLES[name]()
    values = pictures(part).values
    golden(text.dependences_text(found, dependence_rows(found, part, values), values))


def test_dependences_without_the_part_give_relations_between_statements():
    _, found = jacobi()
    rows = dependence_rows(found)
    assert rows[0].distances == () and rows[0].summary.startswith("S0[t, i] → S1[t,")
    assert rows[3].summary == "(1, 0)"
    assert {row.count for row in rows} == {None}


def test_schedule(golden):
    golden(text.schedule_text(tiled()))


def test_arrays_say_where_values_come_from_and_go():
    part, _ = gemm()
    kinds = [(True, True), (True, False), (False, True)]
    arrays = tuple(
        replace(array, live_in=live_in, live_out=live_out)
        for array, (live_in, live_out) in zip(part.arrays, kinds, strict=True)
    )
    local = replace(
        arrays[0],
        name="t",
        rank=0,
        extents=(),
        live_in=False,
        live_out=False,
        dtype="float32",
        creation=Creation("zeros", "float32", None, None, Span(1, 1, 1, 2)),
    )
    parameter = replace(part.parameters[0], source=ParameterSource("shape", "A", 0))
    shown = text.scop_text(
        replace(part, arrays=(*arrays, local), parameters=(parameter,), notes=("A may alias.",))
    )
    assert "  A[ni, nk]  any type  in and out" in shown
    assert "  B[nk, nj]  any type  in\n" in shown
    assert "  C[ni, nj]  any type  out" in shown
    assert "  t          float32   local" in shown
    assert "  ni  A.shape[0]" in shown
    assert shown.endswith("Notes\n  - A may alias.")


def test_a_statement_outside_loops_is_executed_once():
    part = scop("n", "S0", S0=statement("", writes="x"))
    assert "S0:  once  S0  (line 1)" in text.scop_text(replace(part, is_cell=True))
    assert text.scop_text(replace(part, is_cell=True)).startswith(
        "Cell part: 1 statement, 1 array, 1 parameter"
    )


def test_what_does_not_constrain_is_said():
    _, found = gemm()
    private = Privatization("t", 2, None, "it is written before it is read")
    shown = text.left_out(replace(found, privatizations=(private,)))
    assert shown == [
        "t is private to each iteration of the 2 outermost loops: it is written before it is read",
        "1 input relation: two reads of one cell may come in any order",
    ]
    assert text.dependences_text(dependences_of("n"), []) == "Dependences, value-based: 0 relations"


def test_legality():
    assert text.legality_text(Legality()) == "Legal: every dependence is respected."
    assert text.legality_text(Legality((VIOLATION,))) == (
        "Illegal: 1 dependence reversed.\n"
        "  flow through A: S0[1, 2] must come before S1[0, 3] for n = 4\n"
        "    S0[1, 2] writes A[3], which S1[0, 3] reads."
    )


def test_parallelism():
    loops = (
        LoopParallelism("t", 0, ("S0",), False, False, VIOLATION, "loop t is not parallel: t=0 writes A[1]"),
        LoopParallelism("i", 1, ("S0",), True, False, None, "loop i is parallel."),
        LoopParallelism("j", 2, ("S0",), False, True, VIOLATION, ""),
    )
    assert text.parallelism_text(loops) == (
        "Loops: 1 of 3 parallel, 1 more as reductions\n"
        "  Loop t is not parallel: t=0 writes A[1].\n"
        "    Loop i is parallel.\n"
        "      Loop j is parallel as a reduction."
    )


def test_unknown_extents_are_question_marks():
    part, _ = gemm()
    array = replace(part.arrays[0], extents=(None, isl.PwAff("[n] -> { [(n - 1)] }")))
    assert text.array_shape(array) == "A[?, n - 1]"


def test_loops_of_one_name_say_whose_they_are():
    loops = (
        LoopParallelism("t", 0, ("S0", "S1"), False, False, VIOLATION, "loop t is not parallel: t=0 writes A[1]"),
        LoopParallelism("i", 1, ("S0",), True, False, None, "loop i is parallel."),
        LoopParallelism("i", 1, ("S1",), False, True, VIOLATION, ""),
    )
    assert text.parallelism_text(loops).splitlines()[1:] == [
        "  Loop t is not parallel: t=0 writes A[1].",
        "    Loop i of S0 is parallel.",
        "    Loop i of S1 is parallel as a reduction.",
    ]
