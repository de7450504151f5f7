"""Library functions in vectors: declared where last bits may differ, with NaN and infinity as they were."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv

EXPONENTIALS = "def f(x, y):\n    for i in range(x.shape[0]):\n        y[i] = np.exp(x[i]) + np.sin(x[i])"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_special_values_keep_their_meaning(dtype: str) -> None:
    special = [np.nan, np.inf, -np.inf, 1000.0, -1000.0, 0.0, -0.0, 1e-40, 0.5, 3.0]
    x = np.array(special * 7, dtype)
    text = EXPONENTIALS.replace(" + np.sin(x[i])", "")
    y = np.zeros_like(x)
    kernel = pv.compile(text, target="c")
    kernel(x, y)
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(y, np.exp(x), rtol=4 * np.finfo(dtype).eps)


def test_functions_are_declared_once_each_and_only_where_bits_may_differ() -> None:
    x, y = np.linspace(-3, 3, 50), np.zeros(50)
    kernel = pv.compile(EXPONENTIALS, target="c")
    kernel(x, y)
    np.testing.assert_allclose(y, np.exp(x) + np.sin(x), rtol=1e-14)
    declared = [line for line in kernel.source.splitlines() if "simd(" in line]
    assert [line.partition(" double ")[2].partition(";")[0] for line in declared] == ["exp(double)", "sin(double)"]
    assert "simd(" not in pv.compile(EXPONENTIALS, target="c", contract="strict").source
