"""Threads share two parallel loops as one, where nothing else was made of them."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.plan import COLLAPSED, PARALLEL
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.mapping.test_cpu import assert_sound, marked
from tests.running import function_of

BATCHES = """
def batches(X, Y):
    for b in range(X.shape[0]):
        for c in range({channels}):
            for i in range(X.shape[2]):
                Y[b, c, i] = 2.0 * X[b, c, i]
"""
BOX = BATCHES.format(channels="X.shape[1]")
TRIANGLE = BATCHES.format(channels="b + 1")
ROWS = """
def rows(X, Y):
    for b in range(X.shape[0]):
        for i in range(X.shape[1]):
            Y[b, i] = 2.0 * X[b, i]
"""


def compiled(text: str, **options: object) -> pv.Kernel:
    return pv.compile(function_of(text), target="c", **options)


def text_of(kernel: pv.Kernel, rank: int = 3) -> str:
    types = {name: ArrayType("float64", rank) for name in "XY"}
    return kernel.specialise(types).text


def test_two_loops_around_vectors_are_shared_as_one() -> None:
    kernel = compiled(BOX)
    assert_sound(kernel.scop, pv.dependences(kernel.scop), kernel.plan)
    assert len(marked(kernel.plan, COLLAPSED)) == len(marked(kernel.plan, PARALLEL)) == 1
    assert any("together with the loop inside" in decision.text for decision in kernel.plan.decisions)
    assert "#pragma omp parallel for collapse(2) schedule(static)" in text_of(kernel)


def test_the_innermost_loop_stays_whole() -> None:
    kernel = compiled(ROWS)
    assert not marked(kernel.plan, COLLAPSED)
    assert "collapse" not in text_of(kernel, rank=2)


def test_a_loop_whose_length_changes_is_not_shared_with_the_one_around() -> None:
    assert "collapse" not in text_of(compiled(TRIANGLE))


def test_it_can_be_switched_off() -> None:
    kernel = compiled(BOX, collapse=False)
    assert not marked(kernel.plan, COLLAPSED)
    assert "collapse" not in text_of(kernel)


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
def test_every_pair_of_iterations_runs_once() -> None:
    X, Y = np.arange(3 * 5 * 20000.0).reshape(3, 5, 20000), np.zeros((3, 5, 20000))
    compiled(BOX)(X, Y)
    assert np.array_equal(Y, 2 * X)
