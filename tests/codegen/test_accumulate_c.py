"""Sums kept in a register: never where another statement of the loop reads the cell on its way."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.toolchain import find_toolchain
from tests.running import TARGETS, agree, function_of

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

READ_ON_THE_WAY = {
    "one cell": """
        def f(A, x, y):
            for k in range(A.shape[1]):
                x[1] += A[0, k]
                y[0] += x[1] * A[1, k]
        """,
    "a cell per row": """
        def f(A, x, y):
            for i in range(A.shape[0]):
                for k in range(A.shape[1]):
                    x[i] += A[i, k]
                    y[i] += x[i] * A[0, k]
        """,
    "a variable": """
        def f(A, x, y):
            c = 0.0
            s = 0.0
            for k in range(A.shape[1]):
                c += A[0, k]
                s += c * A[1, k]
            return s
        """,
    "the sum before": """
        def f(A, x, y):
            s = 0.0
            for k in range(A.shape[1]):
                s += x[0] * A[0, k]
                x[0] += A[1, k]
            return s
        """,
    "the greatest so far": """
        def f(A, x, y):
            for k in range(A.shape[1]):
                x[0] = max(x[0], A[0, k])
                y[0] += x[0]
        """,
    "names for one number": """
        def f(A, x, y):
            p = 0 + 1
            q = 0 + 1
            for k in range(A.shape[1]):
                x[p] += A[0, k]
                y[0] += x[q] * A[1, k]
        """,
}


@pytest.mark.thinned(8)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", READ_ON_THE_WAY)
def test_who_reads_a_sum_on_its_way_finds_all_steps_before(name: str, target: str, contract: str) -> None:
    A = np.random.default_rng(1).random((3, 150))
    agree(READ_ON_THE_WAY[name], A, np.ones(4), np.zeros(4), target=target, contract=contract)


def test_sums_side_by_side_are_kept_in_registers() -> None:
    text = """
    def f(A, x, y):
        for i in range(A.shape[0]):
            for k in range(A.shape[1]):
                x[i] += A[i, k]
                y[i] += A[i, k] * A[0, k]
    """
    kernel = agree(text, np.random.default_rng(1).random((3, 150)), np.ones(4), np.zeros(4), target="c")
    assert "double x_sum" in kernel.source
    assert "double y_sum" in kernel.source


EXTREMES = {
    "max": """
        def f(A, x):
            for i in range(A.shape[0]):
                for k in range(A.shape[1]):
                    x[i] = max(x[i], A[i, k])
        """,
    "min of a variable": """
        def f(A, x):
            for i in range(A.shape[0]):
                m = A[i, 0]
                for k in range(A.shape[1]):
                    m = min(m, 2 * A[i, k])
                x[i] = m
        """,
    "value first": """
        def f(A, x):
            for i in range(A.shape[0]):
                for k in range(A.shape[1]):
                    x[i] = max(A[i, k], x[i])
        """,
    "NumPy's": """
        def f(A, x):
            for i in range(A.shape[0]):
                for k in range(A.shape[1]):
                    x[i] = np.maximum(A[i, k], x[i])
        """,
    "NumPy's without NaN": """
        def f(A, x):
            for i in range(A.shape[0]):
                for k in range(A.shape[1]):
                    x[i] = np.fmin(A[i, k], x[i])
        """,
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("name", EXTREMES)
def test_the_greatest_in_lanes_is_the_greatest_also_among_values_that_are_none(name: str, contract: str) -> None:
    A = np.random.default_rng(1).random((6, 150))
    A[1, 3] = A[2, 149] = A[3, 0] = np.nan
    A[4] = np.inf
    A[5] = np.nan
    for start in (np.zeros(6), np.full(6, np.nan)):
        kernel = agree(EXTREMES[name], A, start, target="c", contract=contract)
        lanes = "[lane]" in kernel.source
        assert lanes == (contract == "reassociate" and name != "value first")


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32"])
def test_the_greatest_of_other_types_runs_in_lanes(dtype: str) -> None:
    A = np.random.default_rng(1).integers(0, 200, (3, 150)).astype(dtype)
    agree(EXTREMES["max"], A, np.zeros(3, dtype), target="c")


ROWS_OF_EIGHT = """
    def rows_of_eight(values, column, x, y):
        for i in range(values.shape[0]):
            for s in range(values.shape[1]):
                y[i] += values[i, s] * x[column[i, s]]
    """


SUMS_OF_CHOICES = {
    "the greater of two": "s += max(0.0, x[i] - y[i])",
    "under a condition": "if x[i] < y[i]: s += x[i]",
    "taken away": "s -= x[i] if x[i] * x[i] + y[i] * y[i] < 0.5 else 2.0",
    "counted": "if x[i] > 0.5: s += 1",
    "of a library function": "s += max(np.sqrt(x[i]) - 1.2, 0.0)",
}


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("body", SUMS_OF_CHOICES.values(), ids=list(SUMS_OF_CHOICES))
def test_what_is_chosen_is_there_before_it_is_added_in_lanes(body: str, dtype: str) -> None:
    text = f"def f(x, y):\n    s = 0.0\n    for i in range(x.shape[0]):\n        {body}\n    return s"
    x, y = (np.random.default_rng(1).random((2, 133)) * 3).astype(dtype)
    kernel = agree(text, x, y, target="c")
    assert "_added[lane] = " in kernel.source
    assert "_lanes[lane] += S" in kernel.source or "_lanes[lane] -= S" in kernel.source
    for count in (0, 1, 64):
        assert kernel(x[:count], y[:count]) == pytest.approx(function_of(text)(x[:count], y[:count]), rel=1e-4)


@needs_compiler
def test_whole_numbers_are_chosen_and_added_at_once() -> None:
    text = "def f(x):\n    s = 0\n    for i in range(x.shape[0]):\n        if x[i] > 0.5: s += 1\n    return s"
    kernel = agree(text, np.random.default_rng(1).random(133), target="c")
    assert "_lanes[lane] += " in kernel.source
    assert "_added" not in kernel.source


@needs_compiler
def test_lanes_go_past_a_subscript_out_of_range_and_say_so() -> None:
    kernel = pv.compile(function_of(ROWS_OF_EIGHT), target="c")
    random = np.random.default_rng(4)
    values, x = random.random((9, 19)), random.random(30)
    for _ in range(3):
        column, y = random.integers(-30, 30, (9, 19)), random.random(9)
        expected = y + (values * x[column]).sum(axis=1)
        kernel(values, column, x, y)
        np.testing.assert_allclose(y, expected)
    assert "noted_index(column[i][s]" in kernel.source
    for wrong in (30, -31):
        column[7, 3] = wrong
        before = y.copy()
        with pytest.raises(pv.OutOfBoundsError, match=r"`x\[.*leaves its array"):
            kernel(values, column, x, y)
        np.testing.assert_array_equal(y, before)


def test_a_sum_in_order_stops_at_the_test() -> None:
    kernel = pv.compile(function_of(ROWS_OF_EIGHT), target="c", contract="strict")
    assert "noted_index" not in kernel.source
    assert "checked_index(column[i][s]" in kernel.source


UPDATED_TWICE = """
for i in range(1, 9):
    u = 0.25 * (x[i + 1] + B[n - 1, i - 1])
    for j in range(1, n - 1):
        for k in range(i, n - 1):
            u = 0.25 * (u + u)
            u += max(u, x[i])
        if A[i, 1] > 0.5:
            u = x[i] - B[j, i]
        for k in range(2, i):
            u = u * 0.5
            u = u + A[i + 1, i - 1]
        u += u * 0.5
    t = u
for i in range(1, n - 1):
    t = x[i]
"""


@needs_compiler
def test_a_product_and_a_sum_of_one_cell_share_its_variable() -> None:
    kernel = pv.compile(UPDATED_TWICE, target="c")
    assert "u_private_sum = u_private_sum * 0.5" in kernel.source
    random = np.random.default_rng(5)
    given = {"n": 11, "A": random.random((12, 12)), "B": random.random((12, 12)), "x": random.random(12)}
    expected = dict(given)
    exec(UPDATED_TWICE, {}, expected)
    found = kernel(**given, u=0.0)
    np.testing.assert_allclose(found, [expected[name] for name in kernel.program.results])
