"""Cells that stay in a vector loop with branches are loaded in front of it, where nothing can have written them."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, function_of

PATHS = """
    def f(M, path, n):
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    cost = M[i, k] + M[k, j]
                    if M[i, j] > cost:
                        M[i, j] = cost
                        path[i, j] = k
    """
AT_ONCE = """
    def f(M, path, n):
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    if M[i, j] > M[i, k] + M[k, j]:
                        M[i, j] = M[i, k] + M[k, j]
                        path[i, j] = k
    """
WRITTEN_BEFORE = """
    def f(M, path, n):
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    if M[i, j] > M[i, k]:
                        M[i, j] = M[i, k] + 1
                        path[i, j] = M[i, k]
    """
OF_OTHERS = """
    def f(M, path, n):
        for i in range(n):
            for j in range(n):
                if path[i, j] > M[i, 0]:
                    path[i, j] = M[i, 0]
                    path[i, j] += 1
    """

FOUND_BY_QUOTIENTS = """
    def f(out, w, cols, kh, kw):
        for f in range(out.shape[0]):
            for k in range(cols.shape[0]):
                for p in range(out.shape[1]):
                    out[f, p] += w[f, k // (kh * kw), (k // kw) % kh, k % kw] * cols[k, p]
    """
FOUND_BY_A_TABLE = """
    def f(out, w, at):
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = 2.0 * out[i, j] + w[at[i]]
    """
NOT_ALWAYS = """
    def f(out, w, at):
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                if out[i, j] > 0.5:
                    out[i, j] = w[at[i]]
    """


def loops_of(text: str) -> str:
    source = pv.compile(function_of(text), target="c").source
    return source[source.index("int64_t kernel_") :]


@pytest.mark.parametrize("text", [PATHS, AT_ONCE], ids=["paths", "at once"])
def test_a_cell_that_stays_is_loaded_in_front_of_the_loop(text: str) -> None:
    loops = loops_of(text)
    assert "_steady0 = M[i][k];" in loops
    inside = loops.partition("#pragma omp simd")[2].partition("#pragma omp simd")[0].partition("path[")[0]
    assert "M_steady0 + M[k][j]" in inside
    assert "M[i][k]" not in inside


def test_a_cell_that_is_read_behind_a_store_is_loaded_where_it_stands() -> None:
    assert "_steady0" not in loops_of(WRITTEN_BEFORE)


def test_arrays_that_the_loop_does_not_write_are_left_to_the_compiler() -> None:
    assert "_steady0" not in loops_of(OF_OTHERS)


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("text", [PATHS, AT_ONCE, WRITTEN_BEFORE, OF_OTHERS], ids=["paths", "once", "before", "others"])
def test_results_are_those_of_the_loops(text: str, contract: str) -> None:
    for n in (1, 2, 3, 21):
        random = np.random.default_rng(n)
        M, path = random.random((n, n)) - 0.02, random.random((n, n))
        agree(text, M, path, n, target="c", contract=contract)


@pytest.mark.parametrize("text", [FOUND_BY_QUOTIENTS, FOUND_BY_A_TABLE], ids=["quotients", "table"])
def test_a_cell_that_is_tested_is_loaded_in_front_of_the_loop(text: str) -> None:
    loops = loops_of(text)
    assert all("checked_index" not in part.partition("}")[0] for part in loops.split("#pragma omp simd\n")[1:])
    assert "w_steady0 = w[checked_index(" in loops


@pytest.mark.slow
def test_a_cell_that_is_found_by_quotients_has_the_values_of_the_loops() -> None:
    random = np.random.default_rng(6)
    for filters, width in ((0, 5), (2, 0), (3, 1), (40, 131)):
        out, w, cols = random.random((filters, width)), random.random((filters, 4, 3, 2)), random.random((24, width))
        agree(FOUND_BY_QUOTIENTS, out, w, cols, 3, 2, target="c", contract="strict")


def test_what_is_not_there_is_reported_where_an_iteration_needs_it_only() -> None:
    needed, asked = (pv.compile(function_of(text), target="c") for text in (FOUND_BY_A_TABLE, NOT_ALWAYS))
    outside = np.array([0, 7, 1])
    needed(np.ones((3, 0)), np.ones(2), outside)
    asked(np.zeros((3, 4)), np.ones(2), outside)
    for kernel in (needed, asked):
        with pytest.raises(pv.OutOfBoundsError):
            kernel(np.ones((3, 4)), np.ones(2), outside)
