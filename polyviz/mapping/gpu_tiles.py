"""The parts of a staged run: boxes that pay, accumulators for registers, bounds of the loop, tiles that are full."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_boxes import (
    COUNTED,
    NoBoxError,
    Reading,
    active_lanes,
    box_of,
    per_request,
    readings,
    strides_of,
)
from polyviz.mapping.gpu_freshness import is_written
from polyviz.mapping.gpu_runs import STEP, TILE, NoRunError, component, row_coordinate, tile_of
from polyviz.mapping.gpu_space import floor_of, parameter, thread_instances, with_value, within_tile
from polyviz.model.expression import Assign
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.staging import StagedMember

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.mapping.gpu_boxes import Tile
    from polyviz.mapping.gpu_runs import Run
    from polyviz.model.scop import Access, Scop
    from polyviz.model.staging import StagedBox

_LEAST_GAIN = 2
"""How many times fewer transactions make up for the barriers of a tile that is read once."""
_MOST_PIECES = 4
"""A condition with more disjuncts costs more than it gives."""


def register_writes(scop: Scop, run: Run, private: frozenset[str]) -> dict[str, Access]:
    """The statements of ``run`` whose cell stays the same in the whole loop, with the access that writes it."""
    if run.place is None:
        return {}
    found = {}
    for name in run.statements:
        statement = scop.statement(name)
        writes = [access for access in statement.accesses if access.kind == "write"]
        simple = len(statement.body) == 1 and isinstance(statement.body[0], Assign)
        if len(writes) != 1 or not simple or writes[0].array in private or not writes[0].exact:
            continue
        if not writes[0].relation.dim(isl.dim_type.out) or not _stays(run, name, writes[0]):
            continue
        if not _is_touched_elsewhere(scop, run, name, writes[0]):
            found[name] = writes[0]
    return found


def _stays(run: Run, name: str, access: Access) -> bool:
    try:
        return not any(strides_of(run, name, access)[STEP])
    except NoBoxError:
        return False


def _is_touched_elsewhere(scop: Scop, run: Run, name: str, write: Access) -> bool:
    """Whether another reference of the run may mean a cell that would live in a register."""
    cells = block_cells(run, name, write)
    for other in run.statements:
        for access in scop.statement(other).accesses:
            if access.array != write.array or (other == name and access.span == write.span):
                continue
            if not access.exact or not cells.is_disjoint(block_cells(run, other, access)):
                return True
    return False


def block_cells(run: Run, name: str, access: Access) -> isl.Set:
    """What one block touches by ``access`` of a statement at one time outside the threads."""
    kernel = run.kernel
    instances = thread_instances(kernel.instances[name], name, kernel.blocks, (), ())
    cells: isl.Set = run.fixed(instances, name, rows=False, step=False).apply(access.relation)
    return cells


def kept_boxes(
    scop: Scop, tile: Tile, kept: Sequence[tuple[str, Access]], private: frozenset[str]
) -> tuple[tuple[StagedBox, ...], list[tuple[str, str]]]:
    """The boxes that save traffic, and the arrays that stay in global memory with the reason."""
    boxes, refused = [], []
    for reading in readings(scop, tile, kept):
        try:
            boxes.append(_worthwhile(scop, tile, reading, private))
        except NoBoxError as error:
            refused.append((reading.array, str(error)))
    return tuple(boxes), refused


def _worthwhile(scop: Scop, tile: Tile, reading: Reading, private: frozenset[str]) -> StagedBox:
    if reading.array in private:
        raise NoBoxError("each iteration has a copy of its own")
    moves = [strides_of(tile.run, *one) for one in reading.accesses]
    if tile.run.place is not None and not any(any(one[STEP]) for one in moves):
        raise NoBoxError("the loop does not move what a thread reads of it")
    box = box_of(tile, reading)
    if box.after >= box.before:
        costs = f"a copy would cost {box.after} transactions per tile, reading costs {box.before}"
        raise NoBoxError(f"{costs} {COUNTED}")
    box = replace(box, fresh=is_written(scop, tile, reading, box))
    if tile.run.place is None and all(_is_coalesced(tile.run, *one) for one in reading.accesses):
        _require_overlap(box, reading)
    return box


def _require_overlap(box: StagedBox, reading: Reading) -> None:
    """Where neighbours read neighbouring cells, once per thread, a tile is for cells that several threads read."""
    if len(reading.accesses) == 1:
        raise NoBoxError("neighbours read neighbouring cells, once per thread")
    if box.before < _LEAST_GAIN * box.after:
        costs = f"a copy would cost {box.after} transactions per tile, reading {box.before}"
        raise NoBoxError(f"{costs} {COUNTED}: too little for two barriers")


def _is_coalesced(run: Run, name: str, access: Access) -> bool:
    """Whether a request needs as few transactions as its bytes do."""
    return per_request(strides_of(run, name, access), active_lanes(run, name)) <= 4


def bounds_of(run: Run) -> tuple[isl.PwAff | None, isl.PwAff | None]:
    """The first and the last step that a block has at one time; None where there is no loop."""
    if run.place is None:
        return None, None
    steps = reduce(
        isl.Set.union,
        (
            run.instances(name, rows=False, step=False, block=True).apply(run.steps(name))
            for name in run.statements
        ),
    )
    first, last = steps.dim_min(0).coalesce(), steps.dim_max(0).coalesce()
    if max(first.n_piece(), last.n_piece()) > _MOST_PIECES:
        raise NoRunError("the bounds of its loop are too complicated")
    return first, last


def members_of(tile: Tile, writes: Mapping[str, Access]) -> tuple[StagedMember, ...]:
    """The statements of a run with where they have instances."""
    run = tile.run
    known = _coordinates(tile)
    found = []
    for name in run.statements:
        instances = run.instances(name)
        guard = instances.params().gist(known).coalesce()
        alive = run.instances(name, step=False).params().gist(known).coalesce()
        if max(guard.n_basic_set(), alive.n_basic_set()) > _MOST_PIECES:
            raise NoRunError("the conditions on its instances are too complicated")
        found.append(StagedMember(name, _iterators(instances), guard, alive, name in writes))
    return tuple(found)


def _iterators(instances: isl.Set) -> tuple[isl.PwAff, ...]:
    """The iterators of the only instance at given coordinates."""
    pieces = [function for _, function in pieces_of(isl.PwMultiAff.from_set(instances))]
    if len(pieces) != 1:
        raise NoRunError("its instances follow from its loops in more than one way")
    return tuple(
        isl.PwAff.from_aff(pieces[0].get_aff(place)) for place in range(instances.dim(isl.dim_type.set))
    )


def _coordinates(tile: Tile) -> isl.Set:
    """What holds of rows and blocks wherever a thread is."""
    kernel = tile.run.kernel
    known = kernel.context
    for thread in kernel.threads:
        number, size = tile_of(kernel, tile.run.statements, thread)
        known = known.intersect(within_tile(number, row_coordinate(thread.axis), size))
    first, _ = bounds_of(tile.run)
    return known if first is None else known.intersect(first.le_set(parameter(STEP)))


def full_tiles(tile: Tile) -> isl.Set:
    """The blocks and first steps of tiles whose instances all exist; empty where that is hard to tell."""
    run, kernel = tile.run, tile.run.kernel
    every = _box(tile)
    missing: isl.Set | None = None
    for name in run.statements:
        here = run.instances(name, rows=False, step=False).apply(run.coordinates(name))
        left = every.subtract(here).params()
        missing = left if missing is None else missing.union(left)
    assert missing is not None
    first, _ = bounds_of(run)
    known = kernel.context if first is None else kernel.context.intersect(first.le_set(parameter(TILE)))
    full = known.subtract(missing).coalesce().gist(known)
    if full.n_basic_set() > _MOST_PIECES:
        return isl.Set.empty(full.get_space())
    return full


def _box(tile: Tile) -> isl.Set:
    """All coordinates of a tile."""
    kernel = tile.run.kernel
    depth = len(kernel.threads) + (tile.run.place is not None)
    names = ", ".join(f"c{place}" for place in range(depth))
    whole = isl.Map(f"{{ [{names}] -> [{names}] }}")
    result = whole.domain()
    for place, thread in enumerate(kernel.threads):
        number, size = tile_of(kernel, tile.run.statements, thread)
        row = floor_of(component(whole, place), size)
        result = result.intersect(with_value(row, number).domain())
    if tile.run.place is not None:
        window = isl.Map(f"{{ [v] -> [t] : t <= v < t + {tile.depth} }}")
        steps = component(whole, depth - 1).apply_range(window)
        result = result.intersect(with_value(steps, TILE).domain())
    return result
