"""Recurrences, none of whose loops is parallel: threads take tiles in turn, chains that compute run side by side."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping.interleave import leaves_nothing_to_overlap
from polyviz.model.plan import INTERLEAVE, PIPELINE
from polyviz.transform.tree import kind_of, walk
from tests.running import agree, function_of

SMOOTHED = """
def smoothed(A, x, y):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = 0.5 * A[i - 1, j] + 0.5 * A[i, j - 1]
"""
COMMON = """
def common(A, x, y):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = max(max(A[i - 1, j], A[i, j - 1]), A[i - 1, j - 1] + (1 if x[i] == y[j] else 0))
"""
ALIGNED = """
def aligned(A, x, y):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = max(max(A[i - 1, j] - 2, A[i, j - 1] - 2), A[i - 1, j - 1] + (1 if x[i] == y[j] else -1))
"""
RELAXED = """
def relaxed(A, x, y):
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            A[i, j] += 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] - 4.0 * A[i, j])
"""
DISTANCE = """
def distance(A, x, y):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            if x[i] == y[j]:
                A[i, j] = A[i - 1, j - 1]
            else:
                A[i, j] = 1.0 + min(A[i - 1, j], A[i, j - 1], A[i - 1, j - 1])
"""
CUBE = """
def cube(A, x, y):
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            for k in range(1, 40):
                A[i, j, k] = (A[i - 1, j, k] + A[i + 1, j, k] + A[i, j - 1, k] + A[i, j, k - 1] + A[i, j, k + 1]) / 5.0
"""
SOURCES = {
    "smoothed": SMOOTHED,
    "common": COMMON,
    "aligned": ALIGNED,
    "relaxed": RELAXED,
    "cube": CUBE,
    "distance": DISTANCE,
}
ALONE = ("common", "distance")


def marks(kernel: pv.Kernel) -> set[str]:
    nodes = (node for node in walk(kernel.plan.tree) if kind_of(node) == "mark")
    return {node.mark_get_id().get_name().partition(":")[0] for node in nodes}


@pytest.mark.parametrize("name", SOURCES)
def test_threads_take_tiles_in_turn(name: str) -> None:
    kernel = pv.compile(function_of(SOURCES[name]), target="c")
    assert PIPELINE in marks(kernel)
    assert (INTERLEAVE in marks(kernel)) == (name not in ALONE)
    (tiles,) = (one.text for one in kernel.plan.decisions if one.step == "tile")
    assert tiles.endswith("for threads to share")


def test_either_technique_can_be_left_out() -> None:
    function = function_of(SMOOTHED)
    assert not marks(pv.compile(function, target="c", pipeline=False)) & {PIPELINE, INTERLEAVE}
    assert INTERLEAVE not in marks(pv.compile(function, target="c", interleave=False))


@pytest.mark.thinned(5)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 300), (300, 3), (17, 259), (33, 700)])
@pytest.mark.parametrize("name", SOURCES)
def test_results_are_those_of_the_loops(name: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.integers(0, 4, extent) for extent in shape)
    cells = rng.integers(0, 9, (*shape, 41) if name == "cube" else shape).astype(float)
    agree(SOURCES[name], cells, x, y, target="c", threads=3)


def test_choices_and_branches_leave_nothing_to_overlap() -> None:
    parts = {name: pv.extract(function_of(text)) for name, text in SOURCES.items()}
    assert {name for name, part in parts.items() if leaves_nothing_to_overlap(part, ("S0",))} == set(ALONE)
