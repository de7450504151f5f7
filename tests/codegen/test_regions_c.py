"""Parallel loops inside serial ones: written twice, so that no region begins where it does not pay."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.frontend.compiled import same_compiled
from tests.running import function_of

CHOSEN = """
def f(P, T, n):
    where = np.zeros((P.shape[0], n), dtype=np.int64)
    for t in range(1, P.shape[0]):
        w = P[t - 1] + T
        for j in range(n):
            where[t, j] = np.argmax(w[j])
            P[t, j] = 0.5 * w[j, where[t, j]]
    return where
"""


@pytest.mark.slow
def test_a_largest_place_is_looked_for_in_every_step() -> None:
    random = np.random.default_rng(3)
    arrays = {"P": random.random((6, 5)), "T": random.random((5, 5)), "n": 5}
    same_compiled(function_of(CHOSEN), arrays, "c", "strict")
    kernel = pv.compile(function_of(CHOSEN), target="c")
    kernel(**arrays)
    lines = [line.partition("//")[0].strip() for line in kernel.source.splitlines()]
    assert lines.count("place = 0;") == 2
