"""Products of matrices get loops of their own where only statements with fewer loops share theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.toolchain import find_toolchain
from polyviz.transform.tree import bands, statements_under
from tests.blocked import SUMS, WIDE, blocked_plan
from tests.running import function_of

APART = "these statements have loops of their own"
SQUARES = """
def squares(C, A, n):
    for i in range(n):
        for j in range(n):
            C[i, j] = 0.5
            for k in range(n):
                C[i, j] += A[i, k] * A[k, j]
            C[i, j] *= 2.0
"""
CHAIN = """
def chain(C, A, B, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]
            A[i + 1, j] = 0.125 * C[i, j]
"""
TWO = """
def two(C, D, A, B, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]
                D[i, j] += A[i, k] + B[k, j]
"""
needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")


def decided(text: str, scheduler: str, **options: Any) -> dict[str, str]:
    """What is said of products and of loops that are distributed, by its kind."""
    _, plan = blocked_plan(text, WIDE, scheduler, **options)
    return {found.step: found.text for found in plan.decisions if found.step in ("distribute", "register-tile")}


@pytest.mark.parametrize(
    ("text", "scheduler"), [(text, name) for text in (SUMS["gemm"], SQUARES) for name in ("isl", "spatial")]
)
def test_what_begins_or_ends_sums_leaves_the_product_whole(text: str, scheduler: str) -> None:
    found = decided(text, scheduler)
    assert APART in found["distribute"]
    assert found["register-tile"].startswith("tiles of C stay in registers")


def test_loops_keep_their_statements_without_tiles_in_registers() -> None:
    assert not decided(SUMS["gemm"], "isl", register_tile=False)


def test_a_statement_that_the_next_row_needs_stays_in_the_loops() -> None:
    assert "distribute" not in decided(CHAIN, "isl")


def test_statements_with_as_many_loops_stay_together() -> None:
    assert "distribute" not in decided(TWO, "isl")


def test_a_row_that_only_told_statements_apart_is_gone() -> None:
    _, plan = blocked_plan(SUMS["gemm"], WIDE, "isl")
    first = next(band for _, band in bands(plan.tree))
    assert statements_under(first) == ("S0",)
    assert not [found for found in plan.decisions if found.step == "no-register-tile"]


@needs_compiler
@pytest.mark.parametrize("scheduler", ["isl", "spatial"])
@pytest.mark.parametrize("text", [SQUARES, CHAIN, TWO], ids=["squares", "chain", "two"])
def test_results(text: str, scheduler: str) -> None:
    function, random = function_of(text), np.random.default_rng(4)
    kernel = pv.compile(function, target="c", schedule=scheduler, contract="strict")
    for size in (0, 1, 3, 50, 101):
        count = {"squares": 2, "chain": 3, "two": 4}[function.__name__]
        given = [random.random((size + 1, size + 1)) for _ in range(count)]
        expected = [array.copy() for array in given]
        kernel(*given, size)
        function(*expected, size)
        for found, wanted in zip(given, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
