"""What a run reads, as boxes of cells: which references share one, and whether a copy in shared memory saves traffic.

Source: Verdoolaege et al., *Polyhedral parallel code generation for CUDA* (TACO 2013), section 5: footprints of a tile
as boxes, and tests for reuse and for coalescing. Both tests are one here: the transactions of global memory that the
warps of a block need for a tile, without a copy and for the copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_runs import STEP, TILE, component, row_coordinate
from polyviz.mapping.gpu_space import thread_instances, with_value
from polyviz.model.device import coordinate
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.isl_limits import is_spent
from polyviz.model.staging import StagedBox
from polyviz.model.warp_access import SEGMENT, WARP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.mapping.gpu_runs import Run
    from polyviz.model.device import SpaceAxis
    from polyviz.model.scop import Access, Scop
    from polyviz.model.superposition import Axis

CELL = 8
"""Bytes of a cell, as long as types are not known."""
COUNTED = f"(cells counted as {CELL} bytes)"
_MOST_PIECES = 3
"""A bound with more pieces costs more than it gives."""


@dataclass(frozen=True, slots=True)
class Reading:
    """References to one array that share a box: from instances of each statement to cells."""

    array: str
    accesses: tuple[tuple[str, Access], ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """The iterations of a run that share a copy: ``depth`` steps, ``elements`` cells of a thread along each axis."""

    run: Run
    depth: int
    elements: Mapping[Axis, int]


class NoBoxError(Exception):
    """A box is no use; the message says why."""


def readings(scop: Scop, tile: Tile, kept: Sequence[tuple[str, Access]]) -> list[Reading]:
    """The reads of the run that may be staged, those of overlapping boxes together; ``kept`` live in registers."""
    left_out = {(name, access.span) for name, access in kept}
    found: list[Reading] = []
    for name in tile.run.statements:
        for access in scop.statement(name).accesses:
            if _can_be_staged(access) and (name, access.span) not in left_out:
                found = _merged(tile, found, Reading(access.array, ((name, access),)))
    return found


def _can_be_staged(access: Access) -> bool:
    is_cell = access.kind == "read" and access.relation.dim(isl.dim_type.out) > 0
    return is_cell and access.exact and access.span is not None


def _merged(tile: Tile, known: list[Reading], new: Reading) -> list[Reading]:
    """``known`` with ``new``, in the box of an earlier reading where both together are no larger than apart."""
    for place, old in enumerate(known):
        if old.array != new.array:
            continue
        both = Reading(new.array, (*old.accesses, *new.accesses))
        sizes = [_size(tile, one) for one in (old, new, both)]
        if sizes[0] and sizes[1] and sizes[2] and sizes[2] < sizes[0] + sizes[1]:
            return [*known[:place], both, *known[place + 1 :]]
    return [*known, new]


def _size(tile: Tile, reading: Reading) -> int | None:
    try:
        return prod(extent for _, extent in sides_of(tile, reading))
    except NoBoxError:
        return None


def box_of(tile: Tile, reading: Reading) -> StagedBox:
    """The box of ``reading`` with its traffic. Raises NoBoxError where none has a fixed size."""
    sides = sides_of(tile, reading)
    first, last, wanted = _hull(tile, reading)
    before = sum(_transactions(tile, name, access) for name, access in _distinct(reading))
    extents = tuple(extent for _, extent in sides)
    box = StagedBox(
        array=reading.array,
        extents=extents,
        lower=tuple(low for low, _ in sides),
        first=first,
        last=last,
        wanted=wanted,
        spans=frozenset(access.span for _, access in reading.accesses if access.span is not None),
        before=before,
        after=prod(extents[:-1]) * -(-extents[-1] * CELL // SEGMENT),
        reason="",
        fresh=False,
    )
    text = (
        f"{prod(extents)} cells of a tile cost {box.after} transactions to copy, {before} to read where they are "
        f"{COUNTED}"
    )
    return replace(box, reason=text)


def sides_of(tile: Tile, reading: Reading) -> list[tuple[isl.PwAff, int]]:
    """Per subscript the first cell that a block may read in one tile, and how many there are."""
    cells = reduce(
        isl.Set.union,
        (_window(tile, name).apply(_all(tile, name, access)) for name, access in reading.accesses),
    )
    return [_side(cells, axis) for axis in range(cells.dim(isl.dim_type.set))]


def _all(tile: Tile, name: str, access: Access) -> isl.Map:
    """``access`` whatever the domain."""
    return access.relation.gist_domain(tile.run.kernel.instances[name])


def _window(tile: Tile, name: str) -> isl.Set:
    """All points of the tile of a block, instances or not."""
    run, kernel = tile.run, tile.run.kernel
    points = isl.Set.universe(kernel.instances[name].get_space())
    points = thread_instances(points, name, kernel.blocks, (), ())
    points = run.fixed(points, name, rows=False, step=False)
    for number, rows in enumerate(kernel.host):
        points = points.intersect(with_value(rows[name], coordinate("host", str(number))).domain())
    if run.place is None:
        return points
    iterations = isl.Map(f"{{ [v] -> [t] : t <= v < t + {tile.depth} }}")
    return points.intersect(with_value(run.steps(name).apply_range(iterations), TILE).domain())


def _side(cells: isl.Set, axis: int) -> tuple[isl.PwAff, int]:
    try:
        low, high = cells.dim_min(axis).coalesce(), cells.dim_max(axis).coalesce()
    except isl.Error as error:
        if is_spent():
            raise
        raise NoBoxError("what a block reads in a tile has no bound") from error
    size = (high - low + 1).coalesce()
    if low.n_piece() != 1 or size.n_piece() != 1 or not size.is_cst():
        raise NoBoxError("what a block reads in a tile is no box of fixed size")
    return low, int(size.max_val().to_python())


def _hull(tile: Tile, reading: Reading) -> tuple[tuple[isl.PwAff, ...], tuple[isl.PwAff, ...], isl.Set]:
    """Per subscript the first and the last cell that the launch reads at this time, and when it reads any."""
    cells = _cells(tile.run, reading)
    axes = range(cells.dim(isl.dim_type.set))
    first = tuple(cells.dim_min(axis).coalesce() for axis in axes)
    last = tuple(cells.dim_max(axis).coalesce() for axis in axes)
    wanted = cells.params().gist(_whenever(tile.run)).coalesce()
    pieces = [wanted.n_basic_set(), *(bound.n_piece() for bound in (*first, *last))]
    if max(pieces) > _MOST_PIECES:
        raise NoBoxError("the range of its subscripts is too complicated")
    return first, last, wanted


def _whenever(run: Run) -> isl.Set:
    """The blocks and times that have a part of the run; not all of its statements need to be among them."""
    parts = (run.instances(name, rows=False, step=False, block=True).params() for name in run.statements)
    return reduce(isl.Set.union, parts)


def _cells(run: Run, reading: Reading) -> isl.Set:
    """What the launch reads at one time outside the threads."""
    parts = (
        run.instances(name, rows=False, step=False).apply(access.relation)
        for name, access in reading.accesses
    )
    return reduce(isl.Set.union, parts)


def copied_cells(box: StagedBox, space: isl.Space) -> isl.Set:
    """What the copies of ``box`` touch, in ``space``: its cells from the first to the last one that is read."""
    result = isl.Set.universe(space)
    every = isl.Map.identity(result.get_space().map_from_set())
    ends = zip(box.lower, box.extents, box.first, box.last, strict=True)
    for axis, (low, extent, first, last) in enumerate(ends):
        here = component(every, axis)
        for start, stop in ((low, low + (extent - 1)), (first, last)):
            above = isl.Set.from_pw_aff(start).apply(isl.Map("{ [b] -> [v] : v >= b }"))
            below = isl.Set.from_pw_aff(stop).apply(isl.Map("{ [b] -> [v] : v <= b }"))
            result = result.intersect(here.intersect_range(above.intersect(below)).domain())
    return result


def _distinct(reading: Reading) -> list[tuple[str, Access]]:
    """The references of ``reading`` that a thread reads: twice the same one is one load."""
    found: list[tuple[str, Access]] = []
    for name, access in reading.accesses:
        if not any(other == name and one.relation.is_equal(access.relation) for other, one in found):
            found.append((name, access))
    return found


def _transactions(tile: Tile, name: str, access: Access) -> int:
    """What the warps of a block need for one reference in one tile: values that do not change are read once."""
    moves = strides_of(tile.run, name, access)
    lanes = active_lanes(tile.run, name)
    requests = len({thread // WARP for thread in lanes}) * (tile.depth if any(moves[STEP]) else 1)
    for axis, elements in tile.elements.items():
        requests *= elements if any(moves[row_coordinate(axis)]) else 1
    return requests * per_request(moves, lanes)


def per_request(moves: Mapping[str, tuple[int, ...]], lanes: Mapping[int, Mapping[str, int]]) -> int:
    """Transactions of one request: distinct lines that the ``lanes`` of a warp touch, rows apart never in one line.

    The first line is taken to start where the leftmost lane reads.
    """
    cells = []
    for lane in (place for number, place in lanes.items() if number < WARP):
        moved = [[place * move for move in moves[coordinate("row", axis)]] for axis, place in lane.items()]
        cells.append([sum(along) for along in zip([0] * len(moves[STEP]), *moved, strict=True)])
    left = min(cell[-1] for cell in cells)
    return len({(*cell[:-1], (cell[-1] - left) * CELL // SEGMENT) for cell in cells})


def active_lanes(run: Run, name: str) -> dict[int, Mapping[str, int]]:
    """The threads of a block that can have instances of ``name`` in one launch, by number, with their coordinates.

    Fewer than there are where a launch of the host leaves only so many values of a thread loop.
    """
    sizes = {axis.axis: axis.size for axis in sorted(run.kernel.threads, key=lambda axis: axis.axis)}
    most = {axis.axis: _values(run, name, axis) for axis in run.kernel.threads}
    found: dict[int, Mapping[str, int]] = {}
    for number in range(prod(sizes.values())):
        rest, place = number, dict[str, int]()
        for axis, size in sizes.items():
            rest, place[axis] = divmod(rest, size)
        if all(place[axis] < most[axis] for axis in sizes):
            found[number] = dict(place)
    return found


def _values(run: Run, name: str, axis: SpaceAxis) -> int:
    """How many values the thread loop ``axis`` can have at one time of one launch; all its threads if unknown."""
    values = run.instances(name, rows=False, step=False).apply(axis.rows[name])
    try:
        span = (values.dim_max(0) - values.dim_min(0)).max_val()
    except isl.Error:
        if is_spent():
            raise
        return axis.size  # no bound
    return min(axis.size, int(span.to_python()) + 1) if span.is_int() and span.is_nonneg() else axis.size


def strides_of(run: Run, name: str, access: Access) -> dict[str, tuple[int, ...]]:
    """How far each subscript moves with each coordinate of the run. Raises NoBoxError where that is no fixed number."""
    names = [STEP, *(row_coordinate(axis.axis) for axis in run.kernel.threads)]
    cell = run.instances(name).apply(access.relation)
    pieces = [function for _, function in pieces_of(isl.PwMultiAff.from_set(cell))]
    if len(pieces) != 1:
        raise NoBoxError("its subscripts are no linear functions of the loops")
    subscripts = [pieces[0].get_aff(axis) for axis in range(cell.dim(isl.dim_type.set))]
    return {one: tuple(_coefficient(subscript, one) for subscript in subscripts) for one in names}


def _coefficient(subscript: isl.Aff, parameter: str) -> int:
    place = subscript.find_dim_by_name(isl.dim_type.param, parameter)
    if place < 0:
        return 0
    if _is_divided(subscript, place):
        raise NoBoxError("its subscripts are no linear functions of the loops")
    value = subscript.get_coefficient_val(isl.dim_type.param, place)
    if not value.is_int():
        raise NoBoxError("its subscripts are no linear functions of the loops")
    return int(value.to_python())


def _is_divided(subscript: isl.Aff, place: int) -> bool:
    """Whether the parameter at ``place`` stands in a quotient too, such as ``i // 2``, whose steps are uneven."""
    return any(
        not subscript.get_coefficient_val(isl.dim_type.div, number).is_zero()
        and subscript.get_div(number).involves_dims(isl.dim_type.param, place, 1)
        for number in range(subscript.dim(isl.dim_type.div))
    )
