"""Loops that one iteration ties together are taken apart there, with all that is in them."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.plan import LOCAL
from polyviz.transform.tree import kind_of, walk
from tests.running import TARGETS, agree, function_of

PATHS = """
def paths(M, path, n):
    for k in range(n):
        for i in range(n):
            for j in range(n):
                cost = M[i, k] + M[k, j]
                if M[i, j] > cost:
                    M[i, j] = cost
                    path[i, j] = k
"""
LATER = """
def later(M, path, n):
    for k in range(n):
        for i in range(n):
            for j in range(n):
                M[i, j] = min(M[i, j], M[i, k] + M[k, j])
                path[i, j] = max(path[i, j], M[i, k] + 1)
"""
CHAINED = PATHS.replace("M[i, k] + M[k, j]", "M[i, k] + M[k, j] + path[i, j - 1]").replace("range(n)", "range(1, n)")


def kernel_of(text: str) -> pv.Kernel:
    return pv.compile(function_of(text), target="c")


def arrays(n: int) -> tuple[np.ndarray, np.ndarray, int]:
    random = np.random.default_rng(n)
    return random.integers(0, 100, (n, n)) - n // 9, random.integers(0, 9, (n, n)), n


@pytest.mark.parametrize("text", [PATHS, LATER], ids=["paths", "later"])
def test_several_statements_are_taken_apart_together(text: str) -> None:
    plan = kernel_of(text).plan
    (said,) = (one for one in plan.decisions if one.step == "split")
    assert said.statements == ("S0", "S1")
    assert pv.check(pv.extract(function_of(text)), plan.tree)


def test_each_piece_has_a_variable_of_its_own() -> None:
    kernel = kernel_of(PATHS)
    assert kernel.plan.locals == ("cost",)
    assert not kernel.plan.expansions
    nodes = [node for node in walk(kernel.plan.tree) if kind_of(node) == "mark"]
    assert [node.mark_get_id().get_name() for node in nodes].count(f"{LOCAL}:cost") == 9
    loops = kernel.source.partition("int64_t kernel_")[2]
    # Four loops inside parallel ones, for threads and for one, and two in row k; without tests of subscripts, and with.
    assert loops.count("#pragma omp simd") == 2 * (2 * 4 + 2)


def test_what_ties_neighbours_together_stays() -> None:
    assert not any(one.step == "split" for one in kernel_of(CHAINED).plan.decisions)


@pytest.mark.parametrize("text", [PATHS, LATER, CHAINED], ids=["paths", "later", "chained"])
@pytest.mark.parametrize("target", TARGETS)
def test_results_are_those_of_the_loops(text: str, target: str) -> None:
    for n in (1, 2, 19):
        agree(text, *arrays(n), target=target)
