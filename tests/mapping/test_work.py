"""The work of a parallel loop counts the loops inside whole statements as well."""

from __future__ import annotations

import numpy as np

import polyviz as pv
from tests.running import function_of

ROWS = """
def rows(ptr, col, val, b, c, n, m):
    for i in range(n):
        for p in range(ptr[i], ptr[i + 1]):
            for j in range({stop}):
                c[i, j] += val[p] * b[col[p], j]
"""


def test_a_loop_over_a_parameter_inside_one_over_data_counts_with_its_length() -> None:
    assert "if (1.0 * n * 10 * m > 50000)" in pv.compile(function_of(ROWS.format(stop="m")), target="c").source


def test_a_loop_of_unknown_length_does_not_count() -> None:
    assert "if (n * 10 > 50000)" in pv.compile(function_of(ROWS.format(stop="i + 1")), target="c").source


def test_functions_that_take_long_count_as_several_instances() -> None:
    text = "def f(A, B):\n    for i in range(len(A)):\n        s = math.exp(A[i])\n        B[i] = np.log(s) + s"
    kernel = pv.compile(function_of(text), target="c")
    assert "if (A_shape_0 * 20 > 50000)" in kernel.source


def test_the_inside_of_an_array_counts_and_not_its_border() -> None:
    text = """
def gradient(f, g, e, h):
    n, m = f.shape
    for i in range(n):
        for j in range(m):
            if i == 0:
                g[i, j] = (f[1, j] - f[0, j]) / h
            elif i == n - 1:
                g[i, j] = (f[n - 1, j] - f[n - 2, j]) / h
            else:
                g[i, j] = (f[i + 1, j] - f[i - 1, j]) / (2 * h)
            if j == 0:
                e[i, j] = (f[i, 1] - f[i, 0]) / h
            else:
                e[i, j] = (f[i, j] - f[i, j - 1]) / h
"""
    source = pv.compile(function_of(text), target="c").source
    assert "#pragma omp parallel for" in source
    assert "if (1 * m" not in source


def test_what_an_instance_computes_counts_and_its_subscripts_do_not() -> None:
    text = "def f(A, B, n):\n    for i in range(1, n):\n        B[i + 1 - 1] = {}"
    few = pv.compile(function_of(text.format("A[i + 1 - 1] + A[i - 1 + 2 - 2]")), target="c").source
    product = " * ".join(["A[i]"] * 7)
    many = pv.compile(function_of(text.format(f"{product} / A[i - 1]")), target="c").source
    assert "if (n - 1 > 50000)" in few
    assert "if ((n - 1) * 2 > 50000)" in many


def test_a_loop_with_two_strides_has_a_length() -> None:
    text = """
def strides(D, n):
    for i in range(3, n, 2):
        if i % 3:
            D[i] = 1.0
"""
    function = function_of(text)
    kernel = pv.compile(function, target="c")
    for n in (2, 4, 5, 30):
        found, wanted = np.zeros(n), np.zeros(n)
        kernel(found, n)
        function(wanted, n)
        assert np.array_equal(found, wanted)
