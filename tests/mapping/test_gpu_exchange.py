"""Threads along x go where cells are written side by side, unless reading would pay for it."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv


def transposed(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[j, i] = A[i, j]


def product(A, B, C):
    for i in range(C.shape[1]):
        for j in range(C.shape[0]):
            for k in range(A.shape[1]):
                C[j, i] += A[i, k] * B[k, j]


def gathered(A, B, places):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[j, i] = A[i, j] + A[places[i], j]


def compiled(function, schedule, **options):
    return pv.compile(function, schedule=schedule, target="emulated", **options)


def texts(kernel):
    return [one.text for one in kernel.plan.decisions if one.step == "promotion"]


def average(kernel, array):
    """Transactions per request of what is written to ``array``."""
    sites = {site.number: site for one in kernel.program.device.kernels for site in one.sites}
    found = [
        one for one in kernel.emulation.counts if one.write and sites[one.site].text.startswith(f"{array}[")
    ]
    return sum(one.transactions for one in found) / sum(one.requests for one in found)


@pytest.mark.parametrize("schedule", ["superposition", "isl"])
def test_a_transpose_writes_along_rows_what_it_reads_through_a_tile(schedule):
    kernel = compiled(transposed, schedule)
    A, B = np.random.default_rng(1).random((100, 70)), np.zeros((70, 100))
    kernel(A, B)
    np.testing.assert_array_equal(B, A.T)
    (mapped,) = kernel.plan.device.kernels
    assert {axis.axis: set(axis.texts.values()) for axis in mapped.threads} == {"x": {"i"}, "y": {"j"}}
    assert [box.array for run in mapped.runs for box in run.boxes] == ["A"]
    assert average(kernel, "B") < 4
    assert any("neighbours along x then write neighbouring cells of B" in text for text in texts(kernel))


def test_without_tiles_nothing_is_won():
    kernel = compiled(transposed, "isl", device={"stage": False})
    kernel(np.ones((64, 64)), np.zeros((64, 64)))
    assert average(kernel, "B") > 12
    assert any("read A across rows, where no tile serves them" in text for text in texts(kernel))


def test_accumulators_in_registers_leave_along_rows():
    kernel = compiled(product, "superposition")
    generator = np.random.default_rng(2)
    A, B, C = generator.random((70, 33)), generator.random((33, 90)), np.zeros((90, 70))
    kernel(A, B, C)
    np.testing.assert_allclose(C, (A @ B).T)
    assert average(kernel, "C") < 5


def test_what_writes_along_rows_keeps_its_threads():
    def copied(A, B):
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                B[i, j] = A[j, i]

    kernel = compiled(copied, "isl")
    assert not any("exchanged" in text or "stay as they are" in text for text in texts(kernel))


def test_subscripts_that_only_the_data_tell_change_nothing():
    kernel = compiled(gathered, "isl")
    A, B, places = np.random.default_rng(3).random((40, 50)), np.zeros((50, 40)), np.arange(40)[::-1].copy()
    kernel(A, B, places)
    np.testing.assert_array_equal(B, (A + A[places]).T)
