"""Loops known to be short stay where they are: compilers write them out, and vectors go along the loop around."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, agree_at, function_of, shared_kernel

HORNER = """
def horner(x, y):
    for i in range(len(x)):
        r = 0.0
        for k in range({length}):
            r = r * x[i] + 0.5
        y[i] = r
"""
WINDOW = """
def window(x, w, y):
    for i in range(len(x) - {length}):
        s = 0.0
        for k in range({length}):
            s += x[i + k] * w[k]
        y[i] = s
"""
POINTS = """
def points(P, M, Q):
    for n in range(P.shape[0]):
        for i in range({length}):
            s = 0.0
            for k in range({length}):
                s += M[i, k] * P[n, k]
            Q[n, i] = s
"""
CELLS = """
def cells(A, x, y):
    for i in range(len(y)):
        for k in range({length}):
            y[i] += A[i, k] * x[k]
"""
DISTANCES = """
def distances(P, D):
    for i in range(P.shape[0]):
        for j in range(P.shape[0]):
            d = 0.0
            for k in range(3):
                t = P[i, k] - P[j, k]
                d += t * t
            D[i, j] = np.sqrt(d)
"""


def source_of(text: str, length: int) -> str:
    return pv.compile(function_of(text.format(length=length)), target="c").source


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize("text", [HORNER, WINDOW, POINTS], ids=["horner", "window", "points"])
def test_a_short_loop_keeps_its_sum_in_one_variable(text: str) -> None:
    source = source_of(text, 3)
    assert "double r;" in source or "double s;" in source
    assert not any(word in source for word in ("_tile", "lane", "collapse", "vector_size", "memory_for"))


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize(
    ("text", "sign"),
    [(HORNER, "double r["), (WINDOW, "double s["), (POINTS, "vector_size")],
    ids=["horner", "window", "points"],
)
def test_a_longer_one_does_not(text: str, sign: str) -> None:
    assert sign in source_of(text, 40)


def test_a_cell_is_in_a_variable_without_lanes() -> None:
    source = source_of(CELLS, 4)
    assert "double y_sum = y[i];" in source
    assert "lane" not in source


@pytest.mark.usefixtures("one_processor")
def test_few_steps_between_many_rows_and_columns_are_a_product() -> None:
    assert "packed" in source_of(DISTANCES, 3)


@pytest.mark.parametrize("length", [1, 3, 16, 17])
@pytest.mark.parametrize("text", [HORNER, WINDOW, POINTS, CELLS], ids=["horner", "window", "points", "cells"])
def test_results(text: str, length: int) -> None:
    generator = np.random.default_rng(length)
    arguments = {
        HORNER: (generator.random(70), np.zeros(70)),
        WINDOW: (generator.random(70), generator.random(length), np.zeros(70)),
        POINTS: (generator.random((50, length)), generator.random((length, length)), np.zeros((50, length))),
        CELLS: (generator.random((50, length)), generator.random(length), np.ones(50)),
    }
    agree(text.format(length=length), *arguments[text], target="c")


STATES = """
def most_likely(seen, step, sign, best, came_from):
    for t in range(1, seen.shape[0]):
        for j in range(4):
            most = -1e300
            where = 0
            for i in range(4):
                value = best[t - 1, i] + step[i, j]
                if value > most:
                    most = value
                    where = i
            best[t, j] = most + sign[j, seen[t]]
            came_from[t, j] = where
"""
NEAREST = """
def nearest(points, centres, label):
    for i in range(points.shape[0]):
        best = 1e300
        where = 0
        for c in range(5):
            s = 0.0
            for j in range(3):
                t = points[i, j] - centres[c, j]
                s += t * t
            if s < best:
                best = s
                where = c
        label[i] = where
"""


def test_rows_of_a_few_cells_are_not_cut_into_tiles() -> None:
    steps = [decision.step for decision in shared_kernel(STATES, "c").plan.decisions]
    assert "tile" not in steps
    assert "wavefront" not in steps


def test_a_product_of_few_steps_stays_with_what_uses_it() -> None:
    kernel = shared_kernel(NEAREST, "c")
    assert not kernel.plan.register_tiles
    assert not kernel.plan.expansions


def test_results_of_states_and_of_centres() -> None:
    random = np.random.default_rng(5)
    seen = random.integers(0, 6, 300)
    states = np.zeros((300, 4)), np.zeros((300, 4), np.int64)
    agree_at(STATES, seen, random.random((4, 4)), random.random((4, 6)), *states, target="c")
    agree_at(NEAREST, random.random((700, 3)), random.random((5, 3)), np.zeros(700, np.int64), target="c")
