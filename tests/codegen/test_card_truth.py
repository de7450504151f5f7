"""What cards say of how neighbours move, of why arrays stay where they are, of where threads wait: it must be true."""

from __future__ import annotations

import numpy as np

import polyviz as pv


def sparse(start, column, value, x, y):
    for i in range(y.shape[0]):
        for k in range(start[i], start[i + 1]):
            y[i] += value[k] * x[column[k]]


def counted(start, count, value, y):
    for i in range(y.shape[0]):
        for k in range(start[0], start[0] + count[i]):
            y[i] += value[k]


def histogram(value, kind, total):
    for k in range(value.shape[0]):
        total[kind[int(value[k] * 8)]] += 1.0


def card_of(function, *arguments, schedule="isl", **options):
    kernel = pv.compile(function, schedule=schedule, target="emulated", **options)
    kernel(*arguments)
    return kernel.cards[0]


def rows_of(card):
    return {row.text: row for row in card.accesses}


def test_what_a_subscript_reads_comes_before_what_is_written():
    arguments = np.linspace(0, 0.9, 20), np.arange(8) % 3, np.zeros(3)
    kernel = pv.compile(histogram, schedule="isl", target="emulated")
    kernel.specialise(kernel.bind(arguments, {}).types)
    modes = {row.text.partition("[")[0]: row.mode for row in kernel.cards[0].accesses}
    assert modes == {"value": "read", "kind": "read", "total": "update"}


def test_where_a_loop_begins_at_data_nobody_knows_how_neighbours_move():
    starts = np.arange(0, 31 * 3, 3)
    arrays = np.zeros(90, int), np.ones(90), np.ones(9), np.zeros(30)
    found = rows_of(card_of(sparse, starts, *arrays))
    assert {text: row.kind for text, row in found.items()} == {
        "start[i]": "contiguous",
        "start[i + 1]": "contiguous",
        "y[i]": "contiguous",
        "value[k]": "unknown",
        "column[k]": "unknown",
        "x[column[k]]": "unknown",
    }
    assert found["value[k]"].expected is None


def test_where_all_threads_begin_at_the_same_cell_they_read_the_same():
    counts = np.arange(40) % 5
    found = rows_of(card_of(counted, np.zeros(1, int), counts, np.ones(9), np.zeros(40)))
    assert (found["value[k]"].kind, found["value[k]"].expected, found["value[k]"].counted) == ("broadcast", 1, 1.0)


def test_an_array_that_is_read_where_data_say_has_that_as_its_reason():
    starts = np.arange(0, 31 * 3, 3)
    arrays = np.zeros(90, int), np.ones(90), np.ones(9), np.zeros(30)
    reasons = {one.array: one.reason for one in card_of(sparse, starts, *arrays).promotions}
    assert reasons["value"] == reasons["x"] == "S0: which cells are read depends on data"
    assert "depends on data" not in reasons["start"]


def half_dealt(A, B):
    for t in range(2):
        for i in range(A.shape[0]):
            B[i] = A[i] + t


def test_a_place_that_a_thread_works_out_with_a_remainder_is_not_called_the_same_for_all():
    part = pv.extract(half_dealt)
    order = pv.superpose(part, {"S0": "(0, t, 0, floor(i/32)_x)"}, {"S0": "(0, t, 0, i_x)"}, threads=(64,))
    card = card_of(half_dealt, np.arange(100.0), np.zeros(100), schedule=order)
    assert {row.kind for row in card.accesses} == {"unknown"}
    assert not any("int64_t" in row.text for row in card.accesses)


def row_sums(A, x):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            x[i] += A[i, j]


def test_threads_that_share_a_sum_are_not_called_one_thread():
    card = card_of(row_sums, np.ones((9, 40)), np.zeros(9), schedule="superposition")
    reasons = {one.array: one.reason for one in card.promotions}
    assert reasons["A"] == "S0: its terms are dealt to threads, each of which reads its own"


def column_step(L, x, y, k):
    for i in range(x.shape[0]):
        x[i] = L[i, k] * y[k] + L[k, i]


def test_each_array_has_the_reason_that_holds_for_it():
    card = card_of(column_step, np.ones((40, 40)), np.ones(40), np.ones(40), 3)
    reasons = {one.array: one.reason for one in card.promotions}
    assert reasons["y"] != reasons["L"]
    assert "256" in reasons["L"]
    assert "256" not in reasons["y"]


def transposed(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[j, i] = A[i, j]


def in_columns(T, A, B):
    for i in range(A.shape[0]):
        for t in range(T):
            for j in range(A.shape[1]):
                B[t, i, j] = A[j, i] * t


def test_tiles_that_are_filled_once_need_one_barrier():
    kernel = pv.compile(transposed, schedule="isl", target="emulated")
    A = np.random.default_rng(0).random((37, 41))
    B = np.zeros((41, 37))
    kernel(A, B)
    np.testing.assert_array_equal(B, A.T)
    (card,) = kernel.cards
    assert len(card.barriers) == 1
    assert kernel.emulation.barriers == 3 * 3
    # A block that goes on beyond the grid of a device fills them again.
    later = kernel.source.partition("if (INDEX_BITS == 32) break;")[2]
    assert later.count("__syncthreads();  // the tiles have been read") == 1


def forward(L, x):
    for i in range(x.shape[0]):
        for j in range(i):
            x[i] -= L[i, j] * x[j]


def test_a_card_calls_the_loops_of_the_host_as_the_text_does():
    card = card_of(forward, np.ones((20, 20)), np.ones(20), schedule="isl")
    assert card.host == ("j",)
    assert "step0" not in card.text()
    assert "launched again for every j of the host's loops" in card.text()
    assert "j" in card.grid[0]


def test_a_card_says_which_accesses_did_not_run():
    card = card_of(doubly, np.ones(40), np.zeros(40))
    assert "did not run" in card.text()
    assert "1 requests" not in card.text()


def doubly(A, B):
    for i in range(1, A.shape[0] - 1):
        B[i] = A[i - 1] + A[i] + A[i + 1]
