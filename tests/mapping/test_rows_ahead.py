"""Which strips of columns walk down rows: what is asked for ahead, and what hardware or a cache takes care of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import polyviz as pv
from polyviz import gallery
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.model.plan import RowsAhead

COLUMNS = """
def columns(u, p, n):
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            p[i, j] = u[j, i] / (1.5 - 0.4 * p[i, j - 1])
"""
ROWS = """
def rows(u, p, n):
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            p[i, j] = u[i, j] / (1.5 - 0.4 * p[i, j - 1])
"""
FIXED = """
def fixed(u, p, n):
    for i in range(1, n - 1):
        for j in range(1, {last}):
            p[i, j] = u[j, i] / (1.5 - 0.4 * p[i, j - 1])
"""
FEW_COLUMNS = """
def few(u, s, n):
    for j in range(n):
        for i in range(6):
            s[i] += u[j, i]
"""
PRODUCT = """
def product(u, v, n):
    for i in range(n):
        for j in range(n):
            u[i, j] = 0.0
            for k in range(n):
                u[i, j] += v[i, k] * v[k, j]
"""


def ahead(text: str, **options: Any) -> tuple[RowsAhead, ...]:
    return pv.compile(function_of(text), target="c", **options).plan.rows_ahead


@pytest.mark.usefixtures("one_processor")
def test_rows_are_told_by_statement_with_the_width_of_the_strip_and_what_a_cache_holds() -> None:
    (found,) = ahead(COLUMNS)
    assert (found.statement, found.width, found.cache) == ("S0", 8, 2 * 1024 * 1024)


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize("text", [ROWS, FEW_COLUMNS, PRODUCT])
def test_nothing_is_asked_for_along_memory_nor_in_the_only_strip_nor_in_a_tile(text: str) -> None:
    assert not ahead(text)


@pytest.mark.usefixtures("one_processor")
def test_a_loop_over_a_few_rows_ends_before_they_come() -> None:
    assert not ahead(FIXED.format(last=300))
    assert ahead(FIXED.format(last=3000))


@pytest.mark.usefixtures("one_processor")
def test_the_report_says_so_and_it_can_be_switched_off() -> None:
    kernel = pv.compile(function_of(COLUMNS), target="c")
    assert any(said.step == "rows_ahead" and said.statements == ("S0",) for said in kernel.plan.decisions)
    off = pv.compile(function_of(COLUMNS), target="c", rows_ahead=False)
    assert not off.plan.rows_ahead
    assert "fetch_row" not in off.source


@pytest.mark.usefixtures("one_processor")
def test_other_targets_and_the_order_of_the_text_have_none() -> None:
    function = function_of(COLUMNS)
    assert not pv.compile(function, target="numba").plan.rows_ahead
    assert not ahead(COLUMNS, schedule="original")


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize(("name", "statements"), [("adi", 2), ("gramschmidt", 2), ("gemm", 0), ("jacobi-2d", 0)])
def test_kernels_of_the_gallery(name: str, statements: int) -> None:
    kernel = pv.compile(gallery.kernel(name).function, target="c")
    assert len(kernel.plan.rows_ahead) == statements
