"""Vector loops around windows whose sizes only the call tells: strips of lanes go through them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, agree_at, function_of

if TYPE_CHECKING:
    from tests.conftest import Golden

BLUR = """
def blur(image, size, result):
    height, width = image.shape
    half = size // 2
    for i in range(half, height - half):
        for j in range(half, width - half):
            total = 0.0
            for p in range(-half, half + 1):
                for q in range(-half, half + 1):
                    total += image[i + p, j + q]
            result[i, j] = total / (size * size)
"""
CONVOLVE = """
def convolve(x, h, y):
    for c in range(x.shape[0]):
        for i in range(x.shape[1] - h.shape[0] + 1):
            y[c, i] = 0.0
            for k in range(h.shape[0]):
                y[c, i] += x[c, i + k] * h[k]
            y[c, i] = y[c, i] * 0.5
"""


def test_strips_go_through_the_window_together(golden: Golden) -> None:
    image = np.random.default_rng(1).random((9, 80))
    golden(agree(BLUR, image, 5, np.zeros((9, 80)), target="c").source)


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
@pytest.mark.parametrize(("width", "size"), [(0, 3), (3, 3), (36, 5), (37, 5), (101, 1), (100, 99), (70, 0)])
def test_strips_of_every_length(width: int, size: int, dtype: str, contract: str) -> None:
    image = (np.random.default_rng(1).random((104, width)) * 200).astype(dtype)
    agree_at(BLUR, image, size, np.zeros((104, width)), target="c", contract=contract)


@pytest.mark.parametrize("taps", [1, 2, 90])
def test_windows_over_a_kernel_and_cells_in_memory(taps: int) -> None:
    x, h = np.random.default_rng(1).random((5, 140)), np.random.default_rng(2).random(taps)
    agree_at(CONVOLVE, x, h, np.zeros((5, 140)), target="c")


NOT_THE_SAME = """
def lags(x, y):
    for r in range(x.shape[0]):
        for i in range(x.shape[1]):
            total = 0.0
            for k in range(x.shape[1] - i):
                total += x[r, i + k]
            y[r, i] = total
"""
NO_WINDOW = """
def sums(x, w, y):
    for r in range(y.shape[0]):
        for i in range(y.shape[1]):
            total = 0.0
            for k in range(w.shape[1]):
                total += x[r, i] * w[r, k]
            y[r, i] = total
"""


@pytest.mark.parametrize("text", [NOT_THE_SAME, NO_WINDOW], ids=["lengths that differ", "no window"])
def test_other_loops_are_no_windows(text: str) -> None:
    plan = pv.compile(function_of(text), target="c").plan
    assert not [one for one in plan.decisions if one.step == "outer_vectors"]


def test_the_window_is_said() -> None:
    kernels = [pv.compile(function_of(BLUR), target=target) for target in ("c", "numba")]
    said = [one.text for kernel in kernels for one in kernel.plan.decisions if one.step == "outer_vectors"]
    assert len(said) == 2
    assert all("go through a window" in text for text in said)
    assert not [one for one in kernels[0].plan.decisions if "32 lanes" in one.text]
