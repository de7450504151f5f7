"""Differences of products that are compared with zero keep the zeros of the original under the default contract."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.cancelling import asks_for_zero
from polyviz.codegen.typing import Environment
from tests.running import function_of

DETERMINANT = """
    def invert(A, o):
        for i in range(A.shape[0]):
            det = A[i, 0] * A[i, 3] - A[i, 1] * A[i, 2]
            o[i] = 1.0 / det if det != 0.0 else 0.0
    """
NORMALS = """
    def normals(A, o):
        for i in range(A.shape[0]):
            x = A[i, 0] * A[i, 3] - A[i, 1] * A[i, 2]
            y = A[i, 1] * A[i, 2] - A[i, 3] * A[i, 0]
            length = np.sqrt(x ** 2 + y ** 2)
            if length > 0:
                o[i] = x / length
    """
LOOP = "for i in range(n):\n    d = {}\n    if {}:\n        o[i] = d\n"
FOUND = {
    "discriminant": ("b[i] * b[i] - 4 * a[i] * c[i]", "d >= 0"),
    "variance": ("s[i] / n - (a[i] / n) ** 2", "d > 0.0"),
    "turned": ("a[i] * b[i] - b[i] * c[i]", "0 == d"),
    "size": ("a[i] * b[i] - b[i] * c[i]", "abs(d) > 0"),
    "sum of such": ("(a[i] - c[i]) + (a[i] * b[i] - b[i] * c[i])", "d < 0"),
}
OTHERS = {
    "tolerance": ("a[i] * b[i] - b[i] * c[i]", "abs(d) > 1e-12"),
    "one product": ("a[i] - b[i] * c[i]", "d > 0"),
    "sum": ("a[i] * a[i] + b[i] * b[i]", "d > 0"),
    "quotient": ("a[i] / (a[i] * b[i] - b[i] * c[i])", "d > 0"),
    "other": ("a[i] * b[i] - b[i] * c[i]", "a[i] > 0"),
}
TYPES = dict.fromkeys(["a", "b", "c", "s", "o", "d"], "float64")


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("text", [DETERMINANT, NORMALS])
def test_what_is_zero_stays_zero(text: str, target: str) -> None:
    x, y = np.random.default_rng(3).random((2, 300))
    A, o, expected = np.stack([x, y, x, y], axis=1), np.zeros(300), np.zeros(300)
    original = function_of(text)
    original(A, expected)
    kernel = pv.compile(original, target=target)
    kernel(A, o)
    assert not expected.any()
    assert not o.any()
    assert "whether a difference of products is zero" in str(kernel.report())


@pytest.mark.parametrize("case", FOUND)
def test_differences_that_are_compared_with_zero_are_found(case: str) -> None:
    part = pv.extract(LOOP.format(*FOUND[case]))
    assert asks_for_zero(part, Environment(TYPES))
    assert not asks_for_zero(part, Environment(dict.fromkeys(TYPES, "int64"))) or case == "variance"


@pytest.mark.parametrize("case", OTHERS)
def test_others_may_be_fused(case: str) -> None:
    assert not asks_for_zero(pv.extract(LOOP.format(*OTHERS[case])), Environment(TYPES))
