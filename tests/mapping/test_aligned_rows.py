"""Rows on cache lines: for which stencils arrays are copied, and that results are those without copies, bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.model.plan import AlignedRows
from polyviz.model.processor import Processor
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint

WIDE = Processor(64, 32, 49152, 1048576, 2)
TWO_ARRAYS = """
def two_arrays(A, B, weights, steps, n, m):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(2, m - 1):
                B[i, j] = weights[i, j] * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + 2 * A[1 + i, j] - A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(2, m - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j])
"""
IN_PLACE = """
def in_place(A, B, steps, n, m):
    for t in range(steps):
        for i in range(1, n):
            for j in range(m):
                A[i, j] = A[i, j] - 0.5 * (B[i, j] - B[i - 1, j])
        for i in range(n - 1):
            for j in range(m - 3):
                B[i, j] -= 0.25 * (A[i + 1, j] - A[i, j] + A[i, j + 3])
"""
IN_SPACE = """
def in_space(A, B, steps, n):
    for t in range(1, steps + 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = 0.1 * (A[i + 1, j, k] + A[i - 1, j, k] + A[i, j + 1, k] + A[i, j, k - 1] + A[i, j, k])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = 0.1 * (B[i - 1, j, k] + B[i, j - 1, k] + B[i, j, k + 1] + B[i, j, k])
"""
SHORT_TILES = (3, 6, 40)
MANY = 400


def plan_of(source: str, *, target: str = "c", processor: Processor | None = WIDE, **techniques: bool) -> Plan:
    scop = pv.extract(function_of(source))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    return make_plan(scop, dependences, schedule, target, processor=processor, **techniques)


def aligned(plan: Plan) -> list[AlignedRows]:
    return [work.aligned for work in plan.work if work.aligned is not None]


def kernels(source: str, **options: Any) -> tuple[Callable[..., None], Callable[..., None]]:
    """The loops with copies and without."""
    function = function_of(source)
    compiled = (pv.compile(function, schedule="pluto", target="c", align=align, **options) for align in (True, False))
    with_copies, without = compiled
    return with_copies, without


def test_all_arrays_of_a_stencil_are_copied_from_the_first_column_that_is_written() -> None:
    plan = plan_of(TWO_ARRAYS)
    assert aligned(plan) == [AlignedRows(("A", "B", "weights"), 2)]
    (told,) = (found.text for found in plan.decisions if found.step == "align")
    assert told == (
        "where the steps over time are many, A, B and weights stand in copies meanwhile: column 2 of each row begins a "
        "cache line, so that vectors do not lie across two"
    )


@pytest.mark.parametrize(
    "options",
    [{"align": False}, {"row_blocks": False}, {"pipeline": False}, {"target": "numba"}, {"processor": None}],
)
def test_without_the_technique_or_vectors_arrays_stay_where_they_are(options: dict[str, Any]) -> None:
    plan = plan_of(TWO_ARRAYS, **options)
    assert aligned(plan) == []
    assert not any(found.step == "align" for found in plan.decisions)


def test_vectors_that_cannot_begin_on_lines_leave_arrays_where_they_are() -> None:
    assert aligned(plan_of(IN_PLACE)) == []


@pytest.mark.thinned(3)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_results_are_those_without_copies(contract: FloatingPoint, threads: int) -> None:
    with_copies, without = kernels(TWO_ARRAYS, tile=SHORT_TILES, contract=contract, threads=threads)
    generator = np.random.default_rng(7)
    for steps in (0, 1, 2, 9, 50, MANY):
        for n, m in ((0, 0), (1, 1), (2, 9), (3, 4), (5, 20), (20, 63), (9, 64), (7, 65), (4, 127), (3, 512)):
            given = [generator.random((n, m)) for _ in range(3)]
            given[2] *= 0.2
            expected, found = ([array.copy() for array in given] for _ in range(2))
            without(*expected, steps, n, m)
            with_copies(*found, steps, n, m)
            for one, other in zip(expected, found, strict=True):
                if contract == "strict":
                    assert one.tobytes() == other.tobytes(), (steps, n, m)
                else:
                    np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("steps", [0, 3, MANY])
@pytest.mark.parametrize("n", [2, 3, 17])
def test_arrays_of_three_dimensions_are_copied_row_by_row(n: int, steps: int) -> None:
    with_copies, without = kernels(IN_SPACE, contract="strict")
    given = [np.random.default_rng(n).random((n, n, n)) for _ in range(2)]
    expected, found = ([array.copy() for array in given] for _ in range(2))
    without(*expected, steps, n)
    with_copies(*found, steps, n)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(expected, found, strict=True))


@pytest.mark.parametrize("steps", [4, MANY])
def test_cells_around_the_loops_and_what_is_no_number_come_back_as_they_were(steps: int) -> None:
    """The arrays are larger than the loops know, and hold a NaN with a payload, and zeros with a sign."""
    with_copies, without = kernels(TWO_ARRAYS, tile=SHORT_TILES, contract="strict")
    given = [np.random.default_rng(3).random((12, 75)) for _ in range(3)]
    given[2] *= 0.2
    for array in given[:2]:
        array[0, :] = -0.0
        array[-1, 3:9].view(np.int64)[:] = 0x7FF8000000ABCDEF
    expected, found = ([array.copy() for array in given] for _ in range(2))
    found[2].flags.writeable = False
    for arrays, run in ((expected, without), (found, with_copies)):
        run(*arrays, steps, 10, 70)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(expected, found, strict=True))
    assert found[0][-1, 4:5].view(np.int64)[0] == 0x7FF8000000ABCDEF


@pytest.mark.slow
def test_arrays_that_are_no_rows_in_memory_stay_where_they_are() -> None:
    with_copies, without = kernels(TWO_ARRAYS, tile=SHORT_TILES, contract="strict")
    given = [np.asfortranarray(np.random.default_rng(3).random((12, 75))) for _ in range(3)]
    expected, found = ([array.copy(order="F") for array in given] for _ in range(2))
    without(*expected, MANY, 12, 75)
    with_copies(*found, MANY, 12, 75)
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(expected, found, strict=True))


def test_arrays_that_overlap_are_refused_as_ever() -> None:
    with_copies, _ = kernels(TWO_ARRAYS, tile=SHORT_TILES)
    memory = np.zeros((13, 75))
    with pytest.raises(pv.PolyvizError, match="overlap"):
        with_copies(memory[:12], memory[1:], np.ones((12, 75)), MANY, 12, 75)
