"""Cells of few bits against a number of 64: C compares in 32 bits, and every comparison means what it did."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

THRESHOLD = """
def threshold(I, O, t):
    for x in range(I.shape[0]):
        if I[x] {symbol} t:
            O[x] = 1
        else:
            O[x] = 0
"""
ALL = "def all_of_them(I, O, t):\n    for x in range(I.shape[0]):\n" + "".join(
    f"        O[{row}, x] = 1 if I[x] {symbol} t else 0\n"
    for row, symbol in enumerate((">", ">=", "<", "<=", "==", "!="))
)
SYMBOLS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
SYMBOLS |= {"==": operator.eq, "!=": operator.ne}


def text_of(dtype: str, text: str = THRESHOLD.format(symbol=">")) -> str:
    types = {"I": ArrayType(dtype, 1), "O": ArrayType("uint8", 1), "t": ArrayType("int64", 0)}
    return pv.compile(function_of(text), target="c").specialise(types).text


def test_the_number_is_brought_next_to_the_values_of_the_cells() -> None:
    equal = THRESHOLD.format(symbol="==")
    assert "if (I_[x] == clamped_i64(t, -1, 256)) {" in text_of("uint8", equal)
    assert "if (I_[x] == clamped_i64(t, -32769, 32768)) {" in text_of("int16", equal)


@pytest.mark.parametrize(
    ("symbol", "wanted"),
    [
        (">", "(t < 0) | (I_[x] > (uint8_t)clamped_i64(t, 0, 255))"),
        (">=", "(t <= 255) & (I_[x] >= (uint8_t)clamped_i64(t, 0, 255))"),
        ("<", "(t > 255) | (I_[x] < (uint8_t)clamped_i64(t, 0, 255))"),
        ("<=", "(t >= 0) & (I_[x] <= (uint8_t)clamped_i64(t, 0, 255))"),
    ],
)
def test_a_number_beyond_all_cells_decides_alone(symbol: str, wanted: str) -> None:
    assert f"if ({wanted}) {{" in text_of("uint8", THRESHOLD.format(symbol=symbol))


def test_a_number_on_the_left_is_compared_as_one_on_the_right() -> None:
    text = THRESHOLD.format(symbol=">").replace("I[x] > t", "t < I[x]")
    assert "if ((t < 0) | (I_[x] > (uint8_t)clamped_i64(t, 0, 255))) {" in text_of("uint8", text)


def test_wide_cells_are_compared_as_they_are() -> None:
    assert "clamped" not in text_of("int32")
    assert "clamped" not in text_of("float32")


def test_a_number_that_changes_stays_as_it_is() -> None:
    text = THRESHOLD.format(symbol=">").replace("O[x] = 1", "t = t + 1")
    assert "clamped" not in text_of("uint8", text)


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
def test_comparisons_mean_what_they_did(dtype: str) -> None:
    limits = np.iinfo(dtype)
    cells = np.array([limits.min, limits.min + 1, 0, 7, limits.max - 1, limits.max], dtype)
    kernel = pv.compile(function_of(ALL), target="c")
    far = (-(2**40), 2**40)
    for number in (*far, *(int(cell) + by for cell in cells for by in (-1, 0, 1))):
        found = np.zeros((len(SYMBOLS), len(cells)), np.uint8)
        kernel(cells, found, number)
        wanted = [[int(compare(int(cell), number)) for cell in cells] for compare in SYMBOLS.values()]
        assert found.tolist() == wanted, number
