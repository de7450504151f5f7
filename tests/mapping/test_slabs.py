"""Nests over the same slabs of an array share the loop over the slabs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.toolchain import find_toolchain
from tests.running import agree, function_of

CHANNELS = """
    def channels(X, Y, mean):
        for c in range(X.shape[1]):
            s = 0.0
            for n in range(X.shape[0]):
                for p in range(X.shape[2]):
                    s += X[n, c, p]
            mean[c] = s / (X.shape[0] * X.shape[2])
            for n in range(X.shape[0]):
                for p in range(X.shape[2]):
                    Y[n, c, p] = X[n, c, p] - mean[c]
    """
ROWS = """
    def rows(X, Y, g):
        for i in range(X.shape[0]):
            mean = 0.0
            for j in range(X.shape[1]):
                mean += X[i, j]
            mean /= X.shape[1]
            square = 0.0
            for j in range(X.shape[1]):
                square += (X[i, j] - mean) * (X[i, j] - mean)
            for j in range(X.shape[1]):
                Y[i, j] = (X[i, j] - mean) / (square + 1.0) * g[j]
    """
COLUMNS = """
    def columns(X, Y, mean):
        for j in range(X.shape[1]):
            mean[j] = 0.0
            for i in range(X.shape[0]):
                mean[j] += X[i, j]
            for i in range(X.shape[0]):
                Y[i, j] = X[i, j] - mean[j]
    """
CARRIED = """
    def carried(X, Y):
        for i in range(1, X.shape[0]):
            for j in range(X.shape[1]):
                Y[i, j] = X[i, j] + 1.0
        for i in range(1, X.shape[0]):
            for j in range(X.shape[1]):
                X[i, j] = X[i - 1, j] + Y[X.shape[0] - i, j]
    """
PROGRAMS = {"channels": CHANNELS, "rows": ROWS, "columns": COLUMNS, "carried": CARRIED}


def given(name: str, sizes: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(3)
    X = random.random(sizes if name == "channels" else sizes[:2])
    last = {"channels": 1, "rows": 1, "columns": 1}.get(name)
    return [X, np.zeros_like(X), *([] if last is None else [random.random(X.shape[last])])]


def outer_loops(name: str, **options: bool) -> int:
    """How many loops or parallel regions stand one after the other in the program."""
    kernel = pv.compile(function_of(PROGRAMS[name]), target="c", **options)
    kernel(*given(name, (3, 5, 7)))
    return kernel.source.partition(f"kernel_{name}(")[2].count("\n    for (")


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["channels", "rows"])
def test_nests_over_the_same_slabs_share_their_loop(name: str) -> None:
    assert outer_loops(name) == 1
    assert outer_loops(name, fuse_passes=False) > 1


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["columns", "carried"])
def test_others_stay_apart(name: str) -> None:
    assert outer_loops(name) == outer_loops(name, fuse_passes=False) > 1


@pytest.mark.thinned(6)
@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("sizes", [(1, 1, 1), (4, 3, 70), (3, 131, 2)], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str, sizes: tuple[int, int, int]) -> None:
    agree(PROGRAMS[name], *given(name, sizes), target="c", contract="strict")
