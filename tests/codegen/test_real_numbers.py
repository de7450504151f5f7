"""Complex numbers are stored in complex arrays only, whatever the target, and the message shows where."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import CodegenError
from tests.running import function_of

TURNED = """
    def turned(z, x):
        for i in range(x.shape[0]):
            x[i] = 2.0 * z[i]
    """
ADDED = """
    def added(z, x):
        for i in range(x.shape[0]):
            x[0] += z[i]
    """
COMPARED = """
    def compared(z, x):
        for i in range(x.shape[0]):
            x[i] = 1.0 if z[i] < z[0] else 2.0
    """


@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize("text", [TURNED, ADDED])
def test_a_complex_number_in_a_real_array_is_refused_where_it_stands(text: str, target: str) -> None:
    kernel, real = pv.compile(function_of(text), target=target), np.zeros(3)
    with pytest.raises(CodegenError, match=r"A `complex128` value cannot be stored where `float64`") as refused:
        kernel(np.full(3, 1j), real)
    assert "x[" in str(refused.value)
    assert "dtype=complex" in refused.value.hint
    assert not real.any()


def test_an_operator_without_meaning_is_shown_where_it_stands() -> None:
    with pytest.raises(CodegenError, match="has no meaning for") as refused:
        pv.compile(function_of(COMPARED), target="numba")(np.full(3, 1j), np.zeros(3))
    assert "z[i] < z[0]" in str(refused.value)


def test_a_truth_value_where_a_number_is_wanted_is_refused_with_what_to_write() -> None:
    text = """
    def above(x):
        for i in range(x.shape[0]):
            x[i] = float(x[i] > 1.0)
    """
    with pytest.raises(CodegenError, match="`float` is not defined for `bool`") as refused:
        pv.compile(function_of(text), target="python")(np.zeros(3))
    assert "x[i]" in str(refused.value)
    assert "1.0 if condition else 0.0" in refused.value.hint
