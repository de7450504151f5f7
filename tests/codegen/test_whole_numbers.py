"""Subscripts and bounds that data give have to be whole numbers, whatever the target."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import CodegenError
from tests.running import function_of

GATHER = """
    def gather(w, x, n):
        for i in range(n):
            x[i] = x[n - w[i]]
    """
RAGGED = """
    def ragged(w, x, n):
        for i in range(n):
            for k in range(w[i]):
                x[k] += 1.0
    """
MEANT = """
    def meant(w, x, n):
        for i in range(n):
            place = 0.0 + i
            x[i] += x[place]
    """
ROUNDED = """
    def rounded(w, x, n):
        for i in range(n):
            x[i] += x[int(w[i] / 2)]
    """


@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize(("text", "what"), [(GATHER, "subscript"), (RAGGED, "loop bound")])
def test_numbers_with_a_fraction_are_refused_with_the_array_that_holds_them(text: str, what: str, target: str) -> None:
    kernel = pv.compile(function_of(text), target=target)
    with pytest.raises(CodegenError, match=rf"A {what} must be a whole number, not `float64`\.") as refused:
        kernel(np.ones(3), np.arange(4.0), 3)
    assert refused.value.reason == "`w` holds float64."
    assert "w.astype(np.int64)" in refused.value.hint
    assert "^" in str(refused.value)


def test_a_truth_value_is_no_subscript_and_a_variable_with_a_fraction_is_none() -> None:
    with pytest.raises(CodegenError, match="not `bool`") as refused:
        pv.compile(function_of(GATHER.replace("n - w[i]", "w[i]")), target="python")(
            np.ones(3, bool), np.arange(4.0), 3
        )
    assert refused.value.reason == "`w` holds bool."
    with pytest.raises(CodegenError, match="not `float64`") as refused:
        pv.compile(function_of(MEANT), target="python")(np.ones(3), np.arange(4.0), 3)
    assert refused.value.reason == "`place` holds float64."
    assert refused.value.hint == "Write `int(...)` around the value, or `//` instead of `/`."


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint64", "float32"])
def test_whole_numbers_of_any_width_and_what_is_made_one_are_subscripts(dtype: str) -> None:
    text = ROUNDED if dtype == "float32" else GATHER
    weights, values, expected = np.array([3, 2, 1], dtype), np.arange(4.0), np.arange(4.0)
    pv.compile(function_of(text))(weights, values, 3)
    function_of(text)(weights.astype(int), expected, 3)
    np.testing.assert_array_equal(values, expected)
