"""Sums into a single number: threads add into variables of their own, and what else a row is used for stands beside."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.plan import REDUCED
from polyviz.runtime.toolchain import find_toolchain
from tests.mapping.test_cpu import marked
from tests.running import function_of

TOTAL = """
def total(u, r):
    found = {start}
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            {statement}
    r[0] = found
"""
DOT = """
def dot(u, v):
    found = 2.0
    for i in range(u.shape[0]):
        found -= u[i] * v[i]
    return found
"""
RESIDUAL = """
def residual(u, v, r, n):
    found = 0.0
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            v[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j]
            found += (v[i, j] - u[i, j]) ** 2
    r[0] = found
"""
VALUES = np.random.default_rng(6).random((400, 500))


def total(statement: str = "found += u[i, j]", start: str = "0.0", **options: object) -> pv.Kernel:
    return pv.compile(function_of(TOTAL.format(statement=statement, start=start)), **options)


def needs_compiler() -> None:
    if find_toolchain() is None:
        pytest.skip("no C compiler")


def test_threads_share_a_total() -> None:
    kernel = total()
    assert [found.rank for found in kernel.plan.array_sums] == [0]
    assert len(marked(kernel.plan, REDUCED)) == 1
    assert "num_threads" in kernel.source


@pytest.mark.parametrize("statement", ["found += u[i, j] * found", "found = u[i, j]", "found *= u[i, j]"])
def test_what_is_no_sum_stays_on_one_thread(statement: str) -> None:
    assert not total(statement).plan.array_sums


def test_a_strict_contract_keeps_the_order_and_another_target_its_own_way() -> None:
    assert not total(contract="strict").plan.array_sums
    assert not total(target="numba").plan.array_sums


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(400, 500), (1, 3), (0, 4)])
def test_every_element_is_added_once(kind: str, shape: tuple[int, int]) -> None:
    needs_compiler()
    u, r = (100 * VALUES[: shape[0], : shape[1]]).astype(kind), np.zeros(1, kind)
    total(start={"int64": "3", "complex128": "3j"}.get(kind, "3.0"))(u, r)
    assert np.isclose(r[0], u.sum() + (3j if kind == "complex128" else 3), 1e-4)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 50_001, 200_000])
def test_a_loop_that_only_folds_is_cut_into_one_run_for_each_thread(length: int) -> None:
    needs_compiler()
    kernel = pv.compile(function_of(DOT))
    u, v = VALUES.ravel()[:length], VALUES.T.copy().ravel()[:length]
    assert np.isclose(kernel(u.copy(), v), 2.0 - u @ v)
    assert "start_of_share" in kernel.source


@pytest.mark.parametrize("ends", ["n - 1, -1, -1", "n - 5, n", "m + 1, n", "n - m, n + m", "n // 2, n", "m, n"])
def test_a_run_starts_where_the_loop_starts(ends: str) -> None:
    needs_compiler()
    text = f"def part(u, n, m):\n    s = 0.0\n    for i in range({ends}):\n        s += u[i]\n    return s\n"
    function, values = function_of(text), np.random.default_rng(4).random(100_100)
    kernel = pv.compile(function, target="c", threads=2)
    assert "_of_share" in kernel.source
    for n, m in ((5, 0), (20, 4), (100_000, 7)):
        np.testing.assert_allclose(kernel(values, n, m), function(values, n, m), rtol=1e-9)


def test_the_same_bits_again() -> None:
    needs_compiler()
    kernel, results = total(), set()
    for _ in range(20):
        r = np.zeros(1)
        kernel(VALUES, r)
        results.add(r[0])
    assert len(results) == 1


def test_a_residual_shares_the_rows_of_the_sweep_it_is_about() -> None:
    needs_compiler()
    kernel = pv.compile(function_of(RESIDUAL))
    assert [decision.step for decision in kernel.plan.decisions].count("fuse-passes") == 1
    assert pv.check(kernel.scop, kernel.plan.tree)
    u, v, r = VALUES[:300, :300].copy(), np.zeros((300, 300)), np.zeros(1)
    kernel(u, v, r, 300)
    wanted = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, 1:-1]
    assert np.allclose(v[1:-1, 1:-1], wanted)
    assert np.isclose(r[0], ((wanted - u[1:-1, 1:-1]) ** 2).sum())
