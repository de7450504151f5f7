"""Loops whose time goes into reading memory: each technique where it is legal and pays, switched off where asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz import gallery
from polyviz.analysis import band_properties
from polyviz.analysis.times import times_by_statement
from polyviz.mapping import make_plan
from polyviz.model.plan import PARALLEL, REDUCED, VECTOR
from polyviz.transform.tree import kind_of, walk
from tests.mapping.memory_programs import PROGRAMS, memory_plan, steps
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.plan import Plan


def marks(plan: Plan) -> list[str]:
    names = [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"]
    return [name.partition(":")[0] for name in names]


@pytest.mark.parametrize("name", PROGRAMS)
def test_decisions(name: str, golden: Callable[..., None]) -> None:
    decisions = memory_plan(name)[1].decisions
    golden(
        "\n".join(
            f"{decision.step} {', '.join(decision.statements)}: {decision.text}" for decision in decisions
        )
    )


def test_both_products_read_the_matrix_once_and_threads_copy_the_sums_of_columns() -> None:
    _, plan = memory_plan("both_products")
    assert marks(plan).count(REDUCED) == 1
    (found,) = plan.array_sums
    assert (found.statement, found.array) == ("S1", "q")
    (decision,) = [decision for decision in plan.decisions if decision.step == "fuse-passes"]
    assert decision.details is not None
    assert decision.details["lines_apart"] == 2 * decision.details["lines_together"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("program", "rule", "step"),
    [
        ("both_products", "fuse_passes", "fuse-passes"),
        ("both_products", "array_sums", "array-sum"),
        ("columns", "strips", "strip"),
        ("shortest_paths", "strips", "split"),
        ("substitution", "accumulate", "accumulate"),
    ],
)
def test_each_rule_can_be_switched_off(program: str, rule: str, step: str) -> None:
    assert step in steps(memory_plan(program)[1])
    assert step not in steps(memory_plan(program, **{rule: False})[1])


def test_the_strict_contract_and_plain_python_copy_no_sums() -> None:
    assert not memory_plan("both_products", contract="strict")[1].array_sums
    _, plan = memory_plan("both_products", "python")
    assert not steps(plan) & {"fuse-passes", "array-sum", "strip", "accumulate"}


@pytest.mark.parametrize(
    "body",
    [
        "q[j] *= A[i, j]",
        "q[j] += A[i, j] * q[0]",
        "q[j] += A[i, j]; x[i] = q[0]",
        "B[j, 0] += A[i, j]",
    ],
    ids=["product", "reads itself", "read elsewhere", "matrix"],
)
def test_what_threads_do_not_copy(body: str) -> None:
    inner = "".join(f"                    {part.strip()}\n" for part in body.split(";"))
    text = f"""
        def f(A, B, x, q):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
{inner}        """
    scop = pv.extract(function_of(text))
    dependences = pv.dependences(scop)
    plan = make_plan(scop, dependences, pv.schedule(scop, "isl", dependences=dependences), "c")
    assert not plan.array_sums


def test_strips_of_columns_are_shared_and_vectors() -> None:
    scop, plan = memory_plan("columns")
    assert marks(plan).count(PARALLEL) >= 1
    assert marks(plan).count(VECTOR) == 2
    properties = band_properties(scop, pv.dependences(scop), plan.tree)
    assert all(member.parallel for member in properties[0].members[:1])


def test_loops_split_at_the_iteration_that_ties_them_keep_their_order() -> None:
    scop, plan = memory_plan("shortest_paths")
    assert marks(plan).count(VECTOR) == 9
    orders = []
    for tree in (scop.schedule, plan.tree):
        (times,) = times_by_statement(tree.get_map()).values()
        small = times.intersect_domain(scop.statements[0].domain).fix_val(isl.dim_type.param, 0, isl.Val(4))
        orders.append(small.lex_lt_map(small))
    assert orders[0].is_equal(orders[1])


def test_a_temporary_of_a_row_stays_a_variable() -> None:
    _, plan = memory_plan("recurrence", interleave=False)
    assert (plan.locals, plan.expansions) == (("t",), ())
    assert marks(plan).count(PARALLEL) == 1
    beside = memory_plan("recurrence")[1]
    assert [(expansion.array, expansion.window) for expansion in beside.expansions] == [("t", 8)]
    apart = memory_plan("recurrence", fuse_passes=False)[1]
    assert [expansion.array for expansion in apart.expansions] == ["t"]


def test_gramschmidt_projects_strips_of_columns() -> None:
    scop = pv.extract(gallery.kernel("gramschmidt").function)
    dependences = pv.dependences(scop)
    plan = make_plan(scop, dependences, pv.schedule(scop, "pluto", dependences=dependences), "c")
    assert pv.check(scop, plan.tree, known=dependences)
    (strip,) = [decision for decision in plan.decisions if decision.step == "strip"]
    assert strip.statements == ("S5", "S6")


def test_tiles_of_the_user_leave_no_room_for_strips() -> None:
    scop = pv.extract(function_of(PROGRAMS["columns"]))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    assert "strip" not in steps(make_plan(scop, dependences, schedule, "c", tile=(8,)))


def test_numba_says_that_cells_are_left_to_its_compiler() -> None:
    (told,) = (found for found in memory_plan("smallest", "numba")[1].decisions if found.step == "accumulate")
    assert told.text == (
        "the cell that an innermost loop updates is left to the compiler of numba: c keeps it in a register"
    )
    assert "accumulate" not in steps(memory_plan("smallest", "numba", accumulate=False)[1])


def test_threads_share_strips_where_no_copies_may_be_added() -> None:
    assert "array-sum" in steps(memory_plan("strided")[1])
    assert "strip" in steps(memory_plan("strided", array_sums=False)[1])
    assert "strip" in steps(memory_plan("strided", contract="strict")[1])


def test_a_sum_that_each_iteration_begins_anew_is_not_said_to_run_in_lanes() -> None:
    text = """
def f(A, B, n):
    for i in range(n):
        for j in range(1, n - 1):
            s = 0.0
            s += A[i, j - 1]
            s += A[i, j + 1]
            B[i, j] = s
"""
    kernel = pv.compile(function_of(text), target="c")
    assert "accumulate" not in [one.step for one in kernel.plan.decisions]
    assert "#pragma omp simd" in kernel.source


def test_what_is_read_under_a_condition_is_no_pass_over_a_matrix() -> None:
    text = """
def f(B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] *= 2
    total = 0.0
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            total += B[i, j] if j > i else 0
    return total
"""
    matrix = np.arange(12.0).reshape(3, 4)
    assert pv.compile(function_of(text), target="python")(matrix) == np.sum(np.triu(matrix, 1))
