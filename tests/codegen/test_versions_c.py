"""Innermost loops with a version that tests no subscripts, for where both ends of the loop are in range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.model.program import ArrayType

FLAT = """
    def f(A, x, y, n):
        for i in range(y.shape[0]):
            for j in range(n):
                y[i] += A[i * n + 2 * j] * x[j]
    """
BACKWARDS = """
    def f(A, x, y, n):
        for i in range(y.shape[0]):
            for j in range(n):
                y[i] += A[i * n + n - 1 - j] + A[3 * j + i * n * 0]
    """
SCATTERED = """
    def f(A, x, y, n):
        for i in range(y.shape[0]):
            for j in range(n):
                y[i] += A[i * n + 2 * j] * x[int(A[j] * 3)]
    """
BY_A_SIZE = """
    def f(A, x, y, n):
        for i in range(y.shape[0]):
            for j in range(4):
                y[i] += A[j * n + i * n]
    """
TEXTS = {"flat": FLAT, "backwards": BACKWARDS, "scattered": SCATTERED, "by a size": BY_A_SIZE}


def compiled(text: str, **options: bool) -> pv.Kernel:
    return pv.compile(function_of(text), target="c", **options)


def source(kernel: pv.Kernel, *arguments: object) -> str:
    return with_tests(kernel, kernel.bind(arguments, {}).types)


def with_tests(kernel: pv.Kernel, types: Mapping[str, ArrayType] | None = None) -> str:
    """The text for calls of which nothing is known but the types, by default those of the latest call."""
    return kernel.specialise(kernel.program.types if types is None else types).text


def test_the_version_without_tests_stands_before_the_other(golden: Callable[..., None]) -> None:
    golden(with_tests(agree(FLAT, np.random.default_rng(1).random(27), np.ones(7), np.zeros(3), 7, target="c")), "c")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize(("rows", "n"), [(0, 5), (1, 1), (3, 7), (3, 0), (2, 100)])
@pytest.mark.parametrize("name", TEXTS)
def test_both_versions_do_what_the_loops_say(name: str, rows: int, n: int, contract: str) -> None:
    A = np.random.default_rng(1).random(max(4, 7 * n) * max(rows, 1) + 400)
    agree(TEXTS[name], A, np.ones(max(n, 4)), np.zeros(rows), n, target="c", contract=contract)


def test_where_the_ends_do_not_tell_there_is_one_version() -> None:
    A, x, y = np.zeros(100), np.zeros(10), np.zeros(3)
    for text, tests in ((FLAT, 1), (BACKWARDS, 2), (SCATTERED, 2), (BY_A_SIZE, 1)):
        found = source(compiled(text), A, x, y, 5)
        noted = found.count("noted_index(")
        assert found.count("checked_index(") + noted == tests + 1
        assert bool(noted) == (text == SCATTERED)
        assert ("if ((uint64_t)(" in found) == (text != SCATTERED)


def test_loops_whose_ends_depend_on_data_keep_their_tests() -> None:
    text = """
    def f(A, x, y, n):
        for i in range(y.shape[0]):
            for j in range(int(x[i])):
                y[i] += A[i * n + j]
    """
    kernel = agree(text, np.random.default_rng(1).random(21), np.full(3, 7.0), np.zeros(3), 7, target="c")
    assert "if ((uint64_t)(" not in kernel.source


def test_negative_subscripts_count_from_the_end_in_the_other_version() -> None:
    text = """
    def f(A, x, y, n):
        for i in range(y.shape[0]):
            for j in range(n):
                y[i] += A[i * n + j - 3]
    """
    agree(text, np.random.default_rng(1).random(21), np.ones(7), np.zeros(3), 7, target="c")


def test_a_subscript_out_of_range_is_still_found() -> None:
    with pytest.raises(pv.OutOfBoundsError, match=r"`A\[.*leaves its array"):
        compiled(FLAT)(np.zeros(5999), np.zeros(2000), np.zeros(3), 2000)


def test_the_technique_can_be_switched_off() -> None:
    assert "if ((uint64_t)(" not in source(compiled(FLAT, versions=False), np.zeros(21), np.zeros(7), np.zeros(3), 7)


ROWS = """
    def f(row, column, value, X, Y):
        for i in range(Y.shape[0]):
            for p in range(row[i], row[i + 1]):
                for k in range(Y.shape[1]):
                    Y[i, k] += value[p] * X[column[p], k]
    """


def rows_of_five(column: list[int], width: int = 4) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    row = np.array([0, 2, 2, 3, 5])
    return row, np.array(column), rng.random(len(column)), rng.random((6, 4)), np.zeros((4, width))


@pytest.mark.parametrize("column", [[0, 5, 3, 3, 1], [0, -1, 3, -6, 1]])
@pytest.mark.parametrize("width", [0, 1, 4])
def test_the_innermost_loop_inside_a_statement_has_both_versions(column: list[int], width: int) -> None:
    kernel = agree(ROWS, *rows_of_five(column, width), target="c")
    text = with_tests(kernel)
    inside = text[text.index("if (0 < Y_shape_1 && ") :]
    assert "#pragma omp simd" in inside
    assert "value[p] * X[column[p]][k]" in inside


@pytest.mark.parametrize("column", [[0, 6, 3, 3, 1], [0, 1, 3, -7, 1], [0, 1, 3]])
def test_the_other_version_still_finds_what_is_out_of_range(column: list[int]) -> None:
    with pytest.raises(pv.OutOfBoundsError, match="leaves its array"):
        compiled(ROWS)(*rows_of_five(column))


@pytest.mark.parametrize(
    ("line", "lanes"),
    [
        ("Y[i, k] = Y[i, k] + X[y[p], k]", True),
        ("Y[i, k + 1] = Y[i, k] + X[y[p], k]", False),
        ("Y[k, k] += X[y[p], k]", False),
        ("Y[i, y[k]] += X[p, k]", False),
        ("s[0] += X[y[p], k]", False),
    ],
)
def test_only_iterations_with_cells_of_their_own_run_in_lanes(line: str, lanes: bool) -> None:
    text = f"""
    def f(row, y, s, X, Y):
        for i in range(4):
            for p in range(row[i], row[i + 1]):
                for k in range(6):
                    {line}
    """
    rng = np.random.default_rng(1)
    arrays = np.array([0, 2, 2, 3, 5]), np.arange(7) % 5, np.zeros(1), rng.random((9, 9)), rng.random((9, 9))
    kernel = agree(text, *arrays, target="c")
    assert ("#pragma omp simd" in kernel.source) == lanes


def test_rows_of_unknown_length_are_worth_threads_earlier() -> None:
    found = source(compiled(ROWS), *rows_of_five([0, 5, 3, 3, 1]))
    assert "schedule(static) if (1.0 * Y_shape_0 * 10 * Y_shape_1 > 50000)" in found


def test_a_subscript_that_the_loop_itself_changes_is_tested_in_every_iteration() -> None:
    text = """
    def f(row, column, X):
        for p in range(row[0], row[1]):
            for k in range(4):
                column[k] = column[p] + X[column[p], k] - X[column[p], k]
    """
    kernel = agree(text, np.array([0, 4]), np.array([3, 2, 1, 0]), np.ones((4, 4), dtype=np.int64), target="c")
    assert "if (0 < 4" not in kernel.source


RELAXED = """
    def f(W, x, order):
        for p in range(order.shape[0]):
            u = order[p]
            if u < -9:
                break
            for v in range(x.shape[0]):
                if W[u, v] > 0:
                    if W[u, v] + x[u] < x[v]:
                        x[v] = W[u, v] + x[u]
    """
BLOCKS = """
    def f(row, column, value, X, Y, n, m):
        for i in range(row.shape[0] - 1):
            for p in range(row[i], row[i + 1]):
                b = column[p]
                for r in range(n):
                    s = 0.0
                    for c in range(m):
                        s += value[p, r, c] * X[b * m + c]
                    Y[i * n + r] += s
    """


def blocks(columns: list[int], rows: int = 2, count: int = 3) -> tuple[object, ...]:
    rng = np.random.default_rng(1)
    sparse = np.array([0, 2, 2, 3, len(columns)]), np.array(columns), rng.random((len(columns), 2, 3))
    return *sparse, rng.random(18), np.zeros(8), rows, count


@pytest.mark.parametrize("order", [[0, 3, 2], [0, -1, 3], [2, -10, 4], []])
def test_what_a_condition_guards_is_tested_at_the_ends(order: list[int]) -> None:
    W = np.random.default_rng(1).random((4, 4)) - 0.3
    kernel = agree(RELAXED, W, np.array([0.0, 2.0, 1.0, 3.0]), np.array(order, dtype=np.int64), target="c")
    inside = with_tests(kernel).partition("(uint64_t)(u) < (uint64_t)W_")[2]
    assert "if (W[u][v] > 0) {" in inside.partition("} else {")[0]


def test_what_a_condition_guards_may_be_out_of_range() -> None:
    with pytest.raises(pv.OutOfBoundsError, match="leaves its array"):
        compiled(RELAXED)(np.ones((4, 4)), np.ones(4), np.array([0, 4]))
    never = np.array([[0.0, 0.0], [0.0, 0.0]]), np.ones(2), np.array([0, 1])
    agree(RELAXED, *never, target="c")


@pytest.mark.parametrize("columns", [[0, 5, 3, 3, 1], [0, 1, 4, 2, 0]])
@pytest.mark.parametrize(("rows", "count"), [(2, 3), (1, 1), (0, 3), (2, 0)])
def test_two_loops_with_fixed_bounds_are_tested_together(columns: list[int], rows: int, count: int) -> None:
    kernel = agree(BLOCKS, *blocks(columns, rows, count), target="c")
    head = "if (0 < n && 0 < m && "
    plain = with_tests(kernel).partition(head)[2].partition("} else {")[0]
    assert "s += value[p][r][c] * X[b * m + c];" in plain
    assert "checked_index(" not in plain


@pytest.mark.parametrize(("columns", "rows", "count"), [([0, 6, 3], 2, 3), ([0, 5, 3], 3, 3), ([0, 1, 2], 2, 4)])
def test_each_corner_of_two_loops_counts(columns: list[int], rows: int, count: int) -> None:
    with pytest.raises(pv.OutOfBoundsError, match="leaves its array"):
        compiled(BLOCKS)(*blocks(columns, rows, count))


def test_inner_loops_with_bounds_of_their_own_are_tested_by_themselves() -> None:
    text = BLOCKS.replace("range(m)", "range(r)")
    kernel = agree(text, *blocks([0, 5, 3, 3, 1]), target="c")
    assert "if (0 < n && " not in with_tests(kernel)
    assert "if (0 < r && " in with_tests(kernel)


STAMPS = """
    def f(image, places, total):
        for p in range(places.shape[0]):
            top = int(places[p, 0])
            left = int(places[p, 1])
            bottom = top + int(places[p, 2])
            right = left + int(places[p, 3])
            for y in range(top, bottom):
                for x in range(left, right):
                    total[p] += image[y, x]
                    image[y, x] *= 0.5
    """


def stamps(*places: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    return rng.random((5, 7)), np.array(places) * 1.0, np.zeros(len(places))


@pytest.mark.parametrize(
    "places",
    [
        ((0, 0, 5, 7), (4, 6, 1, 1), (2, 3, 2, 2)),
        ((1, 1, 0, 5), (1, 1, 2, 0), (9, 9, -1, -1)),
        ((-2, -3, 4, 5), (-5, -7, 5, 7)),
    ],
)
def test_loops_between_variables_are_tested_at_their_ends(places: tuple[tuple[int, ...], ...]) -> None:
    kernel = agree(STAMPS, *stamps(*places), target="c")
    head = "if (top < bottom && left < right && "
    plain = with_tests(kernel).partition(head)[2].partition("} else {")[0]
    assert "total[p] += image[y][x];" in plain
    assert "checked_index(" not in plain
    assert "#pragma omp simd" not in plain


@pytest.mark.parametrize("place", [(0, 0, 6, 1), (0, 0, 1, 8), (-6, 0, 1, 1), (0, 6, 2, 2)])
def test_variables_between_which_cells_are_missing_are_found(place: tuple[int, ...]) -> None:
    with pytest.raises(pv.OutOfBoundsError, match="leaves its array"):
        compiled(STAMPS)(*stamps((1, 1, 2, 2), place))


def test_loops_between_variables_that_change_on_the_way_are_tested_by_themselves() -> None:
    line = "total[p] += image[y, x]"
    widened = "if x == 1:\n                        right += 1 - y % 2"
    text = STAMPS.replace(line, f"{line}\n                    {widened}")
    kernel = agree(text, *stamps((0, 0, 4, 4), (1, 1, 3, 2)), target="c")
    assert "top < bottom && " not in with_tests(kernel)


def test_a_loop_up_to_a_variable_has_no_lanes_where_its_head_has_two() -> None:
    text = """
    def f(cuts, x, y):
        for p in range(cuts.shape[0]):
            end = int(cuts[p])
            for k in range(0, end):
                y[k] = x[k] + p
    """
    kernel = agree(text, np.array([2.0, 0.0, 5.0]), np.arange(5.0), np.zeros(5), target="c")
    assert "k_stop = end" in kernel.source
    assert "#pragma omp simd" not in kernel.source
