"""Chains of dependent iterations side by side: where they wait for their own values, legal, and bitwise the same."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.model.plan import INTERLEAVE, POINTS, VECTOR, Plan
from polyviz.transform.tree import kind_of, walk
from tests.running import agree_at, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.schedule import Decision

SWEEP = """
def sweep(A, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (A[i, j - 1] + A[i - 1, j] + A[i, j] + A[i + 1, j] + A[i, j + 1]) / 5.0
"""
COLUMNS = """
def columns(u, v, p, q, n):
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            p[i, j] = 0.3 / (1.5 - 0.4 * p[i, j - 1])
            q[i, j] = (u[j, i - 1] + 0.2 * u[j, i] + u[j, i + 1] + 0.4 * q[i, j - 1]) / (1.5 - 0.4 * p[i, j - 1])
        for j in range(n - 2, 0, -1):
            v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
"""
PRIVATE = """
def private(A, B, n):
    for i in range(n):
        last = 0.0
        for j in range(n):
            last = A[i, j] / (last + 1.5)
            B[i, j] = last
"""
FILTER = """
def smoothed(A, B, n):
    for i in range(n):
        one = 0.0
        two = 0.0
        for j in range(n):
            new = 0.5 * A[i, j] + 0.25 * one - 0.125 * two
            two = one
            one = new
            B[i, j] = new
        for j in range(n):
            A[i, j] += B[i, j]
"""
SEVERAL_CELLS = """
def several(A, B, n):
    for i in range(2, n - 1):
        for j in range(2, n - 1):
            B[i, j] = (0.125 * A[j, i] + 0.5 * B[i, j - 1] + 0.125 * A[1, j]) / 3.0
            B[i, j] += A[i, j] + 0.125 * B[i, j - 2] + 0.5 * A[j, i] + B[i, j - 1]
            B[i, j] += 0.125 * A[j, i] - 0.25 * A[i, j]
"""
ENSEMBLE = """
def ensemble(A, B, n):
    for i in range(1, n):
        for j in range(n):
            old = A[j, i - 1]
            slope = B[i, 0] * old / (1.0 + old * old)
            A[j, i] = old + 0.5 * slope
"""
"""Temporaries of each iteration, in one band."""
SUMS = """
def sums(A, x, n):
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + A[i, j] * A[j, i]
"""
FREE = """
def free(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = A[i - 1, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = B[i, j]
"""
SOLVE = """
def solve(L, B):
    for r in range(B.shape[0]):
        for i in range(B.shape[1]):
            for k in range(i):
                B[r, i] -= L[i, k] * B[r, k]
            B[r, i] /= L[i, i]
"""
"""Each sum is used, once, behind its last iteration."""
SIZES = (0, 1, 2, 3, 5, 9, 10, 17, 18, 27, 41)


def plan_of(text: str, **options: Any) -> tuple[pv.Scop, pv.Dependences, Plan]:
    scop = pv.extract(function_of(text))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    target = options.pop("target", "c")
    return scop, dependences, make_plan(scop, dependences, schedule, target, **options)


def marks(plan: Plan) -> list[str]:
    """The kinds of marks in the tree."""
    nodes = (node for node in walk(plan.tree) if kind_of(node) == "mark")
    return [node.mark_get_id().get_name().partition(":")[0] for node in nodes]


def said(plan: Plan) -> list[Decision]:
    return [decision for decision in plan.decisions if decision.step == "interleave"]


def test_chains_run_side_by_side_along_diagonals() -> None:
    scop, dependences, plan = plan_of(SWEEP)
    assert marks(plan).count(INTERLEAVE) == 1
    assert VECTOR not in marks(plan)
    assert len(said(plan)) == 1
    assert pv.check(scop, plan.tree, known=dependences)


def test_chains_inside_a_parallel_loop_run_in_strips() -> None:
    scop, dependences, plan = plan_of(COLUMNS)
    assert marks(plan).count(VECTOR) == 3
    # Two vector instructions for each operation: one alone would wait for itself.
    assert marks(plan).count(INTERLEAVE) == 3
    assert marks(plan).count(POINTS) == 1
    assert len(said(plan)) == 1
    assert pv.check(scop, plan.tree, known=dependences)


@pytest.mark.parametrize("text", [SWEEP, COLUMNS], ids=["sweep", "columns"])
def test_text(text: str, golden: Callable[..., None]) -> None:
    kernel = pv.compile(function_of(text), target="c")
    golden(kernel.source.partition("int64_t kernel_")[2])


def test_temporaries_of_chains_have_a_cell_in_each_strip() -> None:
    scop, dependences, plan = plan_of(PRIVATE)
    assert marks(plan).count(INTERLEAVE) == 2
    (expansion,) = plan.expansions
    assert (expansion.array, expansion.depth, expansion.window) == ("last", 1, 8)
    assert pv.check(scop, plan.tree, known=dependences)


def test_temporaries_of_each_iteration_do_not_keep_chains_one_by_one() -> None:
    scop, dependences, plan = plan_of(ENSEMBLE)
    assert marks(plan).count(INTERLEAVE) == 3
    assert set(plan.locals) == {"old", "slope"} - {expansion.array for expansion in plan.expansions}
    assert all(expansion.window == 8 for expansion in plan.expansions)
    assert pv.check(scop, plan.tree, known=dependences)


def test_vector_loops_beside_chains_stay_as_they_are() -> None:
    scop, dependences, plan = plan_of(FILTER)
    assert marks(plan).count(VECTOR) == 4
    assert marks(plan).count(INTERLEAVE) == 3
    assert {expansion.array: expansion.window for expansion in plan.expansions} == {"one": 8, "two": 8}
    assert plan.locals == ("new",)
    assert pv.check(scop, plan.tree, known=dependences)


@pytest.mark.parametrize(
    "text", [PRIVATE, FILTER, SEVERAL_CELLS, ENSEMBLE], ids=["private", "filter", "several", "ensemble"]
)
@pytest.mark.parametrize("contract", ["reassociate", "strict"])
def test_results_of_chains_with_temporaries(text: str, contract: str) -> None:
    generator = np.random.default_rng(3)
    for rows in (0, 1, 7, 8, 9, 35):
        arrays = [generator.random((rows, rows)) for _ in range(2)]
        agree_at(text, *arrays, rows, target="c", contract=contract)


@pytest.mark.parametrize("text", [SUMS, FREE, SOLVE], ids=["sums", "free", "solve"])
def test_what_need_not_wait_stays(text: str) -> None:
    plan = plan_of(text)[2]
    assert INTERLEAVE not in marks(plan)
    assert not said(plan)


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("text", [SWEEP, COLUMNS], ids=["sweep", "columns"])
def test_interleaving_can_be_switched_off(text: str, target: str) -> None:
    plan = plan_of(text, target=target, interleave=False)[2]
    assert not {INTERLEAVE, VECTOR} & set(marks(plan))
    assert not said(plan)


@pytest.mark.parametrize("text", [SWEEP, COLUMNS], ids=["sweep", "columns"])
def test_numba_says_that_it_leaves_chains_as_they_are(text: str) -> None:
    plan = plan_of(text, target="numba")[2]
    assert not {INTERLEAVE, VECTOR} & set(marks(plan))
    (decision,) = said(plan)
    assert "numba leaves it at that: c may run several of its kind side by side" in decision.text


@pytest.mark.thinned(4)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("tile", [None, (3, 16, 5)], ids=["default", "small"])
def test_sweeps_in_place_are_bitwise_the_same(tile: Any, dtype: str) -> None:
    kernel = pv.compile(function_of(SWEEP), target="c", floating_point="strict", tile=tile)
    original = pv.compile(function_of(SWEEP), schedule="original", target="c", floating_point="strict")
    for size in SIZES:
        for steps in (0, 1, 9):
            array = np.random.default_rng(size).random((size, size)).astype(dtype)
            expected = array.copy()
            kernel(array, steps, size)
            original(expected, steps, size)
            np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_columns_are_bitwise_the_same(dtype: str) -> None:
    kernel = pv.compile(function_of(COLUMNS), target="c", floating_point="strict")
    original = pv.compile(function_of(COLUMNS), schedule="original", target="c", floating_point="strict")
    for size in SIZES:
        random = np.random.default_rng(size)
        arrays = [random.random((size, size)).astype(dtype) for _ in range(4)]
        expected = [array.copy() for array in arrays]
        kernel(*arrays, size)
        original(*expected, size)
        for array, other in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(array, other)


def stencil(seed: int) -> str:
    """One or two sweeps in place that read neighbours on all sides."""
    random = Random(seed)
    lines = ["def sweeps(A, B, steps, n):", "    for t in range(steps):"]
    for target in random.choice(["A", "AB", "BA"]):
        terms = [f"A[i + {random.randint(-1, 1)}, j + {random.randint(-1, 1)}]" for _ in range(4)]
        if target == "B":
            terms.append(f"B[i + {random.randint(-1, 1)}, j - 1]")
        lines += ["        for i in range(1, n - 1):", "            for j in range(1, n - 1):"]
        lines.append(f"                {target}[i, j] = 0.2 * ({target}[i, j - 1] + {' + '.join(terms)})")
    return "\n".join(lines)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("seed", range(6))
def test_random_sweeps_compute_the_same(seed: int) -> None:
    options: dict[str, Any] = {"target": "c", "floating_point": "strict"}
    kernel = pv.compile(function_of(stencil(seed)), tile=(4, 8, 16), **options)
    original = pv.compile(function_of(stencil(seed)), schedule="original", **options)
    for steps, size in ((5, 11), (0, 9), (7, 24), (13, 40)):
        arrays = [np.random.default_rng(number).random((size, size)) for number in range(2)]
        expected = [array.copy() for array in arrays]
        kernel(*arrays, steps, size)
        original(*expected, steps, size)
        np.testing.assert_array_equal(arrays, expected)


def test_a_parallel_loop_around_chains_needs_no_flag_of_the_scheduler() -> None:
    """The statements come apart after they were scheduled together, and the bands of each have flags of neither."""

    def apart(C, D, n, m):
        for k in range(n - 2, 0, -1):
            for j in range(1, m):
                for i in range(1, m - 1):
                    C[i, j, k] = min(C[i, j, k + 1], D[i, j, k])
                    D[i, j, k] += C[i, j, k + 1]

    random = np.random.default_rng(3)
    given = [random.random((21, 21, 12)) for _ in range(2)]
    expected = [array.copy() for array in given]
    pv.compile(apart, contract="strict")(*given, 12, 20)
    apart(*expected, 12, 20)
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_array_equal(one, other)
