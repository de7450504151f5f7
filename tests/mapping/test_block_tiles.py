"""Tiles that hold updates only, inside the tiles of a band that several statements share."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.runtime.toolchain import find_toolchain
from tests.blocked import blocked_plan
from tests.running import agree_at

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
COMPILED = [pytest.param("c", marks=needs_compiler), "numba"]

ON_BOTH_SIDES = """
    def f(A, B, C):
        n = A.shape[0]
        for i in range(n):
            for k in range(n):
                for j in range(n):
                    C[i, j] += A[i, k] * B[k, j]
                C[i, k] += A[i, k]
    """


def test_tiles_on_both_sides_of_a_diagonal_are_two_sets() -> None:
    _, plan = blocked_plan(ON_BOTH_SIDES)
    assert [tiles.tiles.n_basic_set() for tiles in plan.block_tiles] == [2]


@pytest.mark.parametrize("target", COMPILED)
@pytest.mark.parametrize("size", [49, 130])
def test_blocks_of_two_sets_of_tiles_end_where_the_arrays_do(size: int, target: str) -> None:
    random = np.random.default_rng(size)
    agree_at(ON_BOTH_SIDES, *(random.random((size, size)) for _ in range(3)), target=target)
