from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import numpy as np
import pytest

from polyviz.errors import ArgumentError, ToolchainError
from polyviz.runtime.native import NativeFunction, integer, pointer, real, single, strides

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCALE = """
#include <stdint.h>
int scale(double *A, int64_t n, int64_t m, int64_t down, int64_t right, double factor, float addend)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            A[i * down + j * right] = A[i * down + j * right] * factor + addend;
    return n == 0 ? 5 : 0;
}
"""


@pytest.mark.parametrize(
    "view",
    [
        lambda array: array,
        lambda array: array.T,
        lambda array: array[::-1, ::2],
        np.asfortranarray,
    ],
    ids=["c", "transposed", "reversed", "fortran"],
)
def test_arrays_of_any_layout_are_changed_in_place(view, build: Callable[[str], str]) -> None:
    scale = NativeFunction(build(SCALE), "scale")
    array = view(np.arange(12.0).reshape(3, 4))
    expected = array * 2.5 + 0.5
    rows, columns = array.shape
    status = scale(pointer(array), integer(rows), integer(columns), *strides(array), real(2.5), single(0.5))
    assert status == 0
    np.testing.assert_array_equal(array, expected)


def test_the_status_of_the_function_comes_back(build: Callable[[str], str]) -> None:
    array = np.zeros((0, 3))
    scale = NativeFunction(build(SCALE), "scale")
    assert scale(pointer(array), integer(0), integer(3), *strides(array), real(1.0), single(0.0)) == 5


def test_a_pointer_keeps_its_array_alive(build: Callable[[str], str]) -> None:
    address = pointer(np.full((1, 3), 4.0))
    gc.collect()
    scale = NativeFunction(build(SCALE), "scale")
    assert scale(address, integer(1), integer(3), integer(3), integer(1), real(1.0), single(0.0)) == 0


def test_a_symbol_that_is_missing(build: Callable[[str], str]) -> None:
    with pytest.raises(ToolchainError, match=r"^The compiled library has no function `scales`\."):
        NativeFunction(build(SCALE), "scales")


def test_a_library_that_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "bad.so").write_bytes(b"not a library")
    with pytest.raises(ToolchainError, match=r"^The compiled library cannot be loaded\.\n  Why: .*bad\.so"):
        NativeFunction(tmp_path / "bad.so", "f")


def test_an_integer_that_does_not_fit() -> None:
    assert integer(-(2**63)).value == -(2**63)
    with pytest.raises(ArgumentError, match=r"^The integer 9223372036854775808 does not fit into 64 bits\.$"):
        integer(2**63)


def test_a_stride_that_is_no_multiple_of_the_element() -> None:
    field = np.zeros(3, dtype=[("a", "f8"), ("b", "i4")])["a"]
    with pytest.raises(
        ArgumentError, match=r"^Axis 0 of the array steps 12 bytes, no multiple of its 8-byte elements\."
    ):
        strides(field)
