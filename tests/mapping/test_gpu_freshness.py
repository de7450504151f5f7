"""Tiles of arrays that the same launch writes: by the block itself at another time, or not at all."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.gallery import kernel as entry_of


def kernels_of(function, schedule="superposition"):
    return pv.compile(function, schedule=schedule, target="emulated").plan.device.kernels


def test_a_block_copies_what_it_writes_itself_behind_a_barrier():
    kernel = pv.compile(entry_of("doitgen-expanded").function, schedule="superposition", target="emulated")
    assert "__syncthreads();  // what the block wrote is there to be copied" in kernel.source


def test_nothing_is_copied_that_other_blocks_write():
    def woven(A, B, C, n):
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    C[i, j] += A[2 * i, k] * B[k, j]
            for k in range(n):
                A[2 * i + 1, k] = 1.0

    # A tile of A would hold rows that are not read, which the other blocks along x write meanwhile.
    (kernel,) = kernels_of(woven)
    assert [box.array for run in kernel.runs for box in run.boxes] == ["B"]
    (left,) = kernel.unstaged
    assert (left.array, left.statements) == ("A", ("S0",))
    assert left.reason == "S1 writes some of it in the same launch"


@pytest.mark.parametrize(("name", "staged"), [("jacobi-2d", True), ("jacobi-2d-alt", False)])
def test_tiles_of_stencils_hold_the_cells_around_a_block(name, staged):
    boxes = [box for kernel in kernels_of(entry_of(name).function) for run in kernel.runs for box in run.boxes]
    assert bool(boxes) == staged
    assert all(box.extents == (34, 34) for box in boxes)
