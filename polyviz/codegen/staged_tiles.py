"""Boxes of cells as arrays in shared memory: rows long enough that banks do not meet, and tests that are left out."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.codegen.bank_conflicts import rounds_of_warp
from polyviz.mapping.gpu_runs import TILE, row_coordinate
from polyviz.mapping.gpu_space import parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device import DeviceKernel
    from polyviz.model.scop import Scop
    from polyviz.model.staging import DeviceOptions, StagedBox, StagedRun

VECTOR_BYTES = 16
"""What one copy can move at once."""
MOST_PADDING = 2
"""Cells that may be added to a row."""


@dataclass(frozen=True, slots=True)
class StagedTile:
    """One box in shared memory.

    ``padding`` cells end each row; one thread reads ``cells_per_step`` of the cells in each step. ``tested_first`` and
    ``tested_last`` are the subscripts that a copy has to compare with the bounds of the box. ``vector``: cells that are
    copied at once where addresses allow it.
    """

    name: str
    box: StagedBox
    padding: int
    vector: int
    cells_per_step: int
    tested_first: frozenset[int]
    tested_last: frozenset[int]

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents in shared memory."""
        *rows, last = self.box.extents
        return (*rows, last + self.padding)


def make_tile(
    scop: Scop,
    kernel: DeviceKernel,
    run: StagedRun,
    box: StagedBox,
    name: str,
    itemsize: int,
    layout: str,
    options: DeviceOptions,
) -> StagedTile:
    """The tile for ``box``, whose cells take ``itemsize`` bytes in an array of ``layout``."""
    longer = options.padding and len(box.extents) > 1
    moves = [_moves(scop, kernel, run, box, name, place) for name, place in _references(scop, run, box)]
    padding = best_padding(kernel, moves, box.extents, itemsize) if longer else 0
    first, last = _tests(kernel, run, box)
    vector = _vector(box, padding, itemsize, layout) if options.vectors else 1
    return StagedTile(name, box, padding, vector, _cells_per_step(run, moves), first, last)


def best_padding(
    kernel: DeviceKernel,
    moves: Sequence[Mapping[str, tuple[int, ...]]],
    extents: Sequence[int],
    itemsize: int,
) -> int:
    """The fewest cells at the end of a row with which the reads of a warp, which ``moves`` describes, collide least."""
    costs = {}
    for padding in range(MOST_PADDING + 1):
        longer = (*extents[:-1], extents[-1] + padding)
        costs[padding] = sum(rounds_of_warp(kernel, one, longer, itemsize) for one in moves)
    return min(costs, key=lambda padding: (costs[padding], padding))


def _cells_per_step(run: StagedRun, moves: Sequence[Mapping[str, tuple[int, ...]]]) -> int:
    """Cells that one thread reads in a step: one reference serves all its cells along axes where it does not move."""
    elements: dict[str, int] = dict(run.elements)
    return sum(prod([elements[axis] for axis, along in one.items() if any(along)]) for one in moves)


def _references(scop: Scop, run: StagedRun, box: StagedBox) -> list[tuple[str, int]]:
    return [
        (name, place)
        for name in run.statements
        for place, access in enumerate(scop.statement(name).accesses)
        if access.kind == "read" and access.array == box.array and access.span in box.spans
    ]


def _moves(
    scop: Scop, kernel: DeviceKernel, run: StagedRun, box: StagedBox, name: str, place: int
) -> Mapping[str, tuple[int, ...]]:
    """How far the subscripts of one reference move from thread to thread, per axis."""
    member = next(one for one in run.members if one.statement == name)
    relation = scop.statement(name).accesses[place].relation
    function = isl.PwMultiAff.from_map(relation.gist_domain(relation.domain()))
    pieces: list[isl.MultiAff] = []
    function.foreach_piece(lambda _domain, one: pieces.append(one))
    found: dict[str, tuple[int, ...]] = {}
    for axis in kernel.threads:
        along = [_coefficient(iterator, row_coordinate(axis.axis)) for iterator in member.iterators]
        rows = []
        for subscript in range(len(box.extents)):
            affine = pieces[0].get_aff(subscript)
            rows.append(
                sum(
                    int(affine.get_coefficient_val(isl.dim_type.in_, iterator).to_python()) * move
                    for iterator, move in enumerate(along)
                )
            )
        found[axis.axis] = tuple(rows)
    return found


def _coefficient(value: isl.PwAff, parameter: str) -> int:
    pieces: list[isl.Aff] = []
    value.foreach_piece(lambda _domain, one: pieces.append(one))
    place = pieces[0].find_dim_by_name(isl.dim_type.param, parameter)
    return 0 if place < 0 else int(pieces[0].get_coefficient_val(isl.dim_type.param, place).to_python())


def _vector(box: StagedBox, padding: int, itemsize: int, layout: str) -> int:
    """Cells that one copy can move: rows of the tile must keep the alignment that rows of the array have."""
    cells = VECTOR_BYTES // itemsize
    pitch = box.extents[-1] + padding
    whole = box.extents[-1] % cells == 0 and (len(box.extents) == 1 or pitch % cells == 0)
    return cells if layout == "C" and itemsize in (4, 8) and whole else 1


def _tests(kernel: DeviceKernel, run: StagedRun, box: StagedBox) -> tuple[frozenset[int], frozenset[int]]:
    """The subscripts whose cells can lie before the first one, and behind the last one."""
    known = kernel.context
    if run.first is not None and run.last is not None:
        tile = parameter(TILE)
        known = known.intersect(run.first.le_set(tile)).intersect(tile.le_set(run.last))
    first, last = set(), set()
    for axis, (low, extent) in enumerate(zip(box.lower, box.extents, strict=True)):
        if not known.intersect(low.lt_set(box.first[axis])).is_empty():
            first.add(axis)
        if not known.intersect((low + (extent - 1)).gt_set(box.last[axis])).is_empty():
            last.add(axis)
    return frozenset(first), frozenset(last)
