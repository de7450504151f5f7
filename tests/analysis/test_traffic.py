"""What has to be computed and moved, against counting by hand and by walking through all instances."""

from __future__ import annotations

import islpy as isl
import pytest

import polyviz as pv
from polyviz.analysis.traffic import least_operations, lines_of, work_of

GEMM = """
def gemm(alpha, beta, C, A, B, n):
    for i in range(n):
        for j in range(n):
            C[i, j] *= beta
            for k in range(n):
                C[i, j] += alpha * A[i, k] * B[k, j]
"""
TEMPORARY = """
import numpy as np
def temporary(A, n):
    T = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            T[i, j] = 2.0 * A[i, j]
    for i in range(n):
        for j in range(n):
            A[i, j] = T[j, i]
"""


def test_a_product_that_serves_a_whole_row_is_counted_once() -> None:
    n = 10
    # C * beta; alpha * A once per i and k; times B, plus.
    assert least_operations(pv.extract(GEMM), {"n": n}) == n**2 + n**2 + 2 * n**3


def test_an_operation_on_what_is_written_runs_every_time() -> None:
    loops = "def f(A, x, n):\n    for i in range(n):\n        for j in range(n):\n"
    text = f"{loops}            A[j] = A[j] + 2.0 * x[j] * A[0]\n"
    assert least_operations(pv.extract(text), {"n": 5}) == 5 + 2 * 25


def test_every_line_crosses_the_bus_once_each_way() -> None:
    found = work_of(pv.extract(GEMM), {"n": 16}, {})
    array = 16 * 16 * 8
    assert (found.bytes_read, found.bytes_written, found.working_set) == (3 * array, array, 3 * array)
    half = work_of(pv.extract(GEMM), {"n": 16}, dict.fromkeys("ABC", 4))
    assert half.bytes_read == 3 * array // 2


def test_arrays_of_the_part_itself_need_not_reach_memory() -> None:
    found = work_of(pv.extract(TEMPORARY), {"n": 16}, {})
    array = 16 * 16 * 8
    assert (found.bytes_read, found.bytes_written, found.working_set) == (array, array, 2 * array)


def test_what_is_written_before_it_is_read_need_not_come_from_memory() -> None:
    text = "def f(A, B, n):\n    for i in range(n):\n        A[i] = B[i]\n    for i in range(n):\n        A[i] += 1.0\n"
    found = work_of(pv.extract(text), {"n": 64}, {})
    assert (found.bytes_read, found.bytes_written) == (64 * 8, 64 * 8)


@pytest.mark.parametrize(
    "cells",
    [
        "{ A[i] : 3 <= i < 30 }",
        "{ A[i, j] : 0 <= i < 13 and 0 <= j < 21 }",
        "{ A[i, j] : 0 <= i < 25 and i <= j < 25 }",
        "{ A[i, j] : 0 <= i < 9 and 0 <= j < 40 and j mod 16 = 3 }",
        "{ A[i, j, k] : 0 <= k <= j <= i < 11 }",
        "{ A[i, j] : i = 2 and 0 <= j < 30; A[i, j] : 0 <= i < 5 and j = 7 }",
        "{ A[i] : false }",
    ],
)
def test_lines_against_walking_through_all_cells(cells: str) -> None:
    points = isl.Set(cells)
    found = set()

    def add(point: isl.Point) -> None:
        place = [
            int(point.get_coordinate_val(isl.dim_type.set, axis).to_python())
            for axis in range(points.dim(isl.dim_type.set))
        ]
        found.add((*place[:-1], place[-1] // 8))

    points.foreach_point(add)
    assert lines_of(points, 8) == len(found)
