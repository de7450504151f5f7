"""Programs for the short sizes of calls: which calls get them, and that every call gets its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.sized_kernels import MOST_KERNELS
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.runtime.kernel import Kernel

MANY = 10_000
TRANSFORM = """
def transform(V, M, out):
    for n in range(V.shape[0]):
        for i in range(M.shape[0]):
            out[n, i] = 0.0
            for j in range(M.shape[1]):
                out[n, i] += M[i, j] * V[n, j]
"""


def transformed(kernel: Kernel, rows: int, columns: int, many: int = MANY, **order: Any) -> str:
    """Checks a call of ``TRANSFORM`` on new data; the text that ran."""
    random = np.random.default_rng(rows + 10 * columns)
    vectors, matrix = random.random((many, columns)), random.random((rows, columns))
    vectors, out = np.array(vectors, **order), np.empty((many, rows))
    kernel(vectors, matrix, out)
    np.testing.assert_allclose(out, vectors @ matrix.T, rtol=1e-12)
    return kernel.source


@pytest.mark.parametrize("target", ["c", "numba"])
def test_each_call_runs_the_program_for_its_sizes(target: str) -> None:
    kernel = pv.compile(function_of(TRANSFORM), target=target)
    first = transformed(kernel, 3, 4)
    other = transformed(kernel, 4, 4)
    assert first != other
    for _ in range(3):  # also where calls are recognised
        assert transformed(kernel, 3, 4) == first
        assert transformed(kernel, 4, 4) == other


def test_numbers_stand_in_the_text_and_the_report_tells_why() -> None:
    kernel = pv.compile(function_of(TRANSFORM), target="c")
    text = transformed(kernel, 3, 4)
    assert "M_shape_0 < " not in text
    assert "M)[4]" in text
    assert "known-sizes: made for calls with M_shape_0 = 3, M_shape_1 = 4" in kernel.report()


def test_calls_with_little_to_do_and_long_loops_share_a_program() -> None:
    kernel = pv.compile(function_of(TRANSFORM), target="c")
    text = transformed(kernel, 3, 4, many=10)
    assert text == transformed(kernel, 40, 50) == transformed(kernel, 9, 9)
    assert "known-sizes" not in kernel.report()


def test_only_some_combinations_are_compiled_for() -> None:
    kernel = pv.compile(function_of(TRANSFORM), target="c")
    texts = [transformed(kernel, rows, 4) for rows in range(1, MOST_KERNELS + 3)]
    assert len(set(texts)) == MOST_KERNELS + 1
    assert texts[-1] == texts[-2] == transformed(kernel, 40, 50)


def test_it_can_be_switched_off() -> None:
    kernel = pv.compile(function_of(TRANSFORM), target="c", known_sizes=False)
    assert transformed(kernel, 3, 4) == transformed(kernel, 4, 4)


def test_an_order_of_the_users_is_kept() -> None:
    part = pv.extract(TRANSFORM)
    kernel = pv.compile(function_of(TRANSFORM), target="c", schedule=part.schedule)
    assert transformed(kernel, 3, 4) == transformed(kernel, 4, 4)


def test_arrays_in_fortran_order_and_with_strides_too() -> None:
    kernel = pv.compile(function_of(TRANSFORM), target="c")
    in_rows, in_columns = transformed(kernel, 3, 4), transformed(kernel, 3, 4, order="F")
    assert in_rows != in_columns
    random = np.random.default_rng(1)
    vectors, matrix, out = random.random((MANY, 8))[:, ::2], random.random((3, 4)), np.empty((MANY, 3))
    kernel(vectors, matrix, out)
    np.testing.assert_allclose(out, vectors @ matrix.T, rtol=1e-12)


def test_the_contract_holds_for_them() -> None:
    text = """
    def total(x, y):
        for i in range(x.shape[0]):
            s = 0.1
            for k in range(x.shape[1]):
                s += x[i, k] * x[i, k]
            y[i] = s
    """
    kernel = pv.compile(function_of(text), target="c", contract="strict")
    x, y = np.random.default_rng(2).random((MANY, 7)), np.empty(MANY)
    kernel(x, y)
    assert "known-sizes" in kernel.report()
    expected = np.full(MANY, 0.1)
    for column in x.T:
        expected += column * column
    np.testing.assert_array_equal(y, expected)


def test_subscripts_from_data_are_tested_in_them() -> None:
    text = """
    def looked_up(table, places, y):
        for i in range(y.shape[0]):
            y[i] = 0.0
            for k in range(places.shape[1]):
                y[i] += table[places[i, k]]
    """
    kernel = pv.compile(function_of(text), target="c")
    table, y = np.arange(5.0), np.zeros(MANY)
    places = np.random.default_rng(3).integers(-5, 5, (MANY, 3))
    kernel(table, places, y)
    np.testing.assert_array_equal(y, table[places].sum(axis=1))
    places[MANY // 2, 1] = 5
    before = y.copy()
    with pytest.raises(pv.errors.OutOfBoundsError, match="table"):
        kernel(table, places, y)
    np.testing.assert_array_equal(y, before)


def test_races_verify_and_time_them() -> None:
    random = np.random.default_rng(4)
    data = random.random((MANY, 4)), random.random((3, 4)), np.empty((MANY, 3))
    found = pv.compare(function_of(TRANSFORM), *data, schedules=["pluto"], targets=["c"], repeats=1)
    assert [row.status for row in found.rows] == ["ok"] * len(found.rows)
