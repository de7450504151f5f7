"""Kernels, phases and barriers of a superposition that somebody typed, read from its scattering functions.

The functions say which loops are the host's, a block's and a thread's; what stands between is found as for the plans of
the scheduler: a kernel per group of statements with common block loops, a phase per position before the thread loops,
and a barrier wherever two threads would race without it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import TYPE_CHECKING

from polyviz.analysis.loop_kinds import Term, row_texts
from polyviz.model.device import LARGEST_BLOCK
from polyviz.model.superposition import SpaceGroup, SpaceLoop, SuperposedKernel
from polyviz.scheduling.superposed.kernels import THREADS, barriers_in
from polyviz.scheduling.superposed.parts import Group, ParallelLoop, Part, Serial, groups_of, restricted
from polyviz.scheduling.superposed.phases import without_host_loops
from polyviz.scheduling.superposed.scatterings import AXES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.analysis.carried import Constraint
    from polyviz.analysis.superposed_rows import SuperposedRows
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis, Dimension, Scattering

_TERM = re.compile(r"\s*(-?)\s*([A-Za-z_]\w*)\s*(?:([+-])\s*(\d+))?\s*")


class NoKernelsError(Exception):
    """The functions do not say enough for kernels; the text is the reason and what to write, without an end."""


def typed_kernels(
    rows: SuperposedRows, constraints: Sequence[Constraint], threads: Sequence[int] = ()
) -> tuple[SuperposedKernel, ...]:
    """The kernels of the functions in ``rows``, in the order of their launches, with the barriers they need.

    ``threads`` are those of a block along the axes that it uses, x first; where it ends, as many as usual, but no more
    than a tile has iterations.
    Raises NoKernelsError.
    """
    blocks = _Reader(rows.scop, rows.outer, "outer").parts()
    phases = _Reader(rows.scop, rows.regular, "regular").parts()
    found = []
    for number, (group, under) in enumerate(groups_of(blocks)):
        own = without_host_loops(restricted(phases, group.names), under)
        around = tuple(row_texts(rows.scop, {name: terms[name] for name in group.names}) for terms in under)
        found.append(
            SuperposedKernel(
                number,
                _space_group(rows.outer, group, around),
                tuple(
                    _space_group(rows.regular, phase, tuple(row_texts(rows.scop, terms) for terms in within))
                    for phase, within in groups_of(own)
                ),
                barriers_in(own, group.names, constraints, rows),
                _tiles(rows.outer, group),
                _threads(rows, group, threads),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the functions of one level, which is called ``level``, into groups and the sequential loops around them."""

    scop: Scop
    functions: Mapping[str, Scattering]
    level: str

    def parts(self) -> tuple[Part, ...]:
        return self._parts(dict(self.functions))

    def _parts(self, left: Mapping[str, Scattering]) -> tuple[Part, ...]:
        """``left`` are the functions from here on: a position, and what stands there."""
        positions: dict[int, dict[str, Scattering]] = {}
        for name, function in left.items():
            if not function or function[0].kind != "scalar":
                raise NoKernelsError(
                    f"the {self.level} function of {name} has no position before each of its loops in time and before "
                    "its coordinates: write a number there, as in (0, t, 0, i_x)"
                )
            positions.setdefault(int(function[0].expression), {})[name] = function[1:]
        return tuple(self._part(positions[number]) for number in sorted(positions))

    def _part(self, left: Mapping[str, Scattering]) -> Part:
        """What stands at one position: a group, or a loop in time with positions of its own."""
        names = tuple(left)
        if not any(map(self._is_loop_in_time, left.values())):
            return Group(names, self._coordinates(left))
        in_time = [name for name, function in left.items() if function and _is_plain_loop(function[0])]
        if len(in_time) < len(names):
            other = next(name for name in names if name not in in_time)
            raise NoKernelsError(
                f"{in_time[0]} and {other} stand at the same position of the {self.level} order, and only the first "
                "has a loop in time there: give them different positions"
            )
        terms = {name: self._term(name, function[0]) for name, function in left.items()}
        return Serial(names, terms, self._parts({name: function[1:] for name, function in left.items()}))

    def _is_loop_in_time(self, function: Scattering) -> bool:
        """Whether a loop around blocks or phases comes next, not a coordinate or the order inside one thread."""
        if not function or not _is_plain_loop(function[0]):
            return False
        return self.level == "outer" or any(one.axis is not None for one in function)

    def _coordinates(self, left: Mapping[str, Scattering]) -> tuple[ParallelLoop, ...]:
        spaces = {
            name: {one.axis: one for one in takewhile(lambda one: one.axis is not None, function)}
            for name, function in left.items()
        }
        for name, function in left.items():
            self._check_rest(name, function[len(spaces[name]) :])
            if set(spaces[name]) != set(next(iter(spaces.values()))):
                first = next(iter(spaces))
                raise NoKernelsError(
                    f"{first} and {name} stand at the same position of the {self.level} order with different "
                    "coordinates: give both the same axes, or different positions"
                )
        return tuple(
            ParallelLoop(
                {name: self._term(name, space[axis]) for name, space in spaces.items()}, "forall", Fraction(), 0
            )
            for axis in AXES
            if all(axis in space for space in spaces.values())
        )

    def _check_rest(self, name: str, rest: Scattering) -> None:
        if any(one.axis is not None for one in rest):
            raise NoKernelsError(
                f"the coordinates of {name} in the {self.level} order do not stand beside each other: write them in "
                "a row"
            )
        if self.level == "outer" and any(one.kind == "loop" for one in rest):
            raise NoKernelsError(
                f"in the outer order of {name} a loop stands behind the blocks: the order inside a block is the "
                "regular one"
            )

    def _term(self, name: str, dimension: Dimension) -> Term:
        iterators = self.scop.statement(name).iterators
        found = _TERM.fullmatch(dimension.expression)
        if found is None or found[2] not in iterators:
            raise NoKernelsError(
                f"`{dimension.text}` of {name} is not one of its iterators, reversed or shifted at most, which is what "
                "kernels take as a loop"
            )
        if dimension.axis is None and dimension.tile is not None:
            raise NoKernelsError(f"`{dimension.text}` of {name} is a tile of a loop in time: make it a coordinate")
        shift = int(found[4] or 0)
        return Term(iterators.index(found[2]), -1 if found[1] else 1, -shift if found[3] == "-" else shift)


