"""Which threads of a warp meet in one request: those in the same iteration of every loop, whatever came before."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.warp_access import COUNTED
from polyviz.runtime.emulator import header


def doubled(A, B):
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            B[i, j] = 2 * A[i, j]


def requests_in_lockstep(n, m, tile, threads, itemsize):
    """The segments of each request of a block-cyclic copy of n x m cells, by playing every warp in lockstep."""
    found = []
    for block_i, block_j in np.ndindex(-(-n // tile), -(-m // tile)):
        for warp, step_i, step_j in np.ndindex(threads * threads // 32, tile // threads, tile // threads):
            lanes = [divmod(32 * warp + lane, threads) for lane in range(32)]
            cells = [
                (tile * block_i + threads * step_i + y, tile * block_j + threads * step_j + x) for y, x in lanes
            ]
            inside = [i * m + j for i, j in cells if i < n and j < m]
            if inside:
                found.append(len({place * itemsize // 128 for place in inside}))
    return found


@pytest.mark.parametrize("tile", [16, 64])
def test_threads_of_a_warp_meet_in_the_same_iteration_however_many_each_of_them_had(tile):
    kernel = pv.compile(doubled, schedule="isl", tile=tile, target="emulated")
    A = np.random.default_rng(0).random((37, 41))
    kernel(A, np.zeros_like(A))
    wanted = requests_in_lockstep(37, 41, tile, 16, A.itemsize)
    for count in kernel.emulation.counts:
        assert (count.requests, count.transactions) == (len(wanted), sum(wanted))


def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def test_cells_of_a_thread_beyond_the_border_do_not_shift_its_requests():
    kernel = pv.compile(product, schedule="isl", target="emulated")
    A, B = np.ones((37, 13)), np.ones((13, 41))
    kernel(np.zeros((37, 41)), A, B)
    (card,) = kernel.cards
    wanted = requests_in_lockstep(37, 41, 16, 16, 8)
    (stored,) = (row for row in card.accesses if row.mode == "write" and row.memory == "global")
    assert (stored.requests, round(stored.counted * stored.requests)) == (len(wanted), sum(wanted))


def test_a_report_is_a_sentence_for_who_prints_it():
    kernel = pv.compile(doubled, schedule="isl", target="emulated")
    kernel(np.ones((4, 8)), np.zeros((4, 8)))
    told = "n = 4, m = 8: 1 launch, 4 transactions for 4 requests of global memory, 0 barriers passed"
    assert str(kernel.emulation).startswith(told)


def total(A, s):
    for i in range(A.shape[0]):
        s[0] = s[0] * 0.5 + A[i]


def test_what_is_beyond_the_requests_that_count_is_told():
    assert f"REQUESTS_KEPT = {COUNTED};" in header()
    kernel = pv.compile(total, schedule="original", target="emulated")
    kernel(np.ones(COUNTED), np.zeros(1))
    assert "not counted" not in kernel.device_view().run.text
    kernel(np.ones(COUNTED + 5), np.zeros(1))
    run = kernel.device_view().run
    left_out = 5 * (run.requests // COUNTED)
    assert f"{left_out} accesses of threads are not counted: at most {COUNTED} executions" in run.text
