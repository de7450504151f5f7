"""Thread loops that are none of blocks: strips that all threads of a block go through together."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.gallery import kernel as entry_of


def kernel_of(function, **options):
    return pv.compile(function, schedule="superposition", target="emulated", **options)


def test_threads_of_a_strip_share_tiles():
    (kernel,) = kernel_of(entry_of("doitgen-expanded").function).plan.device.kernels
    assert set(kernel.strips) == {"x"}
    (run,) = kernel.runs
    assert {box.array: box.extents for box in run.boxes} == {"A": (4, 4, 32), "C4": (32, 32)}
    assert [box.fresh for box in run.boxes] == [True, False]


def test_strips_are_made_for_tiles_only():
    (kernel,) = kernel_of(entry_of("doitgen-expanded").function, device={"stage": False}).plan.device.kernels
    assert not kernel.strips


@pytest.mark.slow
def test_products_of_many_matrices_read_each_cell_once_per_block():
    def products(A, B, C):
        for b in range(A.shape[0]):
            for i in range(A.shape[1]):
                for j in range(B.shape[2]):
                    for k in range(A.shape[2]):
                        C[b, i, j] += A[b, i, k] * B[b, k, j]

    rng = np.random.default_rng(1)
    A, B, C = rng.random((3, 9, 33)), rng.random((3, 33, 37)), rng.random((3, 9, 37))
    wanted = C + A @ B
    found = {}
    for stage in (True, False):
        result = C.copy()
        kernel = kernel_of(products, device={"stage": stage})
        kernel(A, B, result)
        assert np.allclose(result, wanted)
        found[stage] = sum(count.transactions for count in kernel.emulation.counts)
    assert 5 * found[True] < found[False]
