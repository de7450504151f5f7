"""Pipelines: which bands get them, that a tile waits for all that it needs, and that results are those as written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.model.plan import PARALLEL, PIPELINE, WAITING
from polyviz.model.processor import Processor
from polyviz.transform.tree import kind_of, walk
from tests.mapping.pipelines import assert_pipelines_wait_enough
from tests.mapping.test_lifting import JACOBI
from tests.mapping.test_row_blocks import IN_PLACE, SWEEP, TWO_ARRAYS
from tests.running import agree, function_of

if TYPE_CHECKING:

    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

CORE = Processor(64, 32, 49152, 1048576, 2)
FIRST_ROW_APART = """
def first_row_apart(A, B, C, steps, n, m):
    for t in range(steps):
        for j in range(m):
            A[0, j] = t
        for i in range(1, n):
            for j in range(m):
                A[i, j] = A[i, j] - 0.5 * (C[i, j] - C[i - 1, j])
        for i in range(n):
            for j in range(1, m):
                B[i, j] = B[i, j] - 0.5 * (C[i, j] - C[i, j - 1])
        for i in range(n - 1):
            for j in range(m - 1):
                C[i, j] = C[i, j] - 0.7 * (B[i, j + 1] - B[i, j] + A[i + 1, j] - A[i, j])
"""
CUBE = """
def cube(A, steps, n, m):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, m - 1):
                    A[i, j, k] = 0.1 * (A[i - 1, j, k] + A[i + 1, j, k] + A[i, j - 1, k] + A[i, j, k + 1] + A[i, j, k])
"""
SOURCES = {"two arrays": TWO_ARRAYS, "in place": IN_PLACE, "sweep": SWEEP, "first row": FIRST_ROW_APART}


def planned(source: str, *, target: str = "c", **options: Any) -> tuple[Scop, Plan]:
    scop = pv.extract(function_of(source))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    return scop, make_plan(scop, dependences, schedule, target, processor=CORE, **options)


def kinds(plan: Plan) -> list[str]:
    """The marks of the plan that concern threads, without their numbers."""
    names = [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"]
    found = [name.partition(":")[0] for name in names]
    return [name for name in found if name in (PARALLEL, PIPELINE, WAITING)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_tiles_without_a_parallel_loop_run_in_a_pipeline(source: str) -> None:
    assert kinds(planned(source)[1]) == [PIPELINE, WAITING]
    assert kinds(planned(source, pipeline=False)[1]) == [PARALLEL]
    assert kinds(planned(source, target="numba")[1]) == [PARALLEL]
    assert PIPELINE not in kinds(planned(source, tile=False)[1])


def test_the_log_says_what_threads_wait_for() -> None:
    said = next(one.text for one in planned(SWEEP)[1].decisions if one.step == "wavefront")
    assert said.startswith("no tile loop is parallel, so threads take rows of tiles in turn")
    fronts = planned(SWEEP, pipeline=False)[1]
    assert "skewed by the second" in next(one.text for one in fronts.decisions if one.step == "wavefront")


@pytest.mark.parametrize("source", [*SOURCES.values(), CUBE], ids=[*SOURCES, "cube"])
def test_a_tile_needs_nothing_of_a_later_row_or_place(source: str) -> None:
    scop, plan = planned(source)
    assert kinds(plan) == [PIPELINE, WAITING]
    assert_pipelines_wait_enough(pv.dependences(scop), plan)


TABLE = """
def table(T, c, n, m):
    for i in range(1, n):
        for j in range(1, m):
            T[i, j] = max(T[i - 1, j] + c[i], T[i, j - 1] + c[j])
"""


@pytest.mark.parametrize("source", [JACOBI, TABLE], ids=["rows", "table"])
def test_rows_of_one_dimension_and_tables_are_tiled_for_the_threads(source: str) -> None:
    """Their data fit in a cache or are touched once: without threads there would be no tiles."""
    assert kinds(planned(source)[1]) == [PIPELINE, WAITING]
    assert not kinds(planned(source, pipeline=False)[1])


@pytest.mark.thinned(3)
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("source", [IN_PLACE, SWEEP], ids=["in place", "sweep"])
def test_results_are_those_as_written(source: str, threads: int) -> None:
    """Tiny tiles: hundreds of waits, and threads that get no row at all; the small sizes run on one thread."""
    kernel = pv.compile(function_of(source), target="c", contract="strict", tile=(2, 3, 8), threads=threads)
    assert PIPELINE in str(kernel.plan.tree)
    for steps, n, m in [(9, 170, 171), (1, 200, 170), (13, 4, 5), (2, 3, 3), (0, 5, 5)]:
        given = np.random.default_rng(n).random((3, n, m))
        expected, found = given.copy(), given.copy()
        count = len(kernel.scop.arguments) - 3
        function_of(source)(*expected[:count], steps, n, m)
        kernel(*found[:count], steps, n, m)
        assert np.array_equal(found, expected), (steps, n, m)


def test_rows_without_a_loop_over_their_tiles_run_on_one_thread() -> None:
    """With sizes that are known, isl knows the single tile of every row."""
    text = SWEEP.replace("A, B, steps, n, m", "A").replace("steps", "50").replace("n - 1", "6").replace("m - 1", "7")
    kernel = pv.compile(function_of(text), target="c")
    given = np.random.default_rng(1).random((8, 8))
    expected, found = given.copy(), given.copy()
    function_of(text)(expected)
    kernel(found)
    assert np.allclose(found, expected)


def test_a_recurrence_with_a_private_number_is_shared_too() -> None:
    text = """
def align(a, b, H, match, mismatch, gap):
    for i in range(1, H.shape[0]):
        for j in range(1, H.shape[1]):
            s = match if a[i - 1] == b[j - 1] else mismatch
            H[i, j] = max(0.0, H[i - 1, j - 1] + s, H[i - 1, j] - gap, H[i, j - 1] - gap)
"""
    letters = np.random.default_rng(2).integers(0, 4, (2, 300))
    kernel = agree(text, letters[0], letters[1], np.zeros((301, 301)), 2.0, -1.0, 1.0, target="c")
    assert "wavefront" in [one.step for one in kernel.plan.decisions]
    # Each of several diagonals in one vector loop would need a number of its own.
    assert "interleave" not in [one.step for one in kernel.plan.decisions]


def loops_of(text: str, *, swapped: bool) -> list[str]:
    """The iterators of all loops of the C program, with the names ``i`` and ``j`` in the place of each other."""
    found = pv.compile(function_of(text), target="c").source
    iterators = re.findall(r"for \(int64_t (\w+) =", found)
    names = {"i": "j", "j": "i"} if swapped else {}
    return [names.get(name[0], name[0]) + name[1:] for name in iterators]


def test_rows_of_tiles_do_not_depend_on_the_order_in_which_the_source_walks() -> None:
    by_columns = re.sub(r"\[([^]]*), ([^]]*)\]", r"[\2, \1]", TWO_ARRAYS)
    assert by_columns != TWO_ARRAYS
    assert loops_of(TWO_ARRAYS, swapped=False) == loops_of(by_columns, swapped=True)
