"""Variables that stand for cells are of the type of their array."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

TEXT = """
def f(x, y, h):
    w = np.empty(2, dtype=np.KIND)
    for i in range(x.shape[0]):
        w[0] = x[i] * h
        for k in range(1):
            w[k + 1] = 1
            w[k + 1] += w[k]
        y[i] = w[1] * w[1]
"""


@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "int8"])
def test_what_is_stored_is_rounded_as_in_the_array(kind: str, target: str) -> None:
    kernel = pv.compile(function_of(TEXT.replace("KIND", kind)), target=target, contract="strict")
    assert "w" not in {array.name for array in kernel.scop.arrays}
    x, y = np.linspace(0.1, 9.7, 23), np.zeros(23)
    kernel(x, y, 1.7)
    first = (x * 1.7).astype(kind)
    second = (1 + first).astype(kind)
    wide = second if second.dtype.kind == "f" else second.astype("int64")
    np.testing.assert_array_equal(y, (wide * wide).astype("float64"))


def test_conversions_stand_where_types_differ_only(one_processor: None) -> None:
    texts = [
        pv.compile(function_of(TEXT.replace("KIND", kind)), target="numba").source for kind in ("float32", "float64")
    ]
    assert "w_0 = np.float32(x[" in texts[0]
    assert "w_1 = np.float32(w_1 + w_0)" not in texts[0]
    assert "np.float" not in texts[1]
    assert "w_1 = 1.0" in texts[1]


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_what_a_loop_copies_is_no_number_from_before_it(target: str) -> None:
    """Iterations of ``prange`` in numba 0.68 would leave 6 or 0 here, whatever ``x`` is."""
    text = """
    def f(x, y, z):
        for i in range(x.shape[0]):
            a = x[i]
            b = 6
            was = True
            more = True
            while b != 0:
                a, b = b, a % b
                was, more = more, a > 2
            y[i] = a
            z[i] = was
    """
    x = np.array([0, 4, 9, 6])
    y, z = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=bool)
    pv.compile(function_of(text), target=target)(x, y, z)
    assert y.tolist() == np.gcd(x, 6).tolist()
    expected = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=bool)
    function_of(text)(x, *expected)
    assert z.tolist() == expected[1].tolist()
