"""Calling a function of a shared library with NumPy arrays and numbers.

The caller is responsible for the signature: ctypes cannot check it, and a wrong one crashes the process. That is why
generated code runs in the worker process first.
"""

from __future__ import annotations

import ctypes
import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyviz.errors import ArgumentError, ToolchainError
from polyviz.runtime.callee import address_of
from polyviz.runtime.waiting import short_spinning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NativeValue = ctypes.c_void_p | ctypes.c_int64 | ctypes.c_double | ctypes.c_float


class NativeFunction:
    """An exported C function that returns ``int`` (0 for success by custom).

    Arguments are made with :func:`pointer`, :func:`integer`, :func:`real`, :func:`single` and :func:`strides`.
    With ``types`` it takes plain numbers, which ctypes converts to these.
    The interpreter lock is released during the call. Raises ToolchainError when the library cannot be loaded or lacks
    the symbol.
    """

    def __init__(self, path: Path | str, symbol: str, types: Sequence[type[Any]] | None = None) -> None:
        self.path = Path(path)
        self.symbol = symbol
        try:
            with short_spinning():
                library = ctypes.CDLL(str(path))
        except OSError as error:
            raise ToolchainError("The compiled library cannot be loaded.", reason=str(error)) from error
        try:
            function = getattr(library, symbol)
        except AttributeError as error:
            raise ToolchainError(
                f"The compiled library has no function `{symbol}`.", reason=str(error)
            ) from error
        function.restype = ctypes.c_int
        if types is not None:
            function.argtypes = list(types)
        self._function = function

    @property
    def address(self) -> int:
        """Where the function lies in memory."""
        return address_of(self._function)

    def __call__(self, *arguments: NativeValue | float) -> int:
        """Call the function; the status it returns."""
        return int(self._function(*arguments))


def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    """The address of the first element; the pointer keeps the array alive."""
    return array.ctypes.data_as(ctypes.c_void_p)


def integer(value: int) -> ctypes.c_int64:
    """A 64-bit integer. Raises ArgumentError when ``value`` does not fit: C would silently drop bits.

    >>> integer(7).value
    7
    """
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise ArgumentError(f"The integer {number} does not fit into 64 bits.")
    return ctypes.c_int64(number)


def real(value: float) -> ctypes.c_double:
    """A double-precision number."""
    return ctypes.c_double(value)


def single(value: float) -> ctypes.c_float:
    """A single-precision number."""
    return ctypes.c_float(value)


def strides(array: NDArray[Any]) -> tuple[ctypes.c_int64, ...]:
    """The distance between neighbours along each axis, in elements.

    Raises ArgumentError when a stride is not a whole number of elements (a view into a record, say).

    >>> import numpy
    >>> [stride.value for stride in strides(numpy.zeros((3, 4)).T)]
    [1, 4]
    """
    steps = []
    for axis, step in enumerate(array.strides):
        if step % array.itemsize:
            raise ArgumentError(
                f"Axis {axis} of the array steps {step} bytes, no multiple of its {array.itemsize}-byte elements.",
                hint="Pass a copy: numpy.ascontiguousarray(array).",
            )
        steps.append(integer(step // array.itemsize))
    return tuple(steps)