def _is_plain_loop(dimension: Dimension) -> bool:
    return dimension.kind == "loop" and dimension.axis is None


def _space_group(
    functions: Mapping[str, Scattering], group: Group, under: tuple[Mapping[str, str], ...]
) -> SpaceGroup:
    by_axis = {name: {one.axis: one.expression for one in functions[name] if one.axis} for name in group.names}
    loops = tuple(
        SpaceLoop(axis, {name: rows[axis] for name, rows in by_axis.items()}, "forall")
        for axis in AXES
        if all(axis in rows for rows in by_axis.values())
    )
    own = tuple({name: rows[name] for name in group.names if name in rows} for rows in under)
    return SpaceGroup(group.names, loops, own)


def _tiles(functions: Mapping[str, Scattering], group: Group) -> Mapping[Axis, int]:
    """The tile of each axis of the grid; a row without one is a block for each of its values."""
    sizes: dict[Axis, int] = {}
    for name in group.names:
        for one in functions[name]:
            if one.axis is not None and sizes.setdefault(one.axis, one.tile or 1) != (one.tile or 1):
                raise NoKernelsError(
                    f"the tiles of {name} along {one.axis} are not as long as those of {group.names[0]}, which has the "
                    "same blocks: write the same size"
                )
    return {axis: sizes[axis] for axis in AXES if axis in sizes}


def _threads(rows: SuperposedRows, group: Group, given: Sequence[int]) -> Mapping[Axis, int]:
    regular = rows.regular
    used = [axis for axis in AXES if any(one.axis == axis for name in group.names for one in regular[name])]
    most = (_longest_tile(rows, group, axis) for axis in used)
    usual = [min(count, tile) for count, tile in zip(THREADS[len(used)], most, strict=True)]
    chosen = (*given[: len(used)], *usual[len(given) :])
    return dict(zip(used, chosen, strict=True))


def _longest_tile(rows: SuperposedRows, group: Group, axis: Axis) -> int:
    """The most iterations that a block has of a loop along an axis of threads; any number where one is not tiled."""
    along = ((name, one) for name in group.names for one in rows.regular[name] if one.axis == axis)
    tiles = (
        next((outer.tile or 1 for outer in rows.outer[name] if outer.axis and outer.expression == one.expression), None)
        for name, one in along
    )
    return max(LARGEST_BLOCK if tile is None else tile for tile in tiles)
