"""Values of a call as plain numbers for a compiled function."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from polyviz.errors import ArgumentError
from polyviz.model.program import ProgramArgument
from polyviz.runtime.arguments import address, getter, native_type


def test_every_kind_of_argument() -> None:
    array = np.zeros((3, 4))[:, ::2]
    cell = np.zeros(1)
    values = {"A": array, "s": np.float32(1.5)}

    def value(argument: ProgramArgument) -> object:
        return getter(argument)(values, {"c": cell}, {"n": 7})

    assert value(ProgramArgument("array", "A", "float64")) == array.ctypes.data
    assert value(ProgramArgument("cell", "c", "float64")) == cell.ctypes.data
    assert value(ProgramArgument("parameter", "n")) == 7
    assert value(ProgramArgument("extent", "A", axis=1)) == 2
    assert [value(ProgramArgument("stride", "A", axis=axis)) for axis in (0, 1)] == [4, 2]
    assert value(ProgramArgument("scalar", "s", "float32")) == 1.5


def test_types() -> None:
    assert native_type(ProgramArgument("array", "A", "float64")) is ctypes.c_void_p
    assert native_type(ProgramArgument("scalar", "s", "float32")) is ctypes.c_float
    assert native_type(ProgramArgument("extent", "A")) is ctypes.c_int64


def test_an_array_without_elements_points_somewhere() -> None:
    assert address(np.zeros((0, 3)))


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ArgumentError, match="does not fit into 64 bits"):
        getter(ProgramArgument("parameter", "n"))({}, {}, {"n": 2**63})
