"""Arrays in Fortran order: the loops are those for their transposes, and the caller sees nothing of it but speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import transposable
from polyviz.gallery import polybench
from polyviz.runtime.toolchain import find_toolchain

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.gallery import GalleryKernel

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
COMPILED = [pytest.param("c", marks=needs_compiler), "numba"]
TURNED = "lies in Fortran order, so the loops are planned and written for its transpose"
# Its data leave no digit to compare: columns are almost multiples of each other.
ILL_CONDITIONED = "gramschmidt"


def scaled(A, x):
    out = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i] += A[i, j] * x[j]
            A[i, j] = 2.0 * A[i, j] + i
    return A, out


def table(rows: int = 7, columns: int = 5) -> Any:
    return np.arange(1.0, rows * columns + 1).reshape(rows, columns)


def ran(function: Callable[..., Any], arguments: list[Any]) -> list[Any]:
    """What ``function`` hands back, and its arguments after it."""
    result = function(*arguments)
    return [*(result if isinstance(result, tuple) else [result]), *arguments]


def assert_same(found: list[Any], expected: list[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        if other is not None:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_the_caller_gets_its_own_arrays_back(target: str, contract: Any) -> None:
    kernel = pv.compile(scaled, target=target, contract=contract)
    expected, vector = table(), np.arange(5.0)
    _, sums = scaled(expected, vector)
    for _ in range(3):  # the usual way, then a quick call
        given = np.asfortranarray(table())
        returned, out = kernel(given, vector)
        assert returned is given
        assert given.flags.f_contiguous
        np.testing.assert_array_equal(given, expected)
        np.testing.assert_allclose(out, sums)
        assert f"note: A {TURNED}" in kernel.report()
        assert "through its strides" not in kernel.report()


FILL = "def f(A):\n  for i in range(A.shape[0]):\n    for j in range(A.shape[1]): A[i, j] = i"


@needs_compiler
def test_the_text_walks_along_columns() -> None:
    kernel = pv.compile(FILL)
    kernel(np.asfortranarray(table()))
    assert "A[j][i] = i;" in kernel.source
    assert "A stands for the transpose of the source's A." in kernel.source.splitlines()[0]
    kernel(table())
    assert "A[i][j] = i;" in kernel.source
    assert "transpose" not in kernel.source + kernel.report()


@needs_compiler
def test_plans_are_those_of_the_latest_call() -> None:
    kernel = pv.compile(FILL, target="c")
    orders = []
    for layout in ("C", "F", "C", "F"):
        kernel(np.array(table(), order=layout))
        orders.append("reorder" in [decision.step for decision in kernel.plan.decisions])
    assert orders == [False, True, False, True]


@needs_compiler
def test_counterexamples_name_cells_as_the_source_does() -> None:
    kernel = pv.compile(
        "def f(A):\n  for i in range(1, A.shape[0]):\n    for j in range(A.shape[1]): A[i, j] = A[i - 1, j] + 1.0"
    )
    said = []
    for layout in ("C", "F"):
        kernel(np.array(table(), order=layout))
        lines = [line for line in kernel.report().splitlines() if "reads it in" in line]
        assert lines
        said.append([line.partition("writes ")[2].partition(" ")[0] for line in lines])
    assert said[0] == said[1]


def sums(A, B, n, s):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                A[i, j, k] += s * B[k, i] + B[i, j]


@pytest.mark.parametrize("target", [*COMPILED, "python", pytest.param("emulated", marks=needs_compiler)])
@pytest.mark.parametrize("turned", ["A", "B", "AB"])
def test_some_arrays_or_all_on_every_target(target: str, turned: str) -> None:
    A, B = np.arange(125.0).reshape(5, 5, 5), np.arange(25.0).reshape(5, 5)
    expected = A.copy()
    sums(expected, B, 5, 0.5)
    given = [np.asfortranarray(one) if name in turned else one.copy() for name, one in (("A", A), ("B", B))]
    kernel = pv.compile(sums, target=target)
    kernel(*given, 5, 0.5)
    np.testing.assert_allclose(given[0], expected)
    text = kernel.report()
    for name in turned:
        assert (f"{name} {TURNED}" in text) == (target in ("c", "numba"))


@pytest.mark.parametrize("target", COMPILED)
def test_an_order_of_the_users_own_stays(target: str) -> None:
    order = pv.edit(sums).apply("interchange", order=("k", "j", "i")).schedule
    kernel = pv.compile(sums, target=target, schedule=order, tile=False)
    A, B = np.zeros((5, 5, 5), order="F"), np.asfortranarray(np.arange(25.0).reshape(5, 5))
    expected = np.zeros((5, 5, 5))
    kernel(A, B, 5, 0.5)
    sums(expected, B, 5, 0.5)
    np.testing.assert_allclose(A, expected)
    assert str(kernel.schedule.tree) == str(order.tree)


@needs_compiler
def test_what_is_not_aligned_in_memory_or_in_its_bytes() -> None:
    kernel = pv.compile(scaled, target="c")
    expected = table()
    scaled(expected, np.arange(5.0))
    buffer = np.zeros(7 * 5 * 8 + 1, np.uint8)[1:]
    odd = np.ndarray((7, 5), np.float64, buffer=buffer, order="F")
    odd[...] = table()
    swapped = np.asfortranarray(table().astype(">f8"))
    for given in (odd, swapped):
        returned, _ = kernel(given, np.arange(5.0))
        assert returned is given
        np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 5), (5, 1), (1, 1)])
@needs_compiler
def test_shapes_that_lie_in_both_orders(shape: tuple[int, int]) -> None:
    kernel = pv.compile(scaled, target="c")
    given = np.asfortranarray(np.ones(shape))
    expected = np.ones(shape)
    kernel(given, np.ones(shape[1]))
    scaled(expected, np.ones(shape[1]))
    np.testing.assert_array_equal(given, expected)


@needs_compiler
def test_subscripts_out_of_range_are_told_by_the_dimensions_of_the_source() -> None:
    kernel = pv.compile("def f(A, n):\n  for i in range(n):\n    for j in range(3): A[i, j] = 0.0", target="c")
    messages = []
    for layout in ("C", "F"):
        with pytest.raises(pv.OutOfBoundsError) as caught:
            kernel(np.array(table(4, 3), order=layout), 6)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def gathered(A, index, out):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[j, i] = A[index[i], j]


@pytest.mark.parametrize("target", COMPILED)
def test_elements_that_data_choose(target: str) -> None:
    kernel = pv.compile(gathered, target=target)
    A, index, out = np.asfortranarray(table()), np.arange(6, -1, -1), np.zeros((5, 7), order="F")
    kernel(A, index, out)
    np.testing.assert_array_equal(out, table()[::-1].T)
    index[3] = 7
    before = out.copy()
    with pytest.raises(pv.OutOfBoundsError):
        kernel(A, index, out)
    np.testing.assert_array_equal(out, before)


def test_digits_of_a_subscript_stay_where_they_are() -> None:
    flat = "def f(A, n, m):\n  for i in range(n):\n    for j in range(m):\n      for k in range(3): A[i * m + j, k] = j"
    part = pv.extract(flat)
    assert transposable(part) == frozenset()
    kernel = pv.compile(part, target="numba")
    found, expected = np.zeros((12, 3), order="F"), np.zeros((12, 3))
    kernel(found, 4, 3)
    for i in range(4):
        for j in range(3):
            expected[i * 3 + j] = j
    np.testing.assert_array_equal(found, expected)
    assert "A lies in Fortran order and is read through its strides" in kernel.report()


@needs_compiler
@pytest.mark.parametrize("order", ["C", "F"])
def test_comparisons_run_the_same_programs(order: Any) -> None:
    given = [np.asarray(table(), order=order), np.arange(5.0)]
    comparison = pv.compare(scaled, *given, schedules=["pluto", "original"], targets=["c"], repeats=1)
    rows = [row for row in comparison.rows if not row.is_baseline]
    assert [row.status for row in rows] == ["ok", "ok"]
    assert all((f"A {TURNED}" in row.note) == (order == "F") for row in rows)
    assert not any("through its strides" in note for note in comparison.data.notes)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", polybench(), ids=lambda kernel: str(kernel.name))
@needs_compiler
def test_every_kernel_of_polybench(kernel: GalleryKernel) -> None:
    if kernel.name == ILL_CONDITIONED:
        pytest.skip("its results differ with the order of sums")
    compiled = pv.compile(kernel.function, target="c")
    given = kernel.arguments("mini")
    fresh = [value.copy() if isinstance(value, np.ndarray) else value for value in given]
    turned = [np.asfortranarray(value) if isinstance(value, np.ndarray) else value for value in given]
    assert_same(ran(compiled, turned), ran(kernel.function, fresh))
