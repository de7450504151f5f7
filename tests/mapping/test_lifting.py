"""Rows in stretches side by side: which loops hold nothing but sweeps, and the same bits as the plain loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

JACOBI = """
def jacobi(A, B, n, steps):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = 0.25 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.5 * (B[i - 1] + B[i + 1])
"""
WAVES = """
def waves(E, H, n, steps):
    for t in range(steps):
        for i in range(1, n):
            E[i] = E[i] - 0.5 * (H[i] - H[i - 1])
        for i in range(n - 1):
            H[i] -= 0.7 * (E[i + 1] - E[i])
"""
FAR = """
def far(A, B, n, steps):
    for t in range(steps):
        for i in range(n - 3):
            B[i + 2] = A[i] - 0.5 * A[i + 3]
        for i in range(3, n - 1):
            A[i] = 0.5 * (B[i - 3] + B[i - 1]) - B[i]
"""
WEIGHTS = """
def weights(A, B, C, n, steps):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = C[i] * A[i - 1] + A[i + 1] / C[i + 1]
        for i in range(1, n - 1):
            A[i] = B[i]
"""
ITERATOR = JACOBI.replace("0.5 *", "i *")
WEDGE = JACOBI.replace("range(1, n - 1)", "range(1, n - 1 - t)")
FIXED = JACOBI.replace("0.5 *", "B[0] *")
TABLE = """
def table(A, B, C, n, steps):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = C[t, i] * (A[i - 1] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = B[i]
"""
APART = JACOBI.replace("[i - 1]", "[i]").replace("[i + 1]", "[i]")
SIZES = (0, 1, 2, 3, 4, 5, 16, 129, 130, 131, 513, 514, 515, 577, 641)


def compiled(text: str, **options: Any) -> pv.Kernel:
    """With rows whole: in a pipeline they would be cut into tiles for the threads."""
    options = {"pipeline": False, **options}
    return pv.compile(function_of(text), schedule="pluto", target="c", contract="strict", **options)


def lifted(text: str, **options: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(found.arrays for found in compiled(text, **options).plan.liftings)


@pytest.mark.parametrize(
    ("text", "arrays"),
    [(JACOBI, ("A", "B")), (WAVES, ("E", "H")), (FAR, ("A", "B")), (WEIGHTS, ("A", "B", "C"))],
)
def test_rows_that_are_swept_again_and_again_are_lifted(text: str, arrays: tuple[str, ...]) -> None:
    assert lifted(text) == (arrays,)
    assert "_lifted[" in compiled(text).source


@pytest.mark.parametrize("text", [ITERATOR, WEDGE, FIXED, TABLE, APART])
def test_other_loops_are_left_alone(text: str) -> None:
    assert lifted(text) == ()
    assert "lifted" not in compiled(text).source


def test_the_technique_is_said_and_can_be_switched_off() -> None:
    (said,) = (decision for decision in compiled(JACOBI).plan.decisions if decision.step == "lift")
    assert said.statements == ("S0", "S1")
    assert said.text.startswith("A and B are swept again and again: ")
    off = compiled(JACOBI, lift=False)
    assert off.plan.liftings == ()
    assert "lifted" not in off.source


def test_the_text(golden: Callable[..., None]) -> None:
    golden(compiled(FAR).source, "c")


@pytest.mark.thinned(4)
@pytest.mark.parametrize("text", [JACOBI, WAVES, FAR, WEIGHTS])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_size_gives_the_bits_of_the_plain_loops(text: str, dtype: str) -> None:
    kernel, plain = compiled(text), compiled(text, lift=False)
    count = text.partition(")")[0].count(",") - 1
    for size in SIZES:
        for steps in (0, 1, 7, 8, 11):
            source = np.random.default_rng(size)
            arrays = [(source.random(size) + 0.5).astype(dtype) for _ in range(count)]
            expected = [array.copy() for array in arrays]
            kernel(*arrays, size, steps)
            plain(*expected, size, steps)
            assert all(np.array_equal(one, other) for one, other in zip(arrays, expected, strict=True)), (
                size,
                steps,
            )


def test_the_bits_are_those_of_python() -> None:
    function = function_of(WAVES)
    source = np.random.default_rng(5)
    arrays = [source.random(579) for _ in range(2)]
    expected = [array.copy() for array in arrays]
    compiled(WAVES)(*arrays, 579, 9)
    function(*expected, 579, 9)
    assert all(np.array_equal(one, other) for one, other in zip(arrays, expected, strict=True))


@pytest.mark.parametrize("kind", ["strided", "mixed"])
def test_rows_that_cannot_be_lifted_are_swept_where_they_are(kind: str) -> None:
    source = np.random.default_rng(7)
    second = source.random(600).astype("float32") if kind == "mixed" else source.random(600)
    arrays = [source.random(1200)[::2] if kind == "strided" else source.random(600), second]
    expected = [array.copy() for array in arrays]
    kernel = compiled(JACOBI)
    kernel(*arrays, 600, 9)
    compiled(JACOBI, lift=False)(*expected, 600, 9)
    assert all(np.array_equal(one, other) for one, other in zip(arrays, expected, strict=True))
    notes = kernel.program_for(kernel.bind((*arrays, 600, 9), {})).notes
    assert any(note.startswith("A and B are swept where they are: ") for note in notes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ITERATOR, "S1 is more than one assignment whose loop variable stands in subscripts only"),
        (FIXED, "a cell that all iterations read or write is part of a row, or changes"),
        (TABLE, "S0 reads or writes something that does not move by one cell of a row"),
        (FAR.replace("i + 3", "i + 30"), "a neighbour is 28 cells away"),
        (APART, None),
    ],
    ids=["iterator", "fixed", "table", "far", "apart"],
)
def test_why_rows_are_swept_where_they_are_is_said(text: str, reason: str | None) -> None:
    told = [decision.text for decision in compiled(text).plan.decisions if decision.step == "lift"]
    assert len(told) == (reason is not None)
    assert all(one.startswith(f"rows are swept where they are: {reason}") for one in told)


def test_numba_says_that_it_sweeps_rows_where_they_are() -> None:
    plan = pv.compile(function_of(JACOBI), schedule="pluto", target="numba").plan
    (told,) = (decision for decision in plan.decisions if decision.step == "lift")
    assert told.text.startswith("A and B are swept where they are: only c")
