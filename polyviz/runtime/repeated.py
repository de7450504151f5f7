"""A call of a compiled function that is made again, as races and tuning do, on arrays of the same kind.

What a call needs is found anew each time by ``NativeRunner``, since nobody says that two calls are alike. Where one is
like the latest one, its values are at hand: in a race a user's quick calls are timed (``polyviz.runtime.quick_calls``),
and not the way to the first one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.runtime.alike import ALIGNED, NOT_RUN, AlikeArray, AlikeCalls, AlikeNumber, can_compare
from polyviz.runtime.arguments import LARGEST, SMALLEST, native_type
from polyviz.runtime.packed import Blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.program import Program
    from polyviz.runtime.execute import NativeRunner

    Values = Mapping[str, Any]

_REAL = (float, np.float64, np.float32)


class RepeatedCall:
    """Calls of ``program`` like the one with ``given`` and ``parameters``, for which it got the numbers ``native``."""

    def __init__(
        self, program: Program, given: Values, parameters: Mapping[str, int], native: Sequence[int | float]
    ) -> None:
        self._names = tuple(given)
        self._parameters = dict(parameters)
        places = {name: place for place, name in enumerate(given)}
        slots: dict[str, list[int]] = {name: [] for name in given}
        for slot, argument in enumerate(program.arguments):
            if argument.kind in ("array", "scalar"):
                slots[argument.name].append(slot)
        arrays = [
            AlikeArray(
                places[name], value.dtype, ALIGNED, value.shape, value.strides, 0, 0,
                tuple(slots[name]) if value.size else (),
            )
            for name, value in given.items()
            if isinstance(value, np.ndarray)
        ]  # fmt: skip
        whole = [(places[name], value) for name, value in given.items() if type(value) is int]
        single = {one.name for one in program.arguments if one.dtype == "float32"}
        numbers = [
            AlikeNumber(places[name], type(value), name in single, tuple(slots[name]))
            for name, value in given.items()
            if type(value) in _REAL
        ]
        self._alike = AlikeCalls(arrays, (), whole, numbers)
        self._blocks = Blocks(native, map(native_type, program.arguments))

    def run(self, runner: NativeRunner, given: Values, parameters: Mapping[str, int]) -> bool:
        """Run a call with ``given`` and ``parameters``; False where it is another kind of call, and nothing ran."""
        if tuple(given) != self._names or parameters != self._parameters:
            return False
        block, arguments = self._blocks.taken(), tuple(given.values())
        status = self._alike.run(arguments, block, runner.callee)
        if status == NOT_RUN and runner.is_at_home and self._alike.set_if_alike(arguments, block):
            status = runner.run_packed(block.place)  # its threads were elsewhere
        self._blocks.give_back(block)
        return status != NOT_RUN and not runner.checked(status)


def is_repeatable(program: Program, given: Values) -> bool:
    """Whether ``program`` does nothing to ``given``, of the usual kinds, but change arrays where they are."""
    if program.failures or program.results or program.result_is_tuple or program.locals or program.looked_at:
        return False
    if any(argument.kind == "cell" for argument in program.arguments) or not can_compare():
        return False
    real = {one.dtype for one in program.arguments if one.kind == "scalar" and type(given.get(one.name)) in _REAL}
    return real <= {"float32", "float64"} and all(map(_is_usual, given.values()))


def _is_usual(value: object) -> bool:
    if type(value) is np.ndarray:
        return bool(value.ndim and value.flags.aligned and value.dtype.isnative)
    return type(value) in _REAL or (type(value) is int and SMALLEST <= value <= LARGEST)
