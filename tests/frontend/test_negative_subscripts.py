"""Subscripts that are negative for some sizes count from the end, as far as the order of the loops is concerned too."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

import polyviz as pv


def test_what_is_negative_for_some_sizes_keeps_its_place_in_the_order():
    """``A[i - 1]`` is the last element where ``i`` is 0: that one has to be read before."""
    text = """def f(A, B, C, M, s):
    for i in range(s, A.shape[0]):
        C[i] = A[i]
    for i in range(s, A.shape[0]):
        if M[i] > 0:
            A[i - 1] = B[i]"""
    part = pv.extract(text)
    kernel = pv.compile(part, schedule=pv.schedule(part, "pluto", fusion="max"), target="c")
    a, c = np.arange(5.0), np.zeros(5)
    kernel(a, np.arange(5.0) + 10, c, np.array([1, 1, 1, -1, 0]), 0)
    assert c.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert a.tolist() == [11.0, 12.0, 2.0, 3.0, 10.0]


@pytest.mark.parametrize(
    ("place", "cells"),
    [("i", [0, 1, 2]), ("i + s", [-2, -1, 0, 3, 4]), ("m - 1 - i", [2, 3, 4]), ("s - i", [-4, -3, -2, 1, 2, 3])],
)
def test_cells_that_a_negative_subscript_may_mean(place, cells):
    """Beside the negative positions themselves, for which it is tested while the loops run."""
    text = f"""def f(A, M, n, s):
    m = A.shape[0]
    for i in range(n):
        if M[i] > 0:
            A[{place}] = 1.0"""
    (statement,) = pv.extract(text).statements
    write = next(access for access in statement.accesses if access.kind == "write")
    found = write.relation.intersect_params(isl.Set("[n, s, m] -> { : n = 3 and s = -2 and m = 5 }"))
    inside = found.range().project_out_all_params()
    assert [x for x in range(-9, 9) if not inside.fix_val(isl.dim_type.set, 0, isl.Val(x)).is_empty()] == cells


@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize("place", ["-1", "2 - 3", "k - 1", "-k - 1"])
def test_a_number_that_is_worked_out_counts_from_the_end_too(place, target):
    text = f"""def f(A, M):
    k = 0
    for i in range(M.shape[0]):
        while A[{place}] < M[i]:
            A[{place}] += 1.0"""
    values = np.zeros(4)
    pv.compile(pv.extract(text), target=target)(values, np.array([1.5, 0.5]))
    assert values.tolist() == [0.0, 0.0, 0.0, 2.0]
