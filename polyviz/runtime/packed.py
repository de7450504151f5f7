"""Compiled functions that take all their values from one block of memory.

ctypes converts the values of a call one by one, each by the type it was told, which takes longer than a small kernel
does. A second entry, compiled with the function, finds them one behind the other, eight bytes each.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz.runtime.arguments import native_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from polyviz.model.program import Program

_C_TYPES: dict[type[Any], str] = {
    ctypes.c_void_p: "void *",
    ctypes.c_double: "double",
    ctypes.c_float: "float",
    ctypes.c_int8: "int8_t",
    ctypes.c_int16: "int16_t",
    ctypes.c_int32: "int32_t",
    ctypes.c_int64: "int64_t",
    ctypes.c_uint8: "uint8_t",
    ctypes.c_uint16: "uint16_t",
    ctypes.c_uint32: "uint32_t",
    ctypes.c_uint64: "uint64_t",
}
_FORMATS: dict[type[Any], str] = {ctypes.c_double: "=d", ctypes.c_float: "=f4x"}
_ALL_BITS = 2**64 - 1

# The address of the function is volatile so that no compiler makes a second copy of it here.
_ENTRY = """
#include <stdint.h>

int64_t {name}(const union {{ uint64_t bits; double real; float single; }} *values)
{{
    int64_t (*volatile run)({types}) = (int64_t (*)({types})){function};
    return run({values});
}}
"""


def entry_name(program: Program) -> str:
    """What the second entry of ``program`` is called."""
    return f"{program.name}_of_values"


def with_entry(program: Program) -> str:
    """The text of a C ``program`` with the second entry at its end.

    >>> from polyviz.model.program import Program, ProgramArgument
    >>> arguments = (ProgramArgument("parameter", "n", "int64"), ProgramArgument("scalar", "x", "float32"))
    >>> print(with_entry(Program("c", "kernel_f", "", arguments, {}, {})).strip().splitlines()[-2].strip())
    return run((int64_t)values[0].bits, values[1].single);
    """
    types = [_C_TYPES[native_type(argument)] for argument in program.arguments]
    entry = _ENTRY.format(
        name=entry_name(program),
        types=", ".join(types) or "void",
        function=program.name,
        values=", ".join(_value(place, kind) for place, kind in enumerate(types)),
    )
    return f"{program.text}{entry}"


def _value(place: int, kind: str) -> str:
    match kind:
        case "double":
            return f"values[{place}].real"
        case "float":
            return f"values[{place}].single"
        case "void *":
            return f"(void *)(uintptr_t)values[{place}].bits"
    return f"({kind})values[{place}].bits"


@dataclass(frozen=True, slots=True)
class Block:
    """The values of one call, ``slots`` of eight bytes, which begin at ``place``."""

    slots: ctypes.Array[ctypes.c_uint64]
    place: int


class Blocks:
    """Blocks for calls with these ``values`` of these ``types``, each for one call at a time; the call changes some.

    >>> blocks = Blocks((-1, 2.5), (ctypes.c_int64, ctypes.c_double))
    >>> block = blocks.taken()
    >>> block.slots[0] == 2**64 - 1, ctypes.c_double.from_address(block.place + 8).value
    (True, 2.5)
    """

    def __init__(self, values: Sequence[int | float], types: Iterable[type[Any]]) -> None:
        packed = [_packed(value, kind) for value, kind in zip(values, types, strict=True)]
        self._size = len(packed)
        self._content = b"".join(packed)
        self._spare: list[Block] = []

    def taken(self) -> Block:
        """A block that nobody uses: another thread may be in the same function."""
        try:
            return self._spare.pop()
        except IndexError:
            slots = (ctypes.c_uint64 * self._size).from_buffer_copy(self._content)
            return Block(slots, ctypes.addressof(slots))

    def give_back(self, block: Block) -> None:
        """``block`` may serve another call."""
        self._spare.append(block)


def _packed(value: float, kind: type[Any]) -> bytes:
    if kind in _FORMATS:
        return struct.pack(_FORMATS[kind], value)
    return struct.pack("=Q", int(value) & _ALL_BITS)
