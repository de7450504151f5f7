"""Calls like one that was checked before: only what can differ between two such calls is looked at again.

Argument types, ranks, bounds of affine subscripts and what the loops assume of sizes follow from the dtypes, shapes and
strides of the arrays and from the types of the numbers and the values of integers among the arguments. A call that has
these of an earlier one needs none of the tests again. Where arrays are, whether they may be written and whether they
share memory is different every time, and is checked, as are the elements that lead to subscripts: they must be between
those of the earlier call. Where the loops themselves test subscripts, arrays are kept to be restored, as in every call.
Numbers that are handed back are written to cells of the call's own, and the arrays that the source creates are made for
each call, where they depend on nothing but sizes. Whatever is unusual in any way is left to the usual
way, which says what is wrong with it.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from polyviz.model.expression import Element, Name, walk
from polyviz.runtime.arguments import address, getter, number_type
from polyviz.runtime.data_bounds import values_in
from polyviz.runtime.execute import NativeRunner, as_handed_over, is_addressable, maker_of
from polyviz.runtime.failures import failed_test
from polyviz.runtime.layouts import layout_notes
from polyviz.runtime.residency import device

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from polyviz.model.program import Program, ProgramArgument
    from polyviz.runtime.binding import Bound

REMEMBERED = 64
"""How many combinations of sizes a kernel remembers."""
ALIKE = 4
"""How many kinds of calls with the same sizes: in single and in double precision, say."""

_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
"""Bits of ``ndarray.flags.num``, as NumPy's C API numbers them."""
_FLOATS = (float, np.float64)
_INTEGERS = frozenset({np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64})
_NUMBERS = frozenset({int, *_FLOATS, np.float32, *_INTEGERS})

