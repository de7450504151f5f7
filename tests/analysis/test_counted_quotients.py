"""Quotients of sizes that bound loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import dependences, with_quotients_counted
from tests.running import agree_at, function_of

PRODUCT = """
    def product(A, B, C, n):
        for i in range(n // 3 * 3):
            for k in range(n // 3 * 3):
                for j in range(n // 3 * 3):
                    C[i, j] += A[i, k] * B[k, j]
    """
COUNTED = {
    "a multiple": (
        """
        def f(A, n):
            for i in range(n // 4 * 4):
                A[i, 0] = 2.0
        """,
        "0 <= i < 4 * n_by_4",
        {"n_by_4": "4 * n_by_4 <= n <= 4 * n_by_4 + 3"},
    ),
    "rounded up": (
        """
        def f(A, n):
            for i in range((n + 7) // 8 * 8 - 8):
                A[i, 0] = 2.0
        """,
        "0 <= i < 8 * n_by_8 - 8",
        {"n_by_8": "8 * n_by_8 <= n + 7 <= 8 * n_by_8 + 7"},
    ),
    "of several sizes": (
        """
        def f(A, n, m):
            for i in range(2 * ((n + m) // 2)):
                A[i, 0] = 2.0
        """,
        "0 <= i < 2 * n_m_by_2",
        {"n_m_by_2": "2 * n_m_by_2 <= n + m <= 2 * n_m_by_2 + 1"},
    ),
    "beside steps": (
        """
        def f(A, n):
            for i in range(0, n // 4 * 4, 2):
                A[i, 0] = 2.0
        """,
        "i mod 2 = 0 and 0 <= i < 4 * n_by_4",
        {"n_by_4": "4 * n_by_4 <= n <= 4 * n_by_4 + 3"},
    ),
}
LEFT_ALONE = {
    "no quotient is left in the bounds": """
        def f(A, n):
            for i in range(n // 2):
                A[i, 0] = 2.0
        """,
    "a quotient of an iterator": """
        def f(A, n):
            for i in range(n):
                for j in range(i // 4 * 4):
                    A[i, j] = 2.0
        """,
}


@pytest.mark.parametrize("what", COUNTED)
def test_bounds_by_sizes_alone(what: str) -> None:
    text, condition, known = COUNTED[what]
    part = pv.extract(function_of(text))
    found = with_quotients_counted(part, dependences(part))
    names = [one.name for one in found.parameters]
    [statement] = found.statements
    expected = type(statement.domain)(f"[{', '.join(names)}] -> {{ S0[i] : {condition} }}")
    assert statement.domain.intersect_params(found.context).is_equal(
        expected.intersect_params(found.context)
    )
    assert "floor" not in str(statement.domain)
    assert found.schedule.get_domain().is_equal(found.domain)
    assert names[len(part.parameters) :] == [*known]
    [condition] = known.values()
    assert found.context.is_equal(type(found.context)(f"[{', '.join(names)}] -> {{ : {condition} }}"))
    assert f"`{names[-1]}`" in found.notes[-1]


@pytest.mark.parametrize("why", LEFT_ALONE)
def test_parts_that_stay(why: str) -> None:
    part = pv.extract(function_of(LEFT_ALONE[why]))
    assert with_quotients_counted(part, dependences(part)) is part


def test_a_name_that_is_taken_is_not_used_again() -> None:
    part = pv.extract("def f(n_by_3, n):\n    for i in range(n // 3 * 3):\n        n_by_3[i] = 2.0")
    assert with_quotients_counted(part, dependences(part)).parameters[-1].name == "n_by_3_2"


def test_one_quotient_in_several_spellings_is_one_size() -> None:
    text = (
        "def f(A, n):\n    for i in range((n - 1) // 8 * 8):\n        A[i] = 1.0\n"
        "    for i in range((n + 7) // 8 * 8 - 8):\n        A[i] += 1.0"
    )
    part = pv.extract(text)
    assert [one.name for one in with_quotients_counted(part, dependences(part)).parameters] == ["n", "n_by_8"]


def test_register_tiles_between_multiples() -> None:
    text = pv.compile(function_of(PRODUCT), target="c").source
    plain = pv.compile(function_of(PRODUCT), target="c", quotients=False).source
    assert "B_columns" in text and "B_columns" not in plain


@pytest.mark.parametrize("size", [0, 1, 2, 7, 50, 97])
@pytest.mark.parametrize("target", ["c", "numba"])
def test_results_are_those_of_the_loops_as_written(target: str, size: int) -> None:
    agree_at(PRODUCT, *given(size), target=target, contract="strict")


def given(size: int) -> tuple[Any, ...]:
    draw = np.random.default_rng(size)
    return (*(draw.random((size, size)) for _ in range(3)), size)


BLOCKS = """
    def product(A, B, C):
        for i in range(0, A.shape[0], 16):
            for j in range(0, A.shape[0], 16):
                for k in range(0, A.shape[0], 16):
                    C[i:i + 16, j:j + 16] += A[i:i + 16, k:k + 16] @ B[k:k + 16, j:j + 16]
    """


@pytest.mark.slow
def test_products_of_blocks_that_are_slices_run_by_register_tiles() -> None:
    kernel = pv.compile(function_of(BLOCKS), target="c")
    assert "B_columns" in kernel.source
    for size in (5, 16, 50):
        left, right, result, _ = given(size)
        expected = result + left @ right
        kernel(left, right, result)
        assert np.allclose(result, expected)


@pytest.mark.slow
def test_sizes_made_of_others_are_known_where_calls_tell_those_of_the_source() -> None:
    function = function_of(
        """
        def doubled(x, y, n):
            for i in range(n // 3 * 3):
                y[i] = 2 * x[i]
        """
    )
    compared = pv.compare(function, np.ones(50), np.zeros(50), 50, targets=["c", "numba"], repeats=1)
    assert {row.status for row in compared.rows} == {"ok"}
