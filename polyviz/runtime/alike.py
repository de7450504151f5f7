"""Whether the arguments of a call are like those of an earlier one, compared in C.

Read through Python, the type, the shape and the place of an array take half a microsecond; a few comparisons in C take
a hundredth of that. Both NumPy's C API and Python's say where these are in memory, and this module, which asks for no
headers of either, makes sure that they are there before it relies on it.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.errors import ToolchainError
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.callee import TEXT, address_of
from polyviz.runtime.toolchain import find_toolchain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyviz.runtime.callee import Callee
    from polyviz.runtime.packed import Block

CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""Bits of ``ndarray.flags.num``, as NumPy's C API numbers them."""

NOT_RUN = -(2**63)
"""What ``AlikeCalls.run`` returns where the arguments, or where and how the call would run, are not as they were."""

_TEXT = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

static const int64_t not_run = INT64_MIN;

/* Where a part of its own begins in every object, and the items in a tuple. */
static int64_t header, first_item;
static const void *array_type;
static double (*real_of)(const void *);
static long long (*integer_of)(const void *, int *);
static void *(*leave_interpreter)(void);
static void (*enter_interpreter)(void *);

void learn(int64_t own, int64_t items, const void *arrays, double (*real)(const void *),
           long long (*integer)(const void *, int *), void *(*leave)(void), void (*enter)(void *))
{
    header = own;
    first_item = items;
    array_type = arrays;
    real_of = real;
    integer_of = integer;
    leave_interpreter = leave;
    enter_interpreter = enter;
}

/* What an array of NumPy has behind its header. */
struct array {
    uint64_t start;
    int rank;
    const intptr_t *extents, *strides;
    const void *base, *dtype;
    int flags;
};

union value {
    uint64_t bits;
    double real;
    float single;
};

static const void *type_of(const char *object)
{
    return *(const void *const *)(object + header - sizeof(void *));
}

