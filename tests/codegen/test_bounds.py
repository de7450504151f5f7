"""Bounds that are a choice between two: read as one number wherever something is compared with them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.running import TARGETS, agree

TWO_EXTENTS = """
def f(A, B, n, m):
    for i in range(n):
        for j in range(max(m, n)):
            B[i + 1] = np.sin(A[j, i + 3]) + (0.625 * A[i, j + 3] - 0.25 * A[j, i])
        A[i % 4, 3] += A[i, 3] % 1.5
"""


@pytest.mark.thinned(4)
@pytest.mark.parametrize("tile", [None, (5, 3)], ids=str)
@pytest.mark.parametrize("schedule", ["spatial", "pluto"])
@pytest.mark.parametrize("target", TARGETS)
def test_loops_up_to_the_greater_of_two_numbers_end(target: str, schedule: str, tile: tuple[int, ...] | None) -> None:
    A = np.random.default_rng(1).random((12, 16))
    for n, m in ((4, 3), (1, 0), (3, 8)):
        kernel = agree(TWO_EXTENTS, A, np.zeros(12), n, m, target=target, schedule=schedule, tile=tile)
    if (target, schedule, tile) == ("c", "spatial", (5, 3)):
        assert "j_tile < (n >= m + 1 ? " in kernel.source, "no choice is left: look for another program"
