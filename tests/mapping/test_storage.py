"""Where private temporaries live: a variable inside the loops, or one cell per iteration; and the last value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping.storage import place_temporaries
from polyviz.model.plan import LOCAL
from polyviz.transform.tree import kind_of, walk
from tests.running import TARGETS, agree, function_of

TEMPORARY = """
def f(A, B, n):
    for i in range(n):
        for j in range(n):
            t = A[i, j] * 2
            B[i, j] = t + t
"""
CELL = """
for i in range(n):
    t = 2 * A[i]
    B[i] = t + 1
"""


def storage(schedule: str) -> Any:
    scop = pv.extract(function_of(TEMPORARY))
    dependences = pv.dependences(scop)
    return place_temporaries(scop, dependences, pv.compile(scop, schedule=schedule, target="c").schedule.tree)


def locals_marked(found: Any) -> list[str]:
    names = [node.mark_get_id().get_name() for node in walk(found.tree) if kind_of(node) == "mark"]
    return [name for name in names if name.startswith(LOCAL)]


def test_one_variable_where_an_iteration_deals_with_one_copy() -> None:
    found = storage("pluto")
    assert found.locals == ("t",)
    assert locals_marked(found) == ["local:t"]
    assert not found.expansions


def test_one_cell_per_iteration_where_copies_live_at_the_same_time() -> None:
    found = storage("[n] -> { S0[i, j] -> [0, i, j]; S1[i, j] -> [1, i, -j] }")
    (expansion,) = found.expansions
    assert (expansion.array, expansion.depth, expansion.shared) == ("t", 2, 0)
    assert [str(extent) for extent in expansion.extents] == ["[n] -> { [(n)] : n > 0 }"] * 2
    assert [lower.is_equal(lower.sub(lower)) for lower in expansion.lower] == [True, True]
    assert not found.locals
    assert not locals_marked(found)
    assert "one cell per iteration of its 2 outer loops" in found.decisions[0].text


def in_blocks(size: int, *, windows: bool = True) -> Any:
    block = f"j - j mod {size}"
    tree = f"[n] -> {{ S0[i, j] -> [i, {block}, 0, j]; S1[i, j] -> [i, {block}, 1, -j] }}"
    scop = pv.extract(function_of(TEMPORARY))
    order = pv.compile(scop, schedule=tree, target="c").schedule.tree
    return place_temporaries(scop, pv.dependences(scop), order, windows=windows)


@pytest.mark.parametrize(("size", "cells"), [(3, 4), (4, 4), (5, 8), (64, 64)])
def test_a_few_cells_where_a_few_neighbours_are_alive_together(size: int, cells: int) -> None:
    found = in_blocks(size)
    (expansion,) = found.expansions
    assert (expansion.depth, expansion.shared, expansion.window) == (2, 1, cells)
    assert locals_marked(found) == ["local:t"]
    assert f"an array of {cells} cells where it is used" in found.decisions[0].text


def test_many_neighbours_are_in_memory_of_the_whole_call() -> None:
    for found in (in_blocks(65), in_blocks(4, windows=False)):
        (expansion,) = found.expansions
        assert (expansion.shared, expansion.window) == (1, 0)
        assert not locals_marked(found)


@pytest.mark.parametrize("target", TARGETS)
def test_the_cells_of_neighbours_are_told_apart_before_0_too(target: str) -> None:
    text = """
    def f(A, B, n):
        for i in range(-n, n):
            t = A[i + n] * 2
            B[i + n] = t + i
    """
    tree = "[n] -> { S0[i] -> [i - i mod 4, 0, i]; S1[i] -> [i - i mod 4, 1, -i] }"
    for n in (0, 1, 3, 10):
        agree(text, np.arange(2.0 * n), np.zeros(2 * n), n, target=target, schedule=tree)


ROW_BY_ROW = "[n] -> { S0[i, j] -> [i, 0, j]; S1[i, j] -> [i, 1, -j] }"


def test_loops_that_run_one_after_the_other_share_the_cells() -> None:
    found = storage(ROW_BY_ROW)
    (expansion,) = found.expansions
    assert (expansion.depth, expansion.shared) == (2, 1)
    assert [str(extent) for extent in expansion.extents] == ["[n] -> { [(n)] : n > 0 }"]
    assert "one cell per iteration of its 1 inner loop" in found.decisions[0].text


def test_threads_share_no_cells() -> None:
    plan = pv.compile(function_of(TEMPORARY), schedule=ROW_BY_ROW, target="c").plan
    assert [expansion.shared for expansion in plan.expansions] == [0]


STEPS = """
def f(A, B, n, steps):
    for s in range(1, steps):
        for i in range(n):
            for j in range(2, i + 1):
                t = A[s - 1, i] * B[s - 1, j]
                A[s, i] += t + t
                B[s, j] += t
"""
STEP_BY_STEP = (
    "[n, steps] -> { S0[s, i, j] -> [s, 0, i, j]; S1[s, i, j] -> [s, 1, i, j]; S2[s, i, j] -> [s, 2, i, j] }"
)


@pytest.mark.parametrize("target", TARGETS)
def test_a_temporary_does_not_grow_with_the_steps(target: str) -> None:
    if target in ("c", "numba", "python"):
        plan = pv.compile(function_of(STEPS), schedule=STEP_BY_STEP, target=target).plan
        assert [(expansion.depth, expansion.shared) for expansion in plan.expansions] == [(3, 1)]
    data = np.random.default_rng(1).random((2, 4, 7))
    agree(STEPS, data[0].copy(), data[1].copy(), 7, 4, target=target, schedule=STEP_BY_STEP)


CONTRACTED = "original"
EXPANDED = "[n] -> { S0[i] -> [0, i]; S1[i] -> [1, -i] }"


@pytest.mark.parametrize("schedule", [CONTRACTED, "pluto", EXPANDED])
@pytest.mark.parametrize("target", TARGETS)
def test_a_cell_leaves_the_last_value_behind(target: str, schedule: str) -> None:
    for size in (1, 5, 70):
        namespace = {"A": np.arange(1.0, 1.0 + size), "B": np.zeros(size), "n": size}
        kernel = pv.compile(CELL, schedule=schedule, target=target, namespace=namespace)
        values = [
            namespace[argument.name] for argument in kernel.scop.arguments if argument.name in namespace
        ]
        missing = len(kernel.scop.arguments) - len(values)
        results = dict(zip(_results(kernel), kernel(*values, *[0.0] * missing), strict=True))
        assert results["t"] == 2.0 * size
        np.testing.assert_array_equal(namespace["B"], 2 * namespace["A"] + 1)


def _results(kernel: pv.Kernel) -> tuple[str, ...]:
    return kernel.program.results


@pytest.mark.parametrize("target", TARGETS)
def test_a_temporary_that_is_returned_keeps_its_last_value(target: str) -> None:
    for size in (0, 1, 9):
        agree(
            """
            def f(A, B, n):
                t = -1.0
                for i in range(n):
                    t = 2 * A[i]
                    B[i] = t + 1
                return t
            """,
            np.arange(size + 1.0),
            np.zeros(size + 1),
            size,
            target=target,
        )
