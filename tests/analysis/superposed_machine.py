"""Brute force for superposed schedules: every function is evaluated in Python, nothing is left to isl."""

from __future__ import annotations

import re
from itertools import zip_longest
from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from polyviz.model.superposition import Dimension, Superposition
    from tests.analysis.programs import Instance

Pair = tuple["Instance", "Instance"]


def broken(value: Superposition, pairs: Iterable[Pair], size: int) -> dict[str, set[Pair]]:
    """Per condition the dependent pairs that break it; statements iterate over ``i0`` and ``i1``."""
    machine = _Machine(value, size)
    found: dict[str, set[Pair]] = {name: set() for name in _BREAKS}
    for pair in pairs:
        for name, breaks in _BREAKS.items():
            if breaks(machine, *pair):
                found[name].add(pair)
    return found


class _Machine:
    def __init__(self, value: Superposition, size: int) -> None:
        self._value = value
        self._size = size

    def outer_time(self, instance: Instance) -> tuple[int, ...]:
        """When its kernel is launched."""
        return self._values(instance, [one for one in self._outer(instance) if one.axis is None])

    def outer_rows(self, instance: Instance) -> tuple[int, ...]:
        """Its untiled block rows."""
        rows = [one for one in self._outer(instance) if one.axis is not None]
        return tuple(self._evaluate(instance, one.expression) for one in rows)

    def block(self, instance: Instance) -> tuple[int, ...]:
        """Its block."""
        return self._values(instance, [one for one in self._outer(instance) if one.axis is not None])

    def regular(self, instance: Instance) -> tuple[int, ...]:
        """Its regular time."""
        return self._values(instance, self._value.regular[instance[0]])

    def superposed(self, instance: Instance) -> tuple[int, ...]:
        """Its superposed time."""
        return self._values(instance, self._value.superposed[instance[0]])

    def phase(self, instance: Instance) -> tuple[int, ...]:
        """What barriers separate: everything before its thread."""
        dimensions = self._value.regular[instance[0]]
        first = next(place for place, one in enumerate(dimensions) if one.axis is not None)
        return self._values(instance, dimensions[:first])

    def thread(self, instance: Instance) -> tuple[int, ...]:
        """Its thread."""
        dimensions = self._value.regular[instance[0]]
        return self._values(instance, [one for one in dimensions if one.axis is not None])

    def _outer(self, instance: Instance) -> tuple[Dimension, ...]:
        return self._value.outer[instance[0]]

    def _values(self, instance: Instance, dimensions: Iterable[Dimension]) -> tuple[int, ...]:
        return tuple(self._evaluate(instance, one.tiled_expression) for one in dimensions)

    def _evaluate(self, instance: Instance, expression: str) -> int:
        known = {f"i{place}": entry for place, entry in enumerate(instance[1])}
        text = re.sub(r"(\d)([a-z])", r"\1*\2", expression)
        return int(eval(text, {"floor": floor}, {**known, "n": self._size}))


def _same_launch(machine: _Machine, source: Instance, sink: Instance) -> bool:
    return machine.outer_time(source) == machine.outer_time(sink)


def _outer(machine: _Machine, source: Instance, sink: Instance) -> bool:
    rows = zip(machine.outer_rows(source), machine.outer_rows(sink), strict=False)
    return _same_launch(machine, source, sink) and any(first > second for first, second in rows)


def _regular(machine: _Machine, source: Instance, sink: Instance) -> bool:
    return not _before(machine.regular(source), machine.regular(sink))


def _kernels(machine: _Machine, source: Instance, sink: Instance) -> bool:
    return machine.outer_time(source) > machine.outer_time(sink)


def _blocks(machine: _Machine, source: Instance, sink: Instance) -> bool:
    return _same_launch(machine, source, sink) and machine.block(source) != machine.block(sink)


def _threads(machine: _Machine, source: Instance, sink: Instance) -> bool:
    together = _same_launch(machine, source, sink) and machine.phase(source) == machine.phase(sink)
    return together and machine.thread(source) != machine.thread(sink)


def _superposed(machine: _Machine, source: Instance, sink: Instance) -> bool:
    return not _before(machine.superposed(source), machine.superposed(sink))


def _before(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Lexicographic order, shorter tuples padded with zeros."""
    pairs = list(zip_longest(first, second, fillvalue=0))
    return [one for one, _ in pairs] < [other for _, other in pairs]


_BREAKS: dict[str, Callable[[_Machine, Instance, Instance], bool]] = {
    "outer": _outer,
    "regular": _regular,
    "kernels": _kernels,
    "blocks": _blocks,
    "threads": _threads,
    "superposed": _superposed,
}
