"""A number that one statement writes and another one reads is shared by them, as an array is."""

from __future__ import annotations

import polyviz as pv


def filtered(X, K, Y):
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            s = 0.0
            for a in range(3):
                s += X[i, j + a] * K[a]
            Y[i, j] = s


def test_statements_that_hand_a_number_on_share_it_and_run_in_one_kernel():
    order = pv.schedule(pv.extract(filtered), "superposition")
    assert len(order.superposition.kernels) == 1
    assert not any("they share no array" in one.text for one in order.decisions)
