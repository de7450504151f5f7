"""When the drawn instances run on a device, and which threads run them together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.warp_access import WARP
from polyviz.views.linked_points import values_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device_view import PlaceRule
    from polyviz.views.linked_points import Instances
    from polyviz.views.linked_schema import LinkedPlacesModel

_OUTPUT = isl.dim_type.out
_AXES = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class _Place:
    """One instance: what decides when it runs, in this order, and the lane of its thread."""

    launch: tuple[int, ...]
    kernel: int
    block: tuple[int, ...]
    time: tuple[int, ...]
    warp: int
    lane: int

    @property
    def step(self) -> tuple[tuple[int, ...], int, tuple[int, ...], tuple[int, ...], int]:
        """Equal for what the threads of a warp run together; blocks come one after the other, z outermost."""
        return self.launch, self.kernel, self.block[::-1], self.time, self.warp


def places_model(
    rules: Sequence[PlaceRule], bound: isl.Set, drawn: Mapping[str, Instances]
) -> LinkedPlacesModel | None:
    """The steps of all ``drawn`` instances; None where ``rules`` do not cover them all."""
    by_statement = {rule.statement: rule for rule in rules}
    try:
        placed = {name: _places(by_statement[name], bound, shown) for name, shown in drawn.items()}
    except KeyError:
        return None
    steps = sorted({place.step for places in placed.values() for place in places})
    numbers = {step: number for number, step in enumerate(steps)}
    return {
        "steps": [[kernel, *block[::-1], warp] for _, kernel, block, _, warp in steps],
        "at": {name: [[numbers[one.step], one.lane] for one in places] for name, places in placed.items()},
    }


def _places(rule: PlaceRule, bound: isl.Set, drawn: Instances) -> list[_Place]:
    rows = [row for _, _, row in (*rule.blocks, *rule.threads)]
    parts = [rule.launch, rule.order, *rows]
    ends = _ends([part.dim(_OUTPUT) for part in parts])
    together = reduce(isl.Map.flat_range_product, [part.intersect_params(bound) for part in parts])
    found = [[values[start:end] for start, end in ends] for values in values_of(together, drawn)]
    ours = _turns(rule, [parts[1] for parts in found], [parts[2 + len(rule.blocks) :] for parts in found])
    return [_place(rule, parts, time) for parts, time in zip(found, ours, strict=True)]


def _ends(lengths: Sequence[int]) -> list[tuple[int, int]]:
    ends, start = [], 0
    for length in lengths:
        ends.append((start, start + length))
        start += length
    return ends


def _turns(rule: PlaceRule, times: list[list[int]], rows: list[list[list[int]]]) -> list[tuple[int, ...]]:
    """The times with the turn of a thread in the place of the row that is spread over the threads.

    Threads side by side then run at the same time what is the same turn for each of them.
    """
    length = len(times[0]) if times else 0
    for number, (_, size, _) in enumerate(rule.threads):
        own = [values[number][0] for values in rows]
        for place in range(length):
            if [time[place] for time in times] == own:
                for time, value in zip(times, own, strict=True):
                    time[place] = value // size
                break
    return [tuple(time) for time in times]


def _place(rule: PlaceRule, parts: list[list[int]], time: tuple[int, ...]) -> _Place:
    launch, _, *rows = parts
    blocks, threads = rows[: len(rule.blocks)], rows[len(rule.blocks) :]
    block = {axis: value // size for (axis, size, _), (value,) in zip(rule.blocks, blocks, strict=True)}
    thread = {axis: value % size for (axis, size, _), (value,) in zip(rule.threads, threads, strict=True)}
    x, y, z = (thread.get(axis, 0) for axis in _AXES)
    number = x + rule.block[0] * (y + rule.block[1] * z)
    at = tuple(block.get(axis, 0) for axis in _AXES)
    return _Place(tuple(launch), rule.kernel, at, time, number // WARP, number % WARP)