_Arguments = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Array:
    """What has to hold for one array argument; its address goes to each of ``slots``.

    It lies in ``bytes`` of memory, which begin ``ahead`` of its address where it goes backwards.
    """

    position: int
    dtype: np.dtype[Any]
    flags: int
    slots: tuple[int, ...]
    ahead: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Results:
    """The numbers that the function writes: for each its slot and type, and the position of the argument that it is at
    first, None where it starts as 0; ``handed`` are the places of what a call hands back among these and, behind them,
    the arguments of the call and the arrays made for it."""

    cells: tuple[tuple[int, type[Any], int | None], ...]
    handed: tuple[int, ...]
    is_tuple: bool

    def begun(self, arguments: _Arguments) -> list[Any]:
        """The numbers as they are before a call with ``arguments``."""
        return [kind(0 if position is None else arguments[position]) for _, kind, position in self.cells]

    def of(self, written: Sequence[Any], arguments: _Arguments) -> Any:
        """What the call hands back, when the function has ``written`` the numbers."""
        count = len(written)
        found = tuple([written[place].value if place < count else arguments[place - count] for place in self.handed])
        if self.is_tuple:
            return found
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class _Made:
    """An array that the source creates; its address goes to each of ``slots``."""

    name: str
    make: Callable[[], NDArray[Any]]
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One kind of call: the values that the function is called with, but for addresses and floating-point numbers.

    It is for arrays whose elements are between the two numbers that ``elements`` has for their positions: those lead to
    no subscript out of range. The arrays at the positions ``restored`` are as before where a test fails all the same.
    ``layouts`` says which arrays are read through their strides.
    """

    runner: NativeRunner
    values: tuple[Any, ...]
    arrays: tuple[_Array, ...]
    conflicts: tuple[tuple[int, int], ...]
    numbers: tuple[tuple[int, type, tuple[int, ...]], ...]
    process: int
    elements: tuple[tuple[int, int, int], ...]
    results: _Results | None
    restored: tuple[int, ...]
    layouts: tuple[str, ...]
    made: tuple[_Made, ...]

    def run(self, values: list[Any], arguments: _Arguments) -> Any:
        """Call the function with ``values``; what a call with ``arguments`` hands back."""
        for local in self.made:
            # New ones for every call, which may hand them back.
            array = local.make()
            arguments = (*arguments, array)
            for slot in local.slots:
                values[slot] = address(array)
        results = self.results
        if results is None:
            self._call(values, arguments)
            return None
        # Cells of its own for every call: another thread may be in the same kernel.
        written = results.begun(arguments)
        for (slot, _, _), cell in zip(results.cells, written, strict=True):
            values[slot] = ctypes.addressof(cell)
        self._call(values, arguments)
        return results.of(written, arguments)

    def _call(self, values: list[Any], arguments: _Arguments) -> None:
        kept = [(arguments[position], arguments[position].copy()) for position in self.restored]
        status = self.runner.run_native(values)
        if status:
            for array, before in kept:
                array[...] = before
            raise failed_test(self.runner.program.failures[status - 1])

    def native(self, arguments: _Arguments) -> list[Any] | None:
        """The values to call the function with; None where something is not as it was."""
        values, starts = list(self.values), []
        for found in self.arrays:
            array = arguments[found.position]
            if (
                type(array) is not np.ndarray
                or array.dtype is not found.dtype
                or array.flags.num & found.flags != found.flags
            ):
                return None
            start = address(array)
            starts.append(start - found.ahead)
            for slot in found.slots:
                values[slot] = start
        for first, second in self.conflicts:
            low, high = starts[first], starts[second]
            if low < high + self.arrays[second].bytes and high < low + self.arrays[first].bytes:
                return None
        for position, kind, slots in self.numbers:
            if type(arguments[position]) is not kind:
                return None
            for slot in slots:
                values[slot] = arguments[position]
        return values if not self.elements or self._lead_inside(arguments) else None

    def _lead_inside(self, arguments: _Arguments) -> bool:
        """Whether the elements that subscripts depend on are between those of the call before."""
        for position, least, greatest in self.elements:
            low, high = values_in(arguments[position])
            if low < least or high > greatest:
                return False
        return True


class QuickCalls:
    """The kinds of calls that one kernel has checked, with arguments of these ``names``, those in ``ranked`` arrays.

    ``written`` are the arrays whose content changes, and the numbers that do: nothing is checked of the latter.
    ``defaults`` are the values of the last arguments where a call leaves them out.
    """

    def __init__(
        self, names: Sequence[str], ranked: Sequence[str], written: Sequence[str], defaults: Sequence[Any] = ()
    ) -> None:
        self.names = tuple(names)
        self.defaults = tuple(defaults)
        self.arrays = tuple(position for position, name in enumerate(names) if name in ranked)
        self.others = tuple(position for position, name in enumerate(names) if name not in ranked)
        self.written = frozenset(written)
        self.sizes = tuple(position for position in self.others if names[position] not in self.written)
        self._known: dict[Hashable, tuple[_Prepared, ...]] = {}

    def run(self, arguments: _Arguments) -> tuple[Program, tuple[str, ...], Any] | None:
        """Run a call like one before: the program that ran, what is to be said of the layout of arrays, and the result;
        None where it has to go the usual way."""
        arguments = self._completed(arguments)
        try:
            known = self._known.get(self._key(arguments), ())
        except (AttributeError, IndexError, TypeError):
            return None
        for prepared in known:
            if device.is_used or os.getpid() != prepared.process:
                return None
            values = prepared.native(arguments)
            if values is not None:
                return prepared.runner.program, prepared.layouts, prepared.run(values, arguments)
        return None

    def remember(self, arguments: _Arguments, bound: Bound, runner: object) -> None:
        """Prepare for calls like this one, which went well, where its kind can be told quickly."""
        if not isinstance(runner, NativeRunner):
            return
        arguments = self._completed(arguments)
        if not arguments or len(arguments) != len(self.names) or not self._is_usual(arguments):
            return
        key = self._key(arguments)
        known = self._known.get(key, ())
        if len(known) >= ALIKE or any(prepared.native(arguments) for prepared in known):
            return
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        prepared = self._prepared(arguments, bound, runner)
        if prepared is not None:
            self._known[key] = (*known, prepared)

    def _completed(self, arguments: _Arguments) -> _Arguments:
        """``arguments`` and the defaults of those that are left out."""
        missing = len(self.names) - len(arguments)
        return (*arguments, *self.defaults[-missing:]) if 0 < missing <= len(self.defaults) else arguments

    def _is_usual(self, arguments: _Arguments) -> bool:
        """Whether these are NumPy's own arrays, which generated code reads where they are, and Python's or NumPy's
        numbers."""
        numbers = all(type(arguments[position]) in _NUMBERS for position in self.others)
        arrays = [arguments[position] for position in self.arrays]
        return numbers and all(type(array) is np.ndarray and is_addressable(array) for array in arrays)

    def _key(self, arguments: _Arguments) -> Hashable:
        """Shapes, strides where these do not follow, and integers: what else follows from them was checked.

        IndexError for a wrong number of arguments.
        """
        if not arguments or len(arguments) != len(self.names):
            raise IndexError
        arrays = [arguments[position] for position in self.arrays]
        shapes = tuple(
            [one.shape if one.flags.num & _CONTIGUOUS else (one.shape, one.strides) for one in arrays]
        )
        integers = [_told(arguments[position]) for position in self.sizes]
        return (shapes, *integers) if integers else shapes

    def _prepared(self, arguments: _Arguments, bound: Bound, runner: NativeRunner) -> _Prepared | None:
        program = runner.program
        made = _makers(program, bound)
        if made is None:
            return None
        results = self._results(program, arguments, made)
        has_cells = any(argument.kind == "cell" for argument in program.arguments)
        if results is None and (has_cells or program.results or program.result_is_tuple):
            return None
        ranked = [self.names[position] for position in self.arrays]
        changed = program.written if program.checked else ()
        if not set(ranked).issuperset(changed):
            return None
        handed = {**as_handed_over(program, bound.given), **{one.name: one.make() for one in made}}
        values = [
            0 if argument.kind == "cell" else getter(argument)(handed, {}, bound.parameters)
            for argument in program.arguments
        ]
        arrays = [self._array(position, arguments[position], program.arguments) for position in self.arrays]
        numbers = [
            (position, type(arguments[position]), _slots(program.arguments, "scalar", self.names[position]))
            for position in self.others
            if position not in self.sizes or type(arguments[position]) not in (int, *_INTEGERS)
        ]
        looked_at = tuple((self.names.index(name), low, high) for name, low, high in bound.standing.values)
        return _Prepared(
            runner,
            tuple(values),
            tuple(arrays),
            self._conflicts(ranked),
            tuple(numbers),
            os.getpid(),
            looked_at,
            results,
            tuple(self.names.index(name) for name in changed),
            layout_notes(bound.given, program.transposed),
            made,
        )

    def _conflicts(self, ranked: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """The places of arrays of which one is written, so that they must not share memory."""
        return tuple(
            (first, second)
            for second in range(len(ranked))
            for first in range(second)
            if not self.written.isdisjoint((ranked[first], ranked[second]))
        )

    def _results(self, program: Program, arguments: _Arguments, made: Sequence[_Made]) -> _Results | None:
        """What a call with ``arguments`` hands back, where that is numbers and arrays; None where there is more."""
        cells, names = [], []
        for slot, argument in enumerate(program.arguments):
            if argument.kind != "cell":
                continue
            kind = number_type(argument.dtype)
            position = self.names.index(argument.name) if argument.name in self.names else None
            if kind is None or (position is not None and not _holds(kind, arguments[position])):
                return None
            cells.append((slot, kind, position))
            names.append(argument.name)
        created = [one.name for one in made]
        places = (*names, *self.names, *created)
        known = {*names, *(self.names[position] for position in self.arrays), *created}
        if not (cells or program.results) or not known.issuperset(program.results):
            return None
        handed = tuple(places.index(name) for name in program.results)
        return _Results(tuple(cells), handed, program.result_is_tuple)

    def _array(self, position: int, array: Any, arguments: Sequence[ProgramArgument]) -> _Array:
        name = self.names[position]
        flags = array.flags.num & _CONTIGUOUS | _ALIGNED | (_WRITEABLE if name in self.written else 0)
        first, last = byte_bounds(array)
        return _Array(
            position, array.dtype, flags, _slots(arguments, "array", name), array.ctypes.data - first, last - first
        )


def _makers(program: Program, bound: Bound) -> tuple[_Made, ...] | None:
    """What makes the arrays that the source creates; None where these depend on more than sizes."""
    made = []
    for local in program.locals:
        parts = [*local.extents, *([] if local.fill is None else [local.fill])]
        nodes = [node for part in parts for node in walk(part)]
        names = {node.name for node in nodes if isinstance(node, Name)}
        known = names.issubset(bound.parameters) and local.name not in program.transposed
        if not known or any(isinstance(node, Element) for node in nodes):
            return None
        slots = _slots(program.arguments, "array", local.name)
        made.append(_Made(local.name, maker_of(local, bound.parameters), slots))
    return tuple(made)


def _told(number: Any) -> Hashable:
    """What a call is known by of one of its numbers: integers may be sizes, of other numbers only the type counts."""
    kind: type = type(number)
    if kind is int:
        whole: int = number
        return whole
    return (kind, int(number)) if kind in _INTEGERS else kind


def _holds(kind: type[Any], value: object) -> bool:
    """Whether a variable of the C type ``kind`` is just what ``value`` is."""
    return type(value) in _FLOATS if kind is ctypes.c_double else kind is ctypes.c_int64 and type(value) is int


def _slots(arguments: Sequence[ProgramArgument], kind: str, name: str) -> tuple[int, ...]:
    return tuple(
        slot for slot, argument in enumerate(arguments) if argument.kind == kind and argument.name == name
    )
