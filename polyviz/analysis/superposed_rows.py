"""The parts of a superposed schedule as maps: when a kernel is launched, which block, which phase, which thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from polyviz.model.superposition import affine_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import islpy as isl

    from polyviz.analysis.carried import Constraint
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis, Dimension, Scattering

_AXES: tuple[Axis, ...] = ("z", "y", "x")


@dataclass(slots=True)
class SuperposedRows:
    """Maps of one statement's instances, all of equal length, shorter functions padded with zeros; computed once."""

    scop: Scop
    outer: Mapping[str, Scattering]
    regular: Mapping[str, Scattering]
    _known: dict[tuple[str, str], isl.Map] = field(default_factory=dict)

    def launch(self, name: str) -> isl.Map:
        """When the kernel runs: the outer dimensions before the first tile or block loop."""
        return self._map("launch", name, lambda other: _texts(_before_blocks(self.outer[other])))

    def phase(self, name: str) -> isl.Map:
        """The time inside a block that barriers separate: the regular dimensions before the first thread loop."""
        longest = max(len(_before_threads(scattering)) for scattering in self.regular.values())
        return self._map("phase", name, lambda other: _texts(_phase(self.regular[other], longest)))

    def block(self, name: str) -> isl.Map:
        """The coordinates of the block."""
        return self._map("block", name, lambda other: _coordinates(self.outer[other]))

    def thread(self, name: str) -> isl.Map:
        """The coordinates of the thread; a long axis is not wrapped, which only makes races easier to find."""
        return self._map("thread", name, lambda other: _coordinates(self.regular[other]))

    def outer_rows(self, found: Constraint) -> list[tuple[isl.Map, isl.Map]]:
        """Per tile or block loop its untiled values for the source and for the sink, where both have it."""
        source = self.outer[found.source][len(_before_blocks(self.outer[found.source])) :]
        sink = self.outer[found.sink][len(_before_blocks(self.outer[found.sink])) :]
        domains = self._domain(found.source), self._domain(found.sink)
        return [
            (one.row(domains[0], tiled=False), other.row(domains[1], tiled=False))
            for one, other in zip(source, sink, strict=False)
        ]

    @property
    def regular_times(self) -> Mapping[str, isl.Map]:
        """The regular functions."""
        return {
            name: self._map("regular", name, lambda other: _texts(self.regular[other]))
            for name in self.regular
        }

    @property
    def superposed_times(self) -> Mapping[str, isl.Map]:
        """The outer functions, tiled, followed by the regular ones."""
        return {
            name: self._map("both", name, lambda other: _texts((*self.outer[other], *self.regular[other])))
            for name in self.outer
        }

    def has_reduction_axis(self, name: str) -> bool:
        """Whether threads share the accumulation of the statement."""
        return any(dimension.reduction for dimension in self.regular[name])

    def is_shared_reduction(self, found: Constraint) -> bool:
        """Whether the pairs are steps of a reduction that threads share."""
        return found.reduction is not None and self.has_reduction_axis(found.source)

    def _map(self, kind: str, name: str, texts: Callable[[str], list[str]]) -> isl.Map:
        if (kind, name) not in self._known:
            length = max(len(texts(other)) for other in self.outer)
            values = texts(name)
            padded = [*values, *["0"] * (length - len(values))]
            self._known[kind, name] = affine_map(self._domain(name), *padded)
        return self._known[kind, name]

    def _domain(self, name: str) -> isl.Set:
        return self.scop.statement(name).domain


def _texts(dimensions: Sequence[Dimension]) -> list[str]:
    return [dimension.tiled_expression for dimension in dimensions]


def _before_blocks(scattering: Scattering) -> Scattering:
    return tuple(takewhile(lambda one: one.role == "sequence" and one.tile is None, scattering))


def _before_threads(scattering: Scattering) -> Scattering:
    if not _has_threads(scattering):
        return ()
    return tuple(takewhile(lambda one: one.role == "sequence", scattering))


def _phase(scattering: Scattering, longest: int) -> Scattering:
    """What runs in one thread has its phase where the statements with threads have theirs."""
    return _before_threads(scattering) if _has_threads(scattering) else scattering[:longest]


def _has_threads(scattering: Scattering) -> bool:
    return any(dimension.role == "space" for dimension in scattering)


def _coordinates(scattering: Scattering) -> list[str]:
    by_axis = {one.axis: one.tiled_expression for one in scattering if one.axis is not None}
    return [by_axis.get(axis, "0") for axis in _AXES]
