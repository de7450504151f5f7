"""Private variables that only hold bytes: C keeps them in bytes, and computes with them as Python does."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.running import compiled_by_numba, function_of

TEXT = """
def worked_out(t, u):
    for i in range(t.shape[0]):
        c = t[i]
        if 97 <= c and c <= 122:
            u[i] = {}
        else:
            u[i] = c
"""
VALUES = [
    "c - 200", "-c", "~c", "c << 40", "c * c * c", "(c - 250) // 3", "(3 - c) % 7", "c > -1", "c - 300 < 0", "c ^ -1",
    "c / 7", "min(c, 100) - 101", "abs(c - 110)", "c ** 2",
]  # fmt: skip


def test_the_variable_is_a_byte() -> None:
    types = {"t": ArrayType("uint8", 1), "u": ArrayType("uint8", 1)}
    source = pv.compile(function_of(TEXT.format("c - 32")), target="c").specialise(types).text
    assert "        uint8_t c;\n" in source


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
def test_values_are_those_of_numba(value: str, dtype: str) -> None:
    function = function_of(TEXT.format(value))
    t = np.arange(256).astype(np.uint8)
    found, wanted = np.zeros(256, dtype), np.zeros(256, dtype)
    pv.compile(function, target="c")(t, found)
    compiled_by_numba(function, (t, wanted))(t, wanted)
    if dtype == "uint8" and "/ " in value:  # what a fraction below zero is as a byte is nobody's business
        return
    assert np.array_equal(found, wanted)
