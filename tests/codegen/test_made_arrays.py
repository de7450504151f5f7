"""The types of arrays that are made of values: those that NumPy and numba give them, or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import CodegenError
from tests.frontend.compiled import same_compiled
from tests.running import TARGETS, agree, function_of

if TYPE_CHECKING:
    from tests.conftest import Golden

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

COUNTED = """
def counted(A, B):
    C = A[:, :] + 1
    return C
"""
CUT_OFF = """
def cut_off(A, B):
    C = A[:, :] * B[:, :] / 7
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
        (SUM, ("int64", "float32")),
        (COUNTED, ("uint8", "uint8")),
        (CUT_OFF, ("uint8", "uint8")),
    ],
    ids=["number", "mixed", "bytes", "cut_off"],
)
def test_what_is_promoted_in_different_ways_has_to_be_said(text: str, dtypes: tuple[str, str]) -> None:
    with pytest.raises(CodegenError, match="is not clear") as caught:
        pv.compile(function_of(text), target="c")(*matrices(*dtypes))
    assert re.search(r"`\(\.\.\.\)\.astype\(np\.(float32|u?int\d+|bool_)\)`", str(caught.value))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("""
def gates(h, W):
    for t in range(3):
        f = 1.0 / (1 + np.exp(-h[:]))
        h = f * h
    return h
""", "f = 1.0 / (1 + np.exp(-h[:]))"),
        ("""
def update(h, W):
    for t in range(3):
        h = (np.eye(4) - W @ W) @ h
    return h
""", "h = (np.eye(4) - W @ W) @ h"),
        ("""
def halved(h, W):
    for t in range(3):
        h = h[:] * 0.5
    return h
""", "h = h[:] * 0.5"),
    ],
    ids=["the_cause", "no_name_of_ours", "no_false_word_of_numpy"],
)  # fmt: skip
def test_the_line_is_shown_that_has_to_change(text: str, line: str, golden: Golden) -> None:
    with pytest.raises(CodegenError) as caught:
        pv.compile(function_of(text), target="c")(np.ones(4, np.float32), np.ones((4, 4), np.float32))
    message = str(caught.value)
    assert line in message
    assert "factor" not in message
    golden(message)


@pytest.mark.parametrize("value", ["np.float32(A[:, :]) + 0.1", "A[:, :].astype(np.float32) * 2.0",
                                   "1 - np.int32(A[:, :])", "np.uint8(A[:, :]) * np.uint8(B[:, :]) / 7"])  # fmt: skip
def test_beside_what_was_converted_a_number_counts_for_nothing(value: str) -> None:
    with pytest.raises(CodegenError, match="is not clear"):
        pv.compile(function_of(f"def f(A, B):\n C = {value}\n return C"), target="python")(*matrices(*["float64"] * 2))


@pytest.mark.parametrize("value", ["np.float32(A[:, :] + 1)", "(A[:, :] > 3).astype(np.int64)",
                                   "A[:, :].astype(int) + 1", "np.float32(A[:, :]) * B[:, :]",
                                   "A[:, :] * np.float32(0.5)"])  # fmt: skip
def test_conversions_of_whole_arrays(value: str) -> None:
    given = dict(zip("AB", matrices("float64", "float64"), strict=True))
    same_compiled(function_of(f"def f(A, B):\n C = {value}\n return C"), given, "python", "strict")
