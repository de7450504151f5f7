"""Temporaries as operands of register tiles: their values move with the loops around, though no subscript tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping.operands import moving_names
from polyviz.model.expression import Element, Name
from polyviz.runtime.toolchain import find_toolchain
from tests.blocked import NARROW, WIDE, blocked_plan
from tests.running import agree_at

if TYPE_CHECKING:
    from polyviz.model.processor import Processor

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
COMPILED = [pytest.param("c", marks=needs_compiler), "numba"]

FACTOR_OF_A_ROW = """
    def product(A, B, C):
        for i in range(C.shape[0]):
            for k in range(A.shape[1]):
                a = 2.0 * A[i, k]
                for j in range(C.shape[1]):
                    C[i, j] += a * B[k, j]
    """
FACTOR_OF_A_COLUMN = """
    def product(A, B, C):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                b = B[k, j] + 1.0
                for i in range(C.shape[0]):
                    C[i, j] += A[i, k] * b
    """
FACTOR_OF_A_STEP = """
    def product(A, B, C):
        for k in range(A.shape[1]):
            w = A[0, k] + B[k, 0]
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    C[i, j] += A[i, k] * B[k, j] * w
    """
PRODUCTS = {"row": FACTOR_OF_A_ROW, "column": FACTOR_OF_A_COLUMN, "step": FACTOR_OF_A_STEP}
ELIMINATIONS = {
    "pivot": """
        def eliminate(A):
            for k in range(A.shape[0]):
                p = 1.0 / A[k, k]
                for i in range(k + 1, A.shape[0]):
                    for j in range(k + 1, A.shape[0]):
                        A[i, j] -= A[i, k] * A[k, j] * p
        """,
    "factor": """
        def eliminate(A):
            for k in range(A.shape[0] - 1):
                for i in range(k + 1, A.shape[0]):
                    f = A[i, k] / A[k, k]
                    for j in range(k + 1, A.shape[0]):
                        A[i, j] -= f * A[k, j]
        """,
}
SIZES = [(1, 1, 1), (67, 101, 53)]


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_a_factor_in_a_variable_have_register_tiles(name: str) -> None:
    _, plan = blocked_plan(PRODUCTS[name])
    assert [tile.statement for tile in plan.register_tiles] == ["S1"]
    assert [expansion.array for expansion in plan.expansions] == [{"row": "a", "column": "b", "step": "w"}[name]]


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_a_factor_in_a_variable(name: str, sizes: tuple[int, int, int], target: str) -> None:
    random, (rows, columns, steps) = np.random.default_rng(7), sizes
    values = [random.random(shape) for shape in ((rows, steps), (steps, columns), (rows, columns))]
    agree_at(PRODUCTS[name], *values, target=target)


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("size", [1, 130])
@pytest.mark.parametrize("name", ELIMINATIONS)
def test_eliminations_with_a_factor_in_a_variable(name: str, size: int, target: str) -> None:
    matrix = np.random.default_rng(8).random((size, size)) + size * np.eye(size)
    agree_at(ELIMINATIONS[name], matrix, target=target, contract="strict")


@pytest.mark.parametrize("processor", [WIDE, NARROW])
@pytest.mark.parametrize("name", ELIMINATIONS)
def test_copies_that_tiles_step_through_are_in_no_window(name: str, processor: Processor) -> None:
    _, plan = blocked_plan(ELIMINATIONS[name], processor)
    assert [tile.packed for tile in plan.register_tiles] == [False]
    assert [expansion.window for expansion in plan.expansions] == [0]


def test_names_that_move_a_temporary() -> None:
    statement = pv.extract(FACTOR_OF_A_ROW).statement("S1")
    assert moving_names(Element("a"), statement, {"a": 2}) == {"i", "k"}
    assert moving_names(Element("B", (Name("k"), Name("j"))), statement, {"a": 2}) == {"k", "j"}
