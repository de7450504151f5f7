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
from polyviz.runtime.alike import (
    ALIGNED,
    CONTIGUOUS,
    NOT_RUN,
    WRITEABLE,
    AlikeArray,
    AlikeCalls,
    AlikeNumber,
    can_compare,
)
from polyviz.runtime.arguments import LARGEST, SMALLEST, address, getter, native_type, number_type
from polyviz.runtime.data_bounds import values_in
from polyviz.runtime.execute import NativeRunner, is_addressable, maker_of
from polyviz.runtime.failures import failed_test
from polyviz.runtime.layouts import layout_notes
from polyviz.runtime.packed import Block, Blocks
from polyviz.runtime.residency import device
from polyviz.runtime.rows import as_handed_over

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from polyviz.model.cut_results import Cut
    from polyviz.model.program import Program, ProgramArgument
    from polyviz.runtime.bound import Bound

REMEMBERED = 64
"""How many combinations of sizes a kernel remembers."""
ALIKE = 4
"""How many kinds of calls with the same sizes: in single and in double precision, say."""

_FLOATS = (float, np.float64)
_INTEGERS = frozenset({np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64})
_NUMBERS = frozenset({int, *_FLOATS, np.float32, *_INTEGERS})

_Arguments = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Results:
    """The numbers that the function writes: for each its slot and type, and the position of the argument that it is at
    first, None where it starts as 0; ``handed`` are the places of what a call hands back among these and, behind them,
    the arguments of the call and the arrays made for it."""

    cells: tuple[tuple[int, type[Any], int | None], ...]
    handed: tuple[int, ...]
    is_tuple: bool
    cut: Cut | None

    def begun(self, arguments: _Arguments) -> list[Any]:
        """The numbers as they are before a call with ``arguments``."""
        return [kind(0 if position is None else arguments[position]) for _, kind, position in self.cells]

    def of(self, written: Sequence[Any], arguments: _Arguments) -> Any:
        """What the call hands back, when the function has ``written`` the numbers."""
        count = len(written)
        found = tuple([written[place].value if place < count else arguments[place - count] for place in self.handed])
        if self.cut is not None:
            return self.cut.applied(found)
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
    """One kind of call: what calls have in common that are ``alike``, and ``blocks`` of the values that the function is
    called with, but for addresses and floating-point numbers.

    It is for arrays whose elements are between the two numbers that ``elements`` has for their positions: those lead to
    no subscript out of range, and for the numbers ``telling`` sizes. The arrays at the positions ``restored`` are as
    before where a test fails all the same. ``layouts`` says which arrays are read through their strides.
    """

    runner: NativeRunner
    alike: AlikeCalls
    blocks: Blocks
    process: int
    elements: tuple[tuple[int, int, int], ...]
    results: _Results | None
    restored: tuple[int, ...]
    layouts: tuple[str, ...]
    made: tuple[_Made, ...]
    telling: tuple[tuple[int, Any], ...]

    @property
    def is_plain(self) -> bool:
        """Whether a call is no more than one of the function."""
        return not (self.elements or self.results or self.restored or self.made or self.telling)

    def ran(self, arguments: _Arguments) -> bool:
        """Whether the call was like those before in every way, and is over now."""
        block = self.blocks.taken()
        status = self.alike.run(arguments, block, self.runner.callee)
        self.blocks.give_back(block)
        if status > 0:
            raise failed_test(self.runner.program.failures[status - 1])
        return status != NOT_RUN and not self.runner.checked(status)

    def matched(self, arguments: _Arguments) -> Block | None:
        """The values to call the function with; None where something is not as it was."""
        block = self.blocks.taken()
        alike = self.alike.set_if_alike(arguments, block)
        alike = alike and all(arguments[position] == number for position, number in self.telling)
        if alike and (not self.elements or self._lead_inside(arguments)):
            return block
        self.blocks.give_back(block)
        return None

    def run(self, block: Block, arguments: _Arguments) -> Any:
        """Call the function with the values in ``block``; what a call with ``arguments`` hands back."""
        for local in self.made:
            # New ones for every call, which may hand them back.
            array = local.make()
            arguments = (*arguments, array)
            for slot in local.slots:
                block.slots[slot] = address(array)
        results = self.results
        if results is None:
            self._call(block, arguments)
            return None
        # Cells of its own for every call: another thread may be in the same kernel.
        written = results.begun(arguments)
        for (slot, _, _), cell in zip(results.cells, written, strict=True):
            block.slots[slot] = ctypes.addressof(cell)
        self._call(block, arguments)
        return results.of(written, arguments)

    def _call(self, block: Block, arguments: _Arguments) -> None:
        kept = [(arguments[position], arguments[position].copy()) for position in self.restored]
        status = self.runner.run_packed(block.place)
        self.blocks.give_back(block)
        if status:
            for array, before in kept:
                array[...] = before
            raise failed_test(self.runner.program.failures[status - 1])

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
    ``defaults`` are the values of the last arguments where a call leaves them out; those of ``telling`` tell sizes.
    """

    def __init__(
        self, names: Sequence[str], ranked: Sequence[str], written: Sequence[str], defaults: Sequence[Any] = (),
        telling: Sequence[str] = (),
    ) -> None:
        self.names = tuple(names)
        self.defaults = tuple(defaults)
        self.arrays = tuple(position for position, name in enumerate(names) if name in ranked)
        self.others = tuple(position for position, name in enumerate(names) if name not in ranked)
        self.written = frozenset(written)
        self.sizes = tuple(position for position in self.others if names[position] not in self.written)
        self.telling = tuple(position for position in self.others if names[position] in telling)
        self._known: dict[Hashable, tuple[_Prepared, ...]] = {}
        self._latest: _Prepared | None = None
        self._plain: _Prepared | None = None
        """The same, where calls like it are plain."""

    def run(self, arguments: _Arguments) -> tuple[Program, tuple[str, ...], Any] | None:
        """Run a call like one before: the program that ran, what is to be said of the layout of arrays, and the result;
        None where it has to go the usual way."""
        arguments = self._completed(arguments)
        if len(arguments) != len(self.names) or device.is_used:
            return None
        plain = self._plain
        if plain is not None and plain.ran(arguments):
            return plain.runner.program, plain.layouts, None
        found = self._alike(arguments)
        if found is None or os.getpid() != found[0].process:
            return None
        prepared, block = found
        self._latest, self._plain = prepared, prepared if prepared.is_plain else None
        return prepared.runner.program, prepared.layouts, prepared.run(block, arguments)

    def _alike(self, arguments: _Arguments) -> tuple[_Prepared, Block] | None:
        """What is prepared for calls like this one, and its values: most calls are like the latest one."""
        latest = self._latest
        block = None if latest is None else latest.matched(arguments)
        if latest is not None and block is not None:
            return latest, block
        try:
            known = self._known.get(self._key(arguments), ())
        except AttributeError:
            return None
        matched = ((prepared, prepared.matched(arguments)) for prepared in known if prepared is not latest)
        return next(((prepared, block) for prepared, block in matched if block is not None), None)

    def remember(self, arguments: _Arguments, bound: Bound, runner: object) -> None:
        """Prepare for calls like this one, which went well, where its kind can be told quickly."""
        if not isinstance(runner, NativeRunner) or not can_compare():
            return
        arguments = self._completed(arguments)
        if not arguments or len(arguments) != len(self.names) or not self._is_usual(arguments):
            return
        key = self._key(arguments)
        known = self._known.get(key, ())
        if len(known) >= ALIKE or self._alike(arguments) is not None:
            return
        if len(self._known) >= REMEMBERED:
            self._known.clear()
            self._latest = self._plain = None
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
        arrays = _at(self.arrays, arguments)
        return numbers and all(type(array) is np.ndarray and is_addressable(array) for array in arrays)

    def _key(self, arguments: _Arguments) -> Hashable:
        """Shapes, strides where these do not follow, and integers: what else follows from them was checked."""
        shapes = tuple([(one.shape, _strides(one)) for one in _at(self.arrays, arguments)])
        return (shapes, *map(_told, _at(self.sizes, arguments)), *_at(self.telling, arguments))

    def _prepared(self, arguments: _Arguments, bound: Bound, runner: NativeRunner) -> _Prepared | None:
        program = runner.program
        made = _makers(program, bound)
        alike = self._common(arguments, program)
        if made is None or alike is None:
            return None
        results = self._results(program, arguments, made)
        has_cells = any(argument.kind == "cell" for argument in program.arguments)
        if results is None and (has_cells or program.results or program.result_is_tuple):
            return None
        ranked = [self.names[position] for position in self.arrays]
        changed = program.written if program.checked else ()
        if not set(ranked).issuperset(changed):
            return None
        arrays = {**bound.given, **{one.name: one.make() for one in made}}
        handed = as_handed_over(program, arrays, bound.parameters)
        values = [
            0 if argument.kind == "cell" else getter(argument)(handed, {}, bound.parameters)
            for argument in program.arguments
        ]
        return _Prepared(
            runner,
            alike,
            Blocks(values, map(native_type, program.arguments)),
            os.getpid(),
            tuple((self.names.index(name), low, high) for name, low, high in bound.standing.values),
            results,
            tuple(self.names.index(name) for name in changed),
            layout_notes(bound.given, program.transposed),
            made,
            tuple(zip(self.telling, _at(self.telling, arguments), strict=True)),
        )

    def _common(self, arguments: _Arguments, program: Program) -> AlikeCalls | None:
        """What calls like the one with ``arguments`` have in common; None where a number of it is unusual."""
        arrays = [self._array(position, arguments[position], program.arguments) for position in self.arrays]
        whole = [position for position in self.sizes if type(arguments[position]) in (int, *_INTEGERS)]
        integers = [(position, arguments[position]) for position in whole]
        others = [position for position in self.others if position not in whole]
        numbers = [self._number(position, type(arguments[position]), program.arguments) for position in others]
        if None in numbers or not all(SMALLEST <= value <= LARGEST for _, value in integers):
            return None
        ranked = [self.names[position] for position in self.arrays]
        return AlikeCalls(arrays, self._conflicts(ranked), integers, [one for one in numbers if one is not None])

    def _number(self, position: int, kind: type[Any], arguments: Sequence[ProgramArgument]) -> AlikeNumber | None:
        """The floating-point number at ``position``, or one that the function writes, which has no slot."""
        name = self.names[position]
        slots = _slots(arguments, "scalar", name)
        dtypes = {arguments[slot].dtype for slot in slots}
        return AlikeNumber(position, kind, "float32" in dtypes, slots) if dtypes <= {"float32", "float64"} else None

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
        if not (cells or program.results or program.result_is_tuple) or not known.issuperset(program.results):
            return None
        handed = tuple(places.index(name) for name in program.results)
        return _Results(tuple(cells), handed, program.result_is_tuple, program.cut)

    def _array(self, position: int, array: Any, arguments: Sequence[ProgramArgument]) -> AlikeArray:
        name = self.names[position]
        flags = array.flags.num & CONTIGUOUS | ALIGNED | (WRITEABLE if name in self.written else 0)
        first, last = byte_bounds(array)
        # The function gets an address of something even where an array has no elements, and that is always the same.
        slots = _slots(arguments, "array", name) if array.size else ()
        apart = array.ctypes.data - first
        return AlikeArray(position, array.dtype, flags, array.shape, _strides(array), apart, last - first, slots)


def _at(positions: Sequence[int], arguments: _Arguments) -> list[Any]:
    return [arguments[position] for position in positions]


def _strides(array: NDArray[Any]) -> tuple[int, ...] | None:
    """None where they follow from the shape."""
    return None if array.flags.num & CONTIGUOUS else array.strides


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
