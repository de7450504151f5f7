"""What a compiled function is called with: per argument, decided once, how its value comes from those of a call.

A call of a small kernel takes a few microseconds, so the conversions must not take longer: ctypes converts plain
numbers by the types it was told, which is several times faster than making its objects in Python.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyviz.model.program import ProgramArgument

Values = Mapping[str, Any]
Getter = Callable[[Values, Mapping[str, "NDArray[Any]"], Mapping[str, int]], "int | float"]
"""The value of one argument from the call's arguments, the cells of written scalars, and the sizes."""
SMALLEST, LARGEST = -(2**63), 2**63 - 1

_BY_VALUE: dict[str, type[Any]] = {
    "bool": ctypes.c_uint8,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}
_NOWHERE = np.zeros(8)
"""What an array without elements points to: C has no arrays of length zero."""


def native_type(argument: ProgramArgument) -> type[Any]:
    """The type that ctypes converts the argument to."""
    if argument.kind in ("array", "cell"):
        return ctypes.c_void_p
    return _BY_VALUE[argument.dtype] if argument.kind == "scalar" else ctypes.c_int64


def number_type(dtype: str) -> type[Any] | None:
    """The type of ctypes for one number that C writes and Python reads back as it is; None where there is none.

    >>> number_type("float32")(0.5).value, number_type("bool")(1).value, number_type("complex128")
    (0.5, True, None)
    """
    return ctypes.c_bool if dtype == "bool" else _BY_VALUE.get(dtype)


def getter(argument: ProgramArgument) -> Getter:
    """How the value of ``argument`` comes from those of a call."""
    name, axis = argument.name, argument.axis
    match argument.kind:
        case "parameter":
            return lambda _values, _cells, parameters: _fitting(parameters[name])
        case "cell":
            return lambda _values, cells, _parameters: address(cells[name])
        case "array":
            return lambda values, _cells, _parameters: address(values[name])
        case "extent":
            return lambda values, _cells, _parameters: int(values[name].shape[axis])
        case "stride":
            return lambda values, _cells, _parameters: _step(values[name], axis)
    return lambda values, _cells, _parameters: _number(values[name])


def address(array: NDArray[Any]) -> int:
    """Where the first element of ``array`` is; the caller keeps the array alive.

    >>> address(np.zeros(0)) != 0
    True
    """
    return _start_of(array if array.size else _NOWHERE)


def _told_address(array: NDArray[Any]) -> int:
    """The address as NumPy tells it, in ten times the time of reading it."""
    found: int = array.__array_interface__["data"][0]
    return found


def _read_address(array: NDArray[Any]) -> int:
    """The address read where NumPy's C API keeps it: in the first field of an array behind the header of the object."""
    return _pointer_at(id(array) + _HEADER).value or 0


def _can_be_read() -> bool:
    """Whether this interpreter keeps arrays as NumPy's C API says, which one of another kind need not do."""
    if sys.implementation.name != "cpython" or sys.version_info < (3, 10):
        return False
    probes = (_NOWHERE, _NOWHERE[3:], np.zeros((2, 3)).T)
    return all(_read_address(probe) == _told_address(probe) for probe in probes)


_pointer_at = ctypes.c_void_p.from_address
_HEADER = object.__basicsize__
_start_of = _read_address if _can_be_read() else _told_address


def _number(value: Any) -> int | float:
    number: int | float = value.item() if isinstance(value, np.generic | np.ndarray) else value
    return number


def _fitting(number: int) -> int:
    """``number``; ctypes would silently drop bits of one that does not fit."""
    if not SMALLEST <= number <= LARGEST:
        raise ArgumentError(f"The integer {number} does not fit into 64 bits.")
    return number


def _step(array: NDArray[Any], axis: int) -> int:
    """The distance between neighbours along one axis, in elements, of which it is a whole number (``plain_arrays``)."""
    return int(array.strides[axis]) // array.itemsize
