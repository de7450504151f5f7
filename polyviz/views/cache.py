"""A cache fed with the accesses of the drawn instances in the order of a schedule, access by access and exactly.

The same cache as in the live views: sets of ``ways`` lines each, the line that was used longest ago makes room, what is
written is fetched first and written back when it leaves. Arrays lie one behind the other, rows one after the other.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from polyviz.views.transfers import size_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.views.linked_schema import (
        InspectorModel,
        LinkedAccessModel,
        LinkedArrayModel,
        LinkedStatementModel,
        VariantModel,
    )

Outcome = Literal["hit", "first", "again"]
"""``first``: no access to the line before, so that every cache misses it; ``again``: it was there and had to leave."""
MOST_TOUCHES = 20_000
"""More accesses than these are not followed."""
_ALIGNMENT = 256
_SMALLEST, _LARGEST = 128, 32768


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Sizes in bytes; ``ways`` lines to a set."""

    size: int
    line: int = 32
    ways: int = 4

    def __str__(self) -> str:
        return f"{size_text(self.size)}, lines of {self.line} bytes, {self.ways} ways"


@dataclass(frozen=True, slots=True)
class Region:
    """An array in memory: ``base`` is the number of its first byte, ``size`` counts all of them."""

    array: LinkedArrayModel
    base: int
    size: int


@dataclass(frozen=True, slots=True)
class Touch:
    """One access to the byte ``place``, and what the cache did."""

    place: int
    is_write: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Run:
    """All accesses in order; ``written_back`` lines left the cache changed."""

    touches: tuple[Touch, ...]
    written_back: int
    shape: CacheShape
    _counts: Counter[Outcome] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_counts", Counter([touch.outcome for touch in self.touches]))

    def count(self, outcome: Outcome) -> int:
        """How many accesses ended so."""
        return self._counts[outcome]

    @property
    def moved(self) -> int:
        """Bytes between the cache and the memory behind it, both ways."""
        return (len(self.touches) - self.count("hit") + self.written_back) * self.shape.line


def regions_of(model: InspectorModel) -> list[Region]:
    """The arrays whose extents are known, each behind the one before."""
    found, base = [], 0
    for array in model["arrays"]:
        if array["extents"]:
            size = math.prod(array["extents"]) * array["element_bytes"]
            found.append(Region(array, base, size))
            base += -(-size // _ALIGNMENT) * _ALIGNMENT
    return found


def usual_cache(model: InspectorModel) -> CacheShape:
    """A cache in which the order matters: pictures are of small arrays, and in a large one all of them would fit."""
    data = sum(region.size for region in regions_of(model))
    fitting = 2 ** round(math.log2(max(1.0, data / 4)))
    return CacheShape(min(_LARGEST, max(_SMALLEST, fitting)))


def simulate(model: InspectorModel, variant: VariantModel, shape: CacheShape) -> Run:
    """Every access of the drawn instances in the order of ``variant``, beginning with an empty cache."""
    places = {region.array["name"]: region for region in regions_of(model)}
    functions = [_functions(statement, places) for statement in model["statements"]]
    cache = _Cache(shape)
    touches: list[Touch] = []
    for number, instance in _order(model, variant):
        if len(touches) >= MOST_TOUCHES:
            break
        point = model["statements"][number]["points"][instance]
        for factors, constant, is_write in functions[number]:
            place = constant + sum(map(int.__mul__, factors, point))
            touches.append(Touch(place, is_write, cache.touch(place, is_write=is_write)))
    return Run(tuple(touches), cache.written_back + cache.changed, shape)


def _order(model: InspectorModel, variant: VariantModel) -> Iterator[tuple[int, int]]:
    """Numbers of statement and instance in the order of execution."""
    times = [variant["times"].get(statement["name"], []) for statement in model["statements"]]
    longest = max((len(time) for one in times for time in one), default=0)
    found = [
        ((*time, *([0] * (longest - len(time)))), number, instance)
        for number, one in enumerate(times)
        for instance, time in enumerate(one[: len(model["statements"][number]["points"])])
    ]
    return ((number, instance) for _, number, instance in sorted(found))


_Function = tuple[list[int], int, bool]


def _functions(statement: LinkedStatementModel, places: dict[str, Region]) -> list[_Function]:
    """Byte numbers as functions of the iterators, for the accesses whose cells are known."""
    found = (
        _function(access, places[access["array"]])
        for access in statement["accesses"]
        if access["array"] in places
    )
    return [one for one in found if one is not None]


def _function(access: LinkedAccessModel, region: Region) -> _Function | None:
    rows, extents = access["subscripts"], region.array["extents"] or []
    if rows is None or len(rows) != len(extents):
        return None
    stride = region.array["element_bytes"]
    sums = [0] * len(rows[0])
    for row, extent in zip(reversed(rows), reversed(extents), strict=True):
        sums = [total + factor * stride for total, factor in zip(sums, row, strict=True)]
        stride *= extent
    return sums[:-1], region.base + sums[-1], access["kind"] == "write"


class _Cache:
    """Which lines are there; every set holds its lines from the one used longest ago to the latest."""

    def __init__(self, shape: CacheShape) -> None:
        self._line = shape.line
        self._ways = min(shape.ways, max(1, shape.size // shape.line))
        count = max(1, shape.size // shape.line // self._ways)
        self._sets: list[dict[int, bool]] = [{} for _ in range(count)]
        self._seen: set[int] = set()
        self.written_back = 0

    def touch(self, place: int, *, is_write: bool) -> Outcome:
        line = place // self._line
        held = self._sets[line % len(self._sets)]
        was_written = held.pop(line, None)
        if was_written is None and len(held) >= self._ways:
            self.written_back += held.pop(next(iter(held)))
        held[line] = is_write or bool(was_written)
        if was_written is not None:
            return "hit"
        outcome: Outcome = "again" if line in self._seen else "first"
        self._seen.add(line)
        return outcome

    @property
    def changed(self) -> int:
        """Lines that are still there and have to be written back in the end."""
        return sum(sum(held.values()) for held in self._sets)


def unknown_accesses(model: InspectorModel, *, conditional: bool = False) -> list[str]:
    """The accesses that no cache can be asked about, as they are written; or only those which data decide about."""
    places = {region.array["name"]: region for region in regions_of(model)}
    found = [
        access["text"]
        for statement in model["statements"]
        for access in statement["accesses"]
        if access["array"] not in places or _function(access, places[access["array"]]) is None
        if access["conditional"] is conditional
    ]
    return list(dict.fromkeys(found))


def shares(run: Run, parts: int) -> list[tuple[int, int]]:
    """Accesses and misses in each of ``parts`` stretches of the order.

    >>> shares(Run((Touch(0, False, "first"), Touch(0, False, "hit")), 0, CacheShape(128)), 2)
    [(1, 1), (1, 0)]
    """
    total = len(run.touches)
    edges = [total * part // parts for part in range(parts + 1)]
    stretches: list[Sequence[Touch]] = [run.touches[start:end] for start, end in pairwise(edges)]
    return [(len(one), sum(touch.outcome != "hit" for touch in one)) for one in stretches]
