"""Blocks of products that are about equal, as many for each thread, and the memory that calls leave to each other."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.runtime_c import helper_source
from polyviz.runtime.toolchain import compile_shared, find_toolchain
from tests.blocked import SUMS, blocked_kernel
from tests.running import function_of

if TYPE_CHECKING:
    from pathlib import Path

PRODUCT = """
def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""
TWO_PRODUCTS = """
def two_products(T, A, B, D, C):
    for i in range(T.shape[0]):
        for j in range(T.shape[1]):
            for k in range(A.shape[1]):
                T[i, j] += A[i, k] * B[k, j]
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            for k in range(T.shape[1]):
                D[i, j] += T[i, k] * C[k, j]
"""
PARTS = """
#include <stdint.h>
{helpers}
int64_t parts(int64_t length, int64_t unit, int64_t longest, int64_t threads)
{{
    return even_parts(length, unit, longest, threads);
}}
int64_t start(int64_t length, int64_t unit, int64_t part, int64_t parts)
{{
    return part_start(length, unit, part, parts);
}}
"""
needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")


@needs_compiler
@pytest.mark.parametrize("threads", [1, 2, 3, 16])
def test_parts_are_equal_whole_units_and_as_many_for_each_thread(threads: int, tmp_path: Path) -> None:
    toolchain = find_toolchain()
    assert toolchain is not None
    source = PARTS.format(helpers=helper_source({"even_parts", "part_start"}))
    compile_shared(toolchain, source, tmp_path / "parts.so")
    library = ctypes.CDLL(str(tmp_path / "parts.so"))
    for function in (library.parts, library.start):
        function.argtypes, function.restype = [ctypes.c_int64] * 4, ctypes.c_int64
    assert all(library.parts(length, 8, 64, threads) <= 0 for length in (-1, -7, -8, -9, -1000))
    for unit, longest in ((1, 1), (4, 64), (8, 64)):
        for length in (0, 1, 7, 8, 64, 65, 200, 599, 600, 4096):
            count, units = library.parts(length, unit, longest, threads), -(-length // unit)
            ends = [library.start(length, unit, part, count) for part in range(count + 1)] if count else [0]
            sizes = [after - before for before, after in pairwise(ends)]
            assert (ends[0], ends[-1]) == (0, length)
            assert all(0 < size <= longest for size in sizes)
            assert all(size % unit == 0 for size in sizes[:-1])
            assert not sizes or max(sizes) - min(sizes) < 2 * unit
            assert count % threads == 0 or count == units


def test_rows_columns_and_steps_are_divided_unless_switched_off() -> None:
    source = blocked_kernel(SUMS["gemm"]).source
    assert [source.count(f"{name}_tile_end = part_start(") for name in "ijk"] == [1, 1, 1]
    source = blocked_kernel(SUMS["gemm"], even_blocks=False).source
    assert "part_start" not in source
    assert "i_tile += 64" in source


def test_of_triangles_only_the_straight_side_is_divided() -> None:
    source = blocked_kernel(SUMS["trmm"]).source
    assert [source.count(f"{name}_tile_end = part_start(") for name in "ijk"] == [0, 1, 0]


def test_sizes_that_hold_no_whole_tiles_stay() -> None:
    source = blocked_kernel(SUMS["gemm"], tile=(12, 48, 6)).source
    assert [source.count(f"{name}_tile_end = part_start(") for name in "ijk"] == [0, 1, 0]


@needs_compiler
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("tile", [None, (16, 48, 8)])
def test_results(tile: tuple[int, ...] | None, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyviz.codegen.c.SMALLEST_SHARED_WORK", 1000)
    function, random = function_of(TWO_PRODUCTS), np.random.default_rng(11)
    kernel = pv.compile(function, target="c", threads=threads, contract="strict", tile=tile)
    for rows, steps, columns in ((0, 5, 5), (1, 30, 50), (33, 0, 40), (61, 53, 97), (64, 64, 64), (130, 67, 49)):
        shapes = (rows, columns), (rows, steps), (steps, columns), (rows, steps), (columns, steps)
        given = [random.random(shape) for shape in shapes]
        expected = [array.copy() for array in given]
        kernel(*given)
        function(*expected)
        np.testing.assert_array_equal(given[0], expected[0])
        np.testing.assert_array_equal(given[3], expected[3])


@needs_compiler
def test_calls_at_the_same_time_have_memory_of_their_own() -> None:
    kernel, random = pv.compile(function_of(PRODUCT), target="c", threads=1), np.random.default_rng(12)
    assert "take_memory(" in kernel.source
    left, right = random.random((2, 120, 120))
    sums = [np.zeros((120, 120)) for _ in range(40)]

    def call(number: int) -> None:
        kernel(sums[number], left * number, right)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, range(len(sums))))
    for number, found in enumerate(sums):
        np.testing.assert_allclose(found, number * (left @ right), rtol=1e-12)
