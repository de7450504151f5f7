"""The types of arrays that are made of values: those that NumPy and numba give them, or none."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import CodegenError
from tests.running import TARGETS, agree, function_of

SUM = """
def total(A, B):
    C = A[:, :] + B[:, :]
    return C
"""
PRODUCT = """
def product(A, B):
    A[0, 0] += B[0, 0]
    C = A @ B
    return C
"""
SCALED = """
def scaled(A, B):
    C = 2.0 * A[:, :] - B[0, 0]
    return C
"""


def matrices(*dtypes: str) -> tuple[np.ndarray, ...]:
    data = np.random.default_rng(2)
    return tuple((10 * data.random((4, 4))).astype(dtype) for dtype in dtypes)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("text", "dtypes"),
    [
        (SUM, ("float64", "float64")),
        (SUM, ("float32", "float32")),
        (SUM, ("int64", "float64")),
        (SCALED, ("float64", "float64")),
    ],
    ids=["double", "single", "mixed", "scaled"],
)
def test_the_type_is_that_of_numba(text: str, dtypes: tuple[str, str], target: str) -> None:
    agree(text, *matrices(*dtypes), target=target)


@pytest.mark.slow
def test_products_keep_single_precision() -> None:
    agree(PRODUCT, *matrices("float32", "float32"), target="c")


@pytest.mark.parametrize(
    ("text", "dtypes"),
    [
        (SCALED, ("float32", "float32")),
        (SUM, ("uint8", "uint8")),
        (SUM, ("uint64", "int64")),
        (SUM, ("bool", "bool")),
        (SUM, ("int64", "float32")),
    ],
    ids=["number", "bytes", "unsigned", "truth", "mixed"],
)
def test_what_is_promoted_in_different_ways_has_to_be_said(text: str, dtypes: tuple[str, str]) -> None:
    with pytest.raises(CodegenError, match="is not clear") as caught:
        pv.compile(function_of(text), target="c")(*matrices(*dtypes))
    assert "np.empty(shape, dtype=np.float32)" in str(caught.value)
