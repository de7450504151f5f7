"""Sums into cells that data choose: threads add into copies of the whole array, and every subscript is still tested."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.plan import REDUCED
from polyviz.runtime.toolchain import find_toolchain
from tests.mapping.test_cpu import marked
from tests.running import function_of

HISTOGRAM = """
def histogram(I, h, w):
    for y in range(I.shape[0]):
        for x in range(I.shape[1]):
            {statement}
"""
COUNTED = "h[I[y, x]] += w[x]"


def compiled(statement: str = COUNTED, target: str = "c", **options: object) -> pv.Kernel:
    return pv.compile(function_of(HISTOGRAM.format(statement=statement)), target=target, **options)


def image(lowest: int = 0) -> np.ndarray:
    return np.random.default_rng(4).integers(lowest, 40, (300, 400))


def test_threads_share_a_histogram() -> None:
    kernel = compiled()
    assert pv.check(kernel.scop, kernel.plan.tree)
    assert [found.extent for found in kernel.plan.array_sums] == [None]
    assert len(marked(kernel.plan, REDUCED)) == 1


@pytest.mark.parametrize(
    "statement",
    ["h[I[y, x]] += h[0]", "h[h[x]] += 1", "h[I[y, x]] = w[x]", "h[I[y, x]] *= 2", "h[I[y, x]] = h[I[y, x]] + h[x]"],
)
def test_what_is_no_sum_alone_stays_on_one_thread(statement: str) -> None:
    assert not compiled(statement).plan.array_sums


def test_it_can_be_switched_off_and_keeps_the_order_of_a_strict_contract() -> None:
    assert not compiled(array_sums=False).plan.array_sums
    assert not compiled(contract="strict").plan.array_sums


@pytest.mark.parametrize("target", ["c", "numba"])
def test_every_pixel_is_counted_once(target: str) -> None:
    if target == "c" and find_toolchain() is None:
        pytest.skip("no C compiler")
    found, weights = np.zeros(40), np.arange(400.0)
    pixels = image(lowest=-5)
    compiled(target=target)(pixels, found, weights)
    wanted = np.zeros(40)
    np.add.at(wanted, pixels, np.broadcast_to(weights, pixels.shape))
    assert np.array_equal(found, wanted)


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
def test_a_subscript_past_the_end_is_told_and_nothing_is_changed() -> None:
    pixels, found = image(), np.zeros(40)
    pixels[299, 399] = 40
    with pytest.raises(pv.OutOfBoundsError, match=r"`h\[.*leaves its array"):
        compiled()(pixels, found, np.ones(400))
    assert not found.any()
