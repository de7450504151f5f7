"""Helpers that are written out ask for each choice once, in a constant in front of the assignment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import OutOfBoundsError
from tests.running import agree

if TYPE_CHECKING:
    from collections.abc import Callable

@numba.njit
def at(A, x, y, step):
    i = max(0, min(int(x // step), A.shape[0] - 2))
    j = max(0, min(int(y // step), A.shape[1] - 2))
    s = x / step - i
    t = y / step - j
    return (1 - s) * (1 - t) * A[i, j] + s * (1 - t) * A[i + 1, j] + (1 - s) * t * A[i, j + 1] + s * t * A[i + 1, j + 1]


def bilinear(A, x, y, step, out):
    for p in range(x.shape[0]):
        out[p] = at(A, x[p], y[p], step)


@numba.njit
def inside(i, n):
    return i + n if i < 0 else i - n if i >= n else i


def several(A, k, out, shared0):
    for p in range(out.shape[0]):
        for shared1 in range(3):
            out[p, shared1] += A[inside(k[p], 5)] * inside(k[p], 5) + shared0


def arguments(count: int = 40) -> tuple[object, ...]:
    random = np.random.default_rng(3)
    return random.random((6, 7)), random.random(count) * 7 - 1, random.random(count) * 8 - 1, 0.9, np.zeros(count)


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_a_helper_rounds_down_once(contract: str) -> None:
    kernel = agree(bilinear, *arguments(), target="c", contract=contract)
    lines = kernel.source[kernel.source.index("int64_t kernel_") :]
    assert lines.count("floor_div_f64(") == 2 * lines.count("for (int64_t p = ")  # one for each direction


def test_constants_stand_in_front_of_the_assignment(golden: Callable[..., None]) -> None:
    kernel = pv.compile(bilinear, target="c")
    golden(kernel.specialise(kernel.bind(arguments(), {}).types).text, "c")


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_no_constant_is_called_like_a_variable_of_the_source(contract: str) -> None:
    random = np.random.default_rng(4)
    k, out = random.integers(-5, 10, 30), random.random((30, 3))
    kernel = agree(several, random.random(5), k, out, 2, target="c", contract=contract)
    assert "const int64_t shared0_" in kernel.source


def test_a_row_out_of_range_is_reported_as_before() -> None:
    kernel = pv.compile(several, target="c")
    with pytest.raises(OutOfBoundsError, match=r"`A\[.*leaves its array"):
        kernel(np.ones(3), np.array([4]), np.zeros((1, 3)), 0)
