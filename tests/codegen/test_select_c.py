"""Vector loops that choose instead of branching, and evaluate both sides of `and` where that does no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, agree_at, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

SHORTEST = """
    def f(D):
        n = D.shape[0]
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    if D[i, k] + D[k, j] < D[i, j]:
                        D[i, j] = D[i, k] + D[k, j]
    """
REACHED = """
    def f(A):
        n = A.shape[0]
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    A[i, j] = A[i, j] or (A[i, k] and A[k, j])
    """
LIMITED = """
    def f(x, y, limit):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if x[i, j] > limit[i, j]:
                    x[i, j] -= 2 * limit[i, j]
    """
BEYOND = """
    def f(x, y, limit):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if x[i, j] > 0.5:
                    x[i, j] = y[i, j]
    """
UNSEEN = """
    def f(x, y, limit):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if y[i, j] > 0.5:
                    x[i, j] = y[i, j]
    """
INDIRECT = """
    def f(x, y, limit):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if limit[j] >= 0 and y[i, limit[j]] > 0.5:
                    x[i, j] = 1.0
    """


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).random(shape)


def test_a_minimum_is_chosen_and_what_stays_is_loaded_before(golden: Callable[..., None]) -> None:
    kernel = agree(SHORTEST, random(7, 7), target="c")
    golden(kernel.source, "c")
    assert any(one.step == "select" for one in kernel.plan.decisions)


def test_a_minimum_of_its_own_array_is_chosen_too() -> None:
    value = "min(D[i, j], D[i, k] + D[k, j])"
    text = SHORTEST.replace("if D[i, k] + D[k, j] < D[i, j]:", f"D[i, j] = {value}").rpartition("    D[i, j]")[0]
    source = agree(text, random(7, 7), target="c").source
    assert "D_value + D[k][j] < D[i][j] ? D_value + D[k][j] : D[i][j]" in source


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("size", [0, 1, 2, 40])
def test_the_shortest_paths_are_those_of_the_loops(size: int, contract: str) -> None:
    D = random(size, size)
    if size > 2:
        D[2, 3] = D[0, 1] = np.nan
        D[1] = np.inf
    agree_at(SHORTEST, D, target="c", contract=contract)
    agree_at(SHORTEST, D, target="c", contract=contract, extremes=False)


def test_the_technique_can_be_switched_off() -> None:
    kernel = agree(SHORTEST, random(7, 7), target="c", select=False, extremes=False)
    assert "?" not in kernel.source
    assert not any(one.step == "select" for one in kernel.plan.decisions)
    assert "&&" in agree(REACHED, random(7, 7) < 0.3, target="c", select=False).source


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8"])
def test_operands_that_do_no_harm_are_all_evaluated_in_lanes(dtype: str) -> None:
    A = (random(40, 40) < 0.05).astype(dtype)
    source = agree(REACHED, A, target="c").source
    assert ("((A[i][k] != 0) & (A[k][j] != 0))" in source) == (dtype == "bool")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_an_update_is_chosen_in_the_type_of_its_cell(dtype: str) -> None:
    x, limit = (100 * random(2, 5, 50)).astype(dtype)
    kernel = agree(LIMITED, x, x, limit, target="c")
    assert "?" in kernel.source


@pytest.mark.parametrize(("text", "dtypes"), [(BEYOND, ("int64", "float64")), (UNSEEN, ("float64", "float64"))])
def test_values_of_another_kind_and_cells_that_nobody_compares_keep_their_branch(
    text: str, dtypes: tuple[str, str]
) -> None:
    x, y = ((10 * random(5, 50)).astype(dtype) for dtype in dtypes)
    _, _, loops = agree(text, x, y, y, target="c").source.partition("kernel_f(")
    assert loops
    assert "?" not in loops


def test_a_subscript_that_is_only_tested_where_it_is_used_stays_behind_its_guard() -> None:
    limit = np.array([0, -70, 3])
    assert "&&" in agree(INDIRECT, random(2, 3), random(2, 4), limit, target="c").source


def test_a_cell_that_may_not_be_there_is_not_looked_at() -> None:
    text = """
    def f(x, y, n):
        for i in range(n):
            for j in range(n):
                if x[i, j] > 0.5:
                    x[i, j] = y[j]
    """
    kernel = pv.compile(function_of(text), target="c")
    x = np.zeros((4, 4))
    kernel(x, np.zeros(1), 4)
    assert not x.any()


CHAIN = """
    def f(x, t, y):
        for i in range(x.shape[0]):
            if x[i] <= 0 and t[i] > 280:
                y[i] = 0.96
            elif x[i] <= 0 and t[i] <= 280:
                y[i] = 0.1
            elif x[i] > 0:
                y[i] = x[i]
    """
SIGNS = """
    def f(x, t, y):
        for i in range(x.shape[0]):
            for j in range(3):
                if x[i] > 0.5:
                    y[i, j] = 1
                elif x[i] < -0.5:
                    y[i, j] = -1
                else:
                    y[i, j] += t[i]
    """


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("count", [0, 1, 37])
def test_a_chain_of_conditions_is_chosen_from_where_threads_share_the_loop(count: int, contract: str) -> None:
    x, t = random(count) - 0.5, random(count) * 40 + 260
    x[::5] = np.nan
    kernel = agree_at(CHAIN, x, t, random(count), target="c", contract=contract)
    _, _, loops = kernel.source.partition("kernel_f(")
    assert loops.count("?") == 3
    assert "if (x[i]" not in loops


@pytest.mark.parametrize("dtype", ["int64", "int8", "float32", "float64"])
def test_the_last_of_a_chain_may_update(dtype: str) -> None:
    x, y = 2 * random(9) - 1, (random(9, 3) * 9).astype(dtype)
    agree(SIGNS, x, np.arange(9).astype(dtype), y, target="c")


def test_a_chain_leaves_alone_what_its_conditions_keep_out_of_range() -> None:
    text = """
    def f(x, y, n):
        for i in range(n):
            if i < 50 and x[i] > 0.5:
                y[i] = 1.0
            elif y[i] > 0.5:
                y[i] = x[0]
    """
    assert "&&" in agree(text, random(50), random(60), 60, target="c").source


ALONE = {
    "another cell": "y[i] = 1.0|elif x[i] < 0.25:|    y[i - 1] = 2.0",
    "another array": "y[i] = 1.0|elif x[i] < 0.25:|    t[i] = 2.0",
    "two cells": "y[i] = 1.0|elif x[i] < 0.25:|    y[i] = 2.0|    t[i] = 1.0",
    "something dear": "y[i] = np.exp(x[i])|elif x[i] < 0.25:|    y[i] = 1.0",
}


@pytest.mark.parametrize("body", ALONE.values(), ids=list(ALONE))
def test_other_chains_branch(body: str) -> None:
    lines = body.replace("|", "\n            ")
    text = f"def f(x, t, y):\n    for i in range(1, 40):\n            if x[i] > 0.5:\n                {lines}\n"
    _, _, loops = agree(text, random(40), random(40), random(40), target="c").source.partition("kernel_f(")
    assert "?" not in loops
