"""Statement bodies under a plan: private copies, their cells, and the value that stays visible."""

from __future__ import annotations

import numpy as np

import polyviz as pv
from polyviz.codegen.bodies import inner_iterators, placed_body, planned_body, private_name
from polyviz.codegen.calling import is_checked, result_names, run_time_failures, written_arrays
from polyviz.codegen.generate import all_types
from polyviz.codegen.guessed import whole_numbers
from polyviz.model.expression import Assign, Binary, Branch, Constant, Element, Name
from polyviz.model.program import ArrayType
from tests.codegen.programs import SOURCES
from tests.running import function_of

CELL = "for i in range(n):\n    t = 2 * A[i]\n    B[i] = t + 1\n"
NAMESPACE = {"A": np.ones(3), "B": np.ones(3), "n": 3}


def cell(schedule: str) -> pv.Kernel:
    return pv.compile(CELL, schedule=schedule, target="c", namespace=NAMESPACE, once_more=False)


def test_a_visible_temporary_has_a_private_copy_and_hands_over_the_last_value() -> None:
    kernel = cell("pluto")
    writer = kernel.scop.statements[0]
    assignment, last = planned_body(kernel.scop, kernel.plan, writer)
    assert isinstance(assignment, Assign)
    assert assignment.target == Element("t_private")
    assert isinstance(last, Branch)
    assert last.then == (Assign(Element("t"), Element("t_private")),)


def test_copies_in_an_array_are_found_by_the_iterators() -> None:
    kernel = cell("[n] -> { S0[i] -> [0, i]; S1[i] -> [1, -i] }")
    reader = kernel.scop.statements[1]
    (assignment,) = planned_body(kernel.scop, kernel.plan, reader)
    assert isinstance(assignment, Assign)
    assert assignment.value == Binary("+", Element("t_private", (Name("i"),)), Constant(1))


def test_local_temporaries_keep_their_name() -> None:
    scop = pv.extract(function_of(SOURCES["temporary"]))
    assert private_name(scop, "t") == "t"


def test_private_names_are_free() -> None:
    text = "for i in range(n):\n    t = 2 * A[i]\n    t_private[i] = t\n"
    scop = pv.extract(text, namespace={"A": np.ones(3), "t_private": np.ones(3), "n": 3})
    assert private_name(scop, "t") == "t_private_2"


def test_a_body_in_its_own_loops_stays_as_written() -> None:
    scop = pv.extract(function_of("def f(A, n):\n    for i in range(n):\n        A[i + 1 - 1] = 1 + i + 1"))
    statement = scop.statements[0]
    assert placed_body(statement, statement.body, [Name("i")]) == list(statement.body)
    (moved,) = placed_body(statement, statement.body, [Binary("-", Name("k"), Constant(1))])
    assert isinstance(moved, Assign)
    assert moved.target.subscripts == (Binary("-", Name("k"), Constant(1)),)


def test_what_a_caller_has_to_know() -> None:
    scop = pv.extract(function_of(SOURCES["csr"]))
    assert written_arrays(scop) == ("y",)
    assert result_names(scop) == ()
    assert run_time_failures(scop)
    assert inner_iterators(scop) == ["k"]
    assert not run_time_failures(pv.extract(function_of(SOURCES["gemm"])))
    assert result_names(pv.extract(CELL, namespace=NAMESPACE)) == ("t",)


def test_checks_are_for_what_the_analysis_cannot_bound() -> None:
    scop = pv.extract(function_of("def f(A, J, n):\n    for i in range(n):\n        A[J[i]] = A[i]"))
    statement = scop.statements[0]
    (assignment,) = statement.body
    assert isinstance(assignment, Assign)
    assert is_checked(scop, assignment.target, statement)
    assert isinstance(assignment.value, Element)
    assert not is_checked(scop, assignment.value, statement)


def test_arrays_of_subscripts_are_taken_as_whole_numbers() -> None:
    scop = pv.extract(function_of(SOURCES["csr"]))
    assert whole_numbers(scop) >= {"columns", "rows"}
    assert not whole_numbers(scop) & {"y", "values", "x"}
    types = all_types(scop, {})
    assert (types["rows"].dtype, types["columns"].dtype, types["x"].dtype) == ("int64", "int64", "float64")
    assert all_types(scop, {"rows": ArrayType("int32", 1)})["rows"].dtype == "int32"


def test_whole_numbers_through_scalars_and_bits() -> None:
    text = """
        def f(A, J, M, B):
            for i in range(len(J)):
                j = J[i]
                A[j] = B[i]
                M[i] = M[i] << 2
    """
    scop = pv.extract(function_of(text))
    assert whole_numbers(scop) >= {"J", "M"}
    assert not whole_numbers(scop) & {"A", "B"}


def test_types_come_from_the_caller_the_source_and_the_assignments() -> None:
    text = """
        def f(A, s, n):
            B = np.zeros(n, dtype=np.int16)
            C = np.zeros_like(A)
            for i in range(n):
                s = s + A[i]
                B[i] = i
                C[i] = s
            return s
    """
    types = all_types(
        pv.extract(function_of(text)), {"A": ArrayType("float32", 1, "A"), "s": ArrayType("int64", 0)}
    )
    assert [types[name].dtype for name in "ABCs"] == ["float32", "int16", "float32", "float64"]
    assert types["A"].layout == "A"
