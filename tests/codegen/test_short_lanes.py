"""Sums of short integers in lanes of 32 bits, which are added to the whole before they can leave their range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.short_lanes import MOST
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain

if TYPE_CHECKING:
    from collections.abc import Callable

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
SHORT = "int32_t s_lanes"


def total(x, y):
    s = 7
    for i in range(x.shape[0]):
        s += x[i]
    return s


def less(x, y):
    s = 7
    for i in range(x.shape[0]):
        s -= x[i] * y[i]
    return s


def many(x, y):
    s = 0
    for i in range(x.shape[0]):
        if x[i] > y[0]:
            s += 1
    return s


def cubes(x, y):
    s = 0
    for i in range(x.shape[0]):
        s += x[i] * x[i] * y[i]
    return s


def gathered(x, y):
    s = 0
    for i in range(y.shape[0]):
        s += x[y[i]]
    return s


SHORTENED = {
    total: {"int8", "uint8", "int16", "uint16"},
    less: {"int8", "uint8"},
    many: {"int8", "uint8", "int16", "uint16"},
    cubes: {"int8"},
}


def text_of(function: Callable[..., Any], dtype: str) -> str:
    kernel = pv.compile(function, target="c", array_sums=False)
    return kernel.specialise({name: ArrayType(dtype, 1) for name in "xy"}).text


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64"])
@pytest.mark.parametrize("function", SHORTENED)
def test_where_lanes_are_short(function: Callable[..., Any], dtype: str) -> None:
    assert (SHORT in text_of(function, dtype)) == (dtype in SHORTENED[function])


def test_text_of_short_lanes(golden: Callable[..., None]) -> None:
    text = text_of(less, "uint8")
    golden(text[text.index("int64_t kernel_less(") :])


@needs_compiler
def test_subscripts_that_are_data_are_tested_all_the_same() -> None:
    kernel = pv.compile(gathered, target="c", array_sums=False)
    x, y = np.arange(200, dtype=np.uint8), np.arange(200, dtype=np.int64)[::-1].copy()
    assert kernel(x, y) == x.sum()
    assert len(kernel.program.failures) == 1
    y[150] = 200
    with pytest.raises(pv.OutOfBoundsError, match=r"`x\[.*leaves its array"):
        kernel(x, y)


@needs_compiler
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("function", SHORTENED)
def test_no_lane_leaves_its_range(function: Callable[..., Any], dtype: str) -> None:
    """The largest numbers only, and more of them than a lane of 32 bits could take in."""
    limits, kernel = np.iinfo(dtype), pv.compile(function, target="c", threads=1)
    for value in (limits.min, limits.max):
        for count in (0, 5, 64, 32 * MOST, 32 * (MOST + 1) - 1, 90 * MOST + 3, 2**22):
            x = np.full(count, value, dtype)
            y = np.full(max(count, 1), limits.max, dtype)
            sums = {
                total: 7 + int(value) * count,
                less: 7 - int(value) * int(limits.max) * count,
                many: int(value > limits.max) * count,
                cubes: int(value) ** 2 * int(limits.max) * count,
            }
            assert (kernel(x, y) - sums[function]) % 2**64 == 0, (value, count)  # 64 bits wrap, as in numba
