"""Boxes of cells as arrays in shared memory: rows long enough that banks do not meet, and tests that are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from operator import mul
from typing import TYPE_CHECKING, TypeVar

import islpy as isl

from polyviz.codegen.bank_conflicts import conflicts, rounds_of_warp
from polyviz.mapping.gpu_runs import TILE, row_coordinate
from polyviz.mapping.gpu_space import parameter
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.warp_access import WARP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device import DeviceKernel
    from polyviz.model.scop import Scop
    from polyviz.model.staging import DeviceOptions, StagedBox, StagedRun
    from polyviz.model.superposition import Axis

Cell = TypeVar("Cell")
VECTOR_BYTES = 16
"""What one copy can move at once."""
MOST_PADDING = 2
"""Cells that may be added to a row."""


@dataclass(frozen=True, slots=True)
class StagedTile:
    """One box in shared memory.

    ``padding`` cells end each row; one thread reads ``cells_per_step`` of the cells in each step. ``tested_first`` and
    ``tested_last`` are the subscripts that a copy has to compare with the bounds of the box. ``vector``: cells that are
    copied at once where addresses allow it. ``dealt``: how the cells of a thread stand beside each other.
    """

    name: str
    box: StagedBox
    padding: int
    vector: int
    cells_per_step: int
    tested_first: frozenset[int]
    tested_last: frozenset[int]
    dealt: Dealt | None = None

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents in shared memory."""
        *rows, last = self.in_order(self.box.extents)
        return (*rows, last + self.padding)

    def in_order(self, subscripts: Sequence[Cell]) -> tuple[Cell, ...]:
        """``subscripts`` of the box as they stand in shared memory: the one that is dealt comes last."""
        if self.dealt is None:
            return tuple(subscripts)
        place = self.dealt.subscript
        return (*subscripts[:place], *subscripts[place + 1 :], subscripts[place])


@dataclass(frozen=True, slots=True)
class Dealt:
    """The cells along one ``subscript`` of a box, dealt to the ``threads`` along ``axis``, ``cells`` to each.

    Thread ``t`` has the cells ``t``, ``t + threads`` … of the box; in shared memory ``vector`` of them stand beside
    each other, so that one load brings them to registers.
    """

    subscript: int
    axis: Axis
    threads: int
    cells: int
    vector: int

    def place(self, cell: int) -> int:
        """Where the cell with number ``cell`` of the box stands.

        >>> [Dealt(1, "x", 4, 4, 2).place(cell) for cell in (0, 4, 8, 12, 1)]
        [0, 1, 8, 9, 2]
        """
        turn, thread = divmod(cell, self.threads)
        piece, inside = divmod(turn, self.vector)
        return piece * self.threads * self.vector + thread * self.vector + inside


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
    moves = [_moves(scop, kernel, run, box, name, place) for name, place in _references(scop, run, box)]
    first, last = _tests(kernel, run, box)
    dealt = _dealt(kernel, run, box, moves, itemsize) if options.vectors else None
    tile = StagedTile(name, box, 0, 1, _cells_per_step(run, moves), first, last, dealt)
    longer = options.padding and len(box.extents) > 1
    if dealt is not None:
        return replace(tile, padding=_padding_of_copies(tile, itemsize) if longer else 0)
    padding = best_padding(kernel, moves, box.extents, itemsize) if longer else 0
    vector = _vector(box, padding, itemsize, layout) if options.vectors else 1
    return replace(tile, padding=padding, vector=vector)


def _dealt(
    kernel: DeviceKernel,
    run: StagedRun,
    box: StagedBox,
    moves: Sequence[Mapping[str, tuple[int, ...]]],
    itemsize: int,
) -> Dealt | None:
    """How the cells of ``box`` are dealt to threads with several of them; None where they are not, one by one."""
    elements: dict[str, int] = dict(run.elements)
    wide = [axis for axis in kernel.threads if elements[axis.axis] > 1 and any(moves[0][axis.axis])]
    if run.first is None or len(moves) != 1 or len(wide) != 1:
        return None
    (thread,) = wide
    along = moves[0][thread.axis]
    cells = elements[thread.axis]
    moved = [subscript for subscript, move in enumerate(along) if move]
    if len(moved) != 1 or along[moved[0]] != 1 or box.extents[moved[0]] != thread.size * cells:
        return None
    vector = min(VECTOR_BYTES // itemsize, cells)
    if (
        vector < 2
        or cells % vector
        or any(move[moved[0]] for axis, move in moves[0].items() if axis != thread.axis)
    ):
        return None
    return Dealt(moved[0], thread.axis, thread.size, cells, vector)


def _padding_of_copies(tile: StagedTile, itemsize: int) -> int:
    """The fewest cells at the end of a row with which a warp's copies, in the order of the array, collide least."""
    dealt, extents = tile.dealt, tile.box.extents
    assert dealt is not None

    def rounds(padding: int) -> int:
        longer = replace(tile, padding=padding)
        pitches = [prod(longer.extents[axis + 1 :]) for axis in range(len(extents))]
        places = []
        for cell in range(min(WARP, prod(extents))):
            subscripts = [cell // prod(extents[axis + 1 :]) % extents[axis] for axis in range(len(extents))]
            subscripts[dealt.subscript] = dealt.place(subscripts[dealt.subscript])
            ordered = longer.in_order(subscripts)
            places.append(itemsize * sum(map(mul, ordered, pitches)))
        return conflicts(places, itemsize)

    return min((0, dealt.vector, 2 * dealt.vector), key=lambda padding: (rounds(padding), padding))


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
    pieces = [one for _, one in pieces_of(function)]
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
    pieces = [one for _, one in pieces_of(value)]
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