/* Compares a tuple of arguments with what is known of them, and sets the values that may differ. */
int64_t set_if_alike(const int64_t *next, const char *arguments, union value *values)
{
    const char *const *items = (const char *const *)(arguments + first_item);
    const int64_t arrays = *next++;
    uint64_t starts[arrays + 1], ends[arrays + 1];
    for (int64_t number = 0; number < arrays; number++) {
        const char *object = items[*next++];
        const void *dtype = (const void *)(intptr_t)*next++;
        const int64_t flags = *next++, rank = *next++, has_strides = *next++;
        const struct array *array = (const struct array *)(object + header);
        if (type_of(object) != array_type || array->dtype != dtype || array->rank != rank)
            return 0;
        if ((array->flags & flags) != flags)
            return 0;
        for (int64_t axis = 0; axis < rank; axis++)
            if (array->extents[axis] != *next++)
                return 0;
        if (has_strides)
            for (int64_t axis = 0; axis < rank; axis++)
                if (array->strides[axis] != *next++)
                    return 0;
        starts[number] = array->start - *next++;
        ends[number] = starts[number] + *next++;
        for (int64_t left = *next++; left > 0; left--)
            values[*next++].bits = array->start;
    }
    for (int64_t left = *next++; left > 0; left--) {
        const int64_t one = *next++, other = *next++;
        if (starts[one] < ends[other] && starts[other] < ends[one])
            return 0;
    }
    for (int64_t left = *next++; left > 0; left--) {
        const char *object = items[*next++];
        const void *type = (const void *)(intptr_t)*next++;
        int overflow = 0;
        if (type_of(object) != type || integer_of(object, &overflow) != *next++ || overflow)
            return 0;
    }
    for (int64_t left = *next++; left > 0; left--) {
        const char *object = items[*next++];
        const void *type = (const void *)(intptr_t)*next++;
        const int64_t is_single = *next++, slots = *next++;
        if (type_of(object) != type)
            return 0;
        for (int64_t slot = 0; slot < slots; slot++) {
            const double number = real_of(object);
            union value *value = &values[*next++];
            if (is_single)
                value->single = (float)number;
            else
                value->real = number;
        }
    }
    return 1;
}
"""


@dataclass(frozen=True, slots=True)
class AlikeArray:
    """What has to hold for the array at one ``position`` of the arguments; its address goes to each of ``slots``.

    ``flags`` are those of NumPy's C API that have to be set; ``strides`` is None where they follow from the shape. It
    lies in ``bytes`` of memory, which begin ``ahead`` of its address where it goes backwards.
    """

    position: int
    dtype: np.dtype[Any]
    flags: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    ahead: int
    bytes: int
    slots: tuple[int, ...] = ()

    def encoded(self) -> list[int]:
        """The same as the C function reads it."""
        strides = [] if self.strides is None else list(self.strides)
        form = [id(self.dtype), self.flags, len(self.shape), self.strides is not None, *self.shape, *strides]
        return [self.position, *form, self.ahead, self.bytes, len(self.slots), *self.slots]


@dataclass(frozen=True, slots=True)
class AlikeNumber:
    """The type of a number that may differ from call to call; its value, of single precision or double, goes to each
    of ``slots``."""

    position: int
    kind: type[Any]
    is_single: bool = False
    slots: tuple[int, ...] = ()

    def encoded(self) -> list[int]:
        """The same as the C function reads it."""
        return [self.position, id(self.kind), self.is_single, len(self.slots), *self.slots]


class AlikeCalls:
    """What the arguments of calls have in common: these ``arrays``, of which those in ``conflicts`` may not share
    memory, these ``integers``, each with its position, and these ``numbers``. Needs ``can_compare()``."""

    def __init__(
        self,
        arrays: Sequence[AlikeArray],
        conflicts: Sequence[tuple[int, int]],
        integers: Sequence[tuple[int, Any]],
        numbers: Sequence[AlikeNumber],
    ) -> None:
        whole = [(position, id(type(value)), int(value)) for position, value in integers]
        parts = [[one.encoded() for one in arrays], conflicts, whole, [one.encoded() for one in numbers]]
        content = [number for part in parts for number in (len(part), *(value for one in part for value in one))]
        self._content = (ctypes.c_int64 * len(content))(*content)
        self._place = ctypes.addressof(self._content)
        self._kept = [one.dtype for one in arrays]  # Addresses are compared: nothing else may come to be there.
        functions = _functions()
        assert functions is not None
        self._set_if_alike, self._run_if_alike = functions.set_if_alike, functions.run_if_alike

    def set_if_alike(self, arguments: tuple[Any, ...], block: Block) -> bool:
        """Whether ``arguments``, of which there must be as many as before, are alike: then their values and addresses
        are in ``block``, and otherwise some may be."""
        return bool(self._set_if_alike(self._place, arguments, block.place))

    def run(self, arguments: tuple[Any, ...], block: Block, callee: Callee) -> int:
        """Call ``callee`` with the values of ``arguments`` where these are alike; what it returns, or ``NOT_RUN``."""
        status: int = self._run_if_alike(self._place, arguments, block.place, callee.place)
        return status


def can_compare() -> bool:
    """Whether there is a compiler, and an interpreter whose objects are known to be as they are read here."""
    return _functions() is not None


def note_team(core: int, size: int | None) -> None:
    """Calls from this thread may begin at once while it is on ``core``, which its team of ``size`` stays off."""
    functions = _functions()
    if functions is not None:
        functions.note_team(core, size or 0)


@lru_cache(maxsize=1)
def _functions() -> ctypes.PyDLL | None:
    toolchain = find_toolchain()
    if toolchain is None or not _is_as_known():
        return None
    try:
        # The interpreter's lock is held: nobody changes an argument meanwhile.
        library = ctypes.PyDLL(str(BuildCache().library(_TEXT + TEXT, toolchain).path))
    except (OSError, ToolchainError):
        return None
    python = ctypes.pythonapi
    numbers = (python.PyFloat_AsDouble, python.PyLong_AsLongLongAndOverflow)
    lock = (python.PyEval_SaveThread, python.PyEval_RestoreThread)
    library.learn.argtypes = [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 5]
    library.learn.restype = None
    library.learn(_HEADER, tuple.__basicsize__, id(np.ndarray), *map(address_of, (*numbers, *lock)))
    for function in (library.set_if_alike, library.run_if_alike):
        function.argtypes = [ctypes.c_void_p, ctypes.py_object, *[ctypes.c_void_p] * 2]
        function.restype = ctypes.c_int64
    library.set_if_alike.argtypes = library.set_if_alike.argtypes[:3]
    library.note_team.argtypes = [ctypes.c_int64] * 2
    library.note_team.restype = None
    return library


class _ArrayFields(ctypes.Structure):
    """``struct array`` of the text."""

    _fields_ = (
        ("start", ctypes.c_uint64),
        ("rank", ctypes.c_int),
        ("extents", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("base", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p),
        ("flags", ctypes.c_int),
    )


_HEADER = object.__basicsize__
_PROBE = np.zeros((4, 6), np.float32)


def _is_as_known() -> bool:
    """Whether this interpreter keeps types, tuples and arrays where the text looks for them."""
    if sys.implementation.name != "cpython" or np.ndarray.__basicsize__ < _HEADER + ctypes.sizeof(_ArrayFields):
        return False
    return all(_is_array_as_known(probe) for probe in (_PROBE, _PROBE[1:, 2:], _PROBE.T, np.arange(3)[::-1]))


def _is_array_as_known(array: NDArray[Any]) -> bool:
    arguments = (None, array)
    word = ctypes.sizeof(ctypes.c_void_p)
    item = ctypes.c_void_p.from_address(id(arguments) + tuple.__basicsize__ + word).value
    kind = ctypes.c_void_p.from_address(id(array) + _HEADER - word).value
    fields = _ArrayFields.from_address(id(array) + _HEADER)
    found = (item, kind, fields.start, fields.rank, fields.dtype, fields.flags)
    expected = (id(array), id(np.ndarray), array.ctypes.data, array.ndim, id(array.dtype), array.flags.num)
    if found != expected:
        return False
    extents, strides = (tuple(one[axis] for axis in range(array.ndim)) for one in (fields.extents, fields.strides))
    return extents == array.shape and strides == array.strides
