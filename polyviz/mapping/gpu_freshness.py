"""Whether what a block copies to shared memory may have changed in the same launch, and by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_boxes import NoBoxError, copied_cells
from polyviz.mapping.gpu_space import thread_instances
from polyviz.model.device import COORDINATE_PREFIX, coordinate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.mapping.gpu_boxes import Reading, Tile
    from polyviz.mapping.gpu_runs import Run
    from polyviz.model.device import DeviceKernel
    from polyviz.model.scop import Access, Scop
    from polyviz.model.staging import StagedBox


def is_written(scop: Scop, tile: Tile, reading: Reading, box: StagedBox) -> bool:
    """Whether the same block writes some of ``box`` before or after the run, so that a barrier must come first.

    Raises NoBoxError where others write it, since those that copy are not those that read: statements of the run,
    other blocks; and where nothing but that barrier would be won.
    """
    run = tile.run
    found = False
    for other in run.kernel.statements:
        for write in scop.statement(other).accesses:
            if write.kind != "write" or write.array != reading.array:
                continue
            cells = run.kernel.instances[other].apply(write.relation)
            copied = copied_cells(box, cells.get_space())
            if cells.is_disjoint(copied):
                continue
            if other in run.statements or run.place is None or _by_other_blocks(run, other, write, copied):
                raise NoBoxError(f"{other} writes some of it in the same launch")
            found = True
    return found


def _by_other_blocks(run: Run, other: str, write: Access, copied: isl.Set) -> bool:
    """Whether ``other`` writes in one block what ``copied`` says of another."""
    kernel = run.kernel
    instances = thread_instances(kernel.instances[other], other, kernel.blocks, (), ())
    written = _elsewhere(instances.apply(write.relation), kernel)
    both = written.intersect(_of_block(copied, kernel))
    return any(not both.intersect_params(_differ(axis.axis)).is_empty() for axis in kernel.blocks)


def _of_block(cells: isl.Set, kernel: DeviceKernel) -> isl.Set:
    """``cells`` at any time, with the coordinates of blocks and of the host only."""
    kept = {coordinate("block", axis.axis) for axis in kernel.blocks}
    kept |= {coordinate("host", str(place)) for place in range(len(kernel.host))}
    return _without(cells, [name for name in _parameters(cells) if name not in kept])


def _without(cells: isl.Set, names: Sequence[str]) -> isl.Set:
    for name in names:
        if name.startswith(COORDINATE_PREFIX):
            cells = cells.project_out(isl.dim_type.param, _parameters(cells).index(name), 1)
    return cells


def _parameters(cells: isl.Set) -> list[str]:
    return [str(cells.get_dim_name(isl.dim_type.param, place)) for place in range(cells.dim(isl.dim_type.param))]


def _elsewhere(cells: isl.Set, kernel: DeviceKernel) -> isl.Set:
    """``cells`` of a block whose coordinates have other names."""
    for axis in kernel.blocks:
        name = coordinate("block", axis.axis)
        if name in _parameters(cells):
            place = _parameters(cells).index(name)
            cells = cells.set_dim_id(isl.dim_type.param, place, isl.Id(coordinate("elsewhere", axis.axis)))
    return cells


def _differ(axis: str) -> isl.Set:
    here, there = coordinate("block", axis), coordinate("elsewhere", axis)
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 2)
    for place, name in enumerate((here, there)):
        space = space.set_dim_id(isl.dim_type.param, place, isl.Id(name))
    local = isl.LocalSpace.from_space(space)
    values = [
        isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.param, place)) for place in range(2)
    ]
    return values[0].ne_set(values[1])
