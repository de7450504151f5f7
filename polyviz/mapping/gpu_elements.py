"""How many cells one thread computes: as many as its registers hold, so that what it reads from shared memory serves many.

Source: Volkov, Demmel, *Benchmarking GPUs to tune dense linear algebra* (SC 2008).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from polyviz.mapping.gpu_boxes import strides_of
from polyviz.mapping.gpu_runs import row_coordinate
from polyviz.mapping.gpu_space import context_of, grid_of, points_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from polyviz.mapping.gpu_boxes import Tile
    from polyviz.model.device import DeviceKernel
    from polyviz.model.scop import Access, Scop
    from polyviz.model.staging import DeviceOptions, StagedBox
    from polyviz.model.superposition import Axis

ELEMENTS: tuple[Mapping[Axis, int], ...] = (
    {"x": 8, "y": 8},
    {"x": 4, "y": 8},
    {"x": 4, "y": 4},
    {"x": 2, "y": 4},
    {"x": 2, "y": 2},
)
"""Cells of one thread along each axis, the largest that fits into registers; powers of two, as pieces of copies are."""
THREADS: Mapping[Axis, int] = {"x": 16, "y": 16}
"""Threads of a block whose threads have several cells."""
MOST_REGISTERS = 128
"""With so many, two blocks of 256 threads share a multiprocessor: one computes while the other waits."""
BLOCKS_PER_MULTIPROCESSOR = 2
_BESIDE = 40
"""Registers for coordinates, addresses and sizes: what NVRTC needed beyond the cells, for sm_80 and sm_90."""
_REGISTER_BYTES = 4
_AXES: tuple[Axis, ...] = ("x", "y", "z")


def register_estimate(
    scop: Scop, tile: Tile, kept: Collection[tuple[str, Access]], boxes: Sequence[StagedBox], cell: int
) -> int:
    """Registers of one thread: its accumulators, what it reads in a step from ``boxes``, and everything else.

    Cells take ``cell`` bytes.
    """
    cells = prod(tile.elements.values()) * len(kept)
    for box in boxes:
        moves = {
            tuple(strides_of(tile.run, name, access).items())
            for name in tile.run.statements
            for access in scop.statement(name).accesses
            if access.span in box.spans and access.array == box.array and access.kind == "read"
        }
        cells += sum(_cells_of_step(tile, dict(one)) for one in moves)
    return _BESIDE + cells * -(-cell // _REGISTER_BYTES)


def _cells_of_step(tile: Tile, moves: Mapping[str, tuple[int, ...]]) -> int:
    """What one reference reads in a step: one cell serves all those of a thread along axes where it does not move."""
    return prod(size for axis, size in tile.elements.items() if any(moves[row_coordinate(axis)]))


def wider_kernels(scop: Scop, kernel: DeviceKernel, options: DeviceOptions) -> Iterator[DeviceKernel]:
    """``kernel`` with several cells per thread: as the user asks, or with fewer and fewer of them."""
    sizes = {axis.axis: axis.size for axis in kernel.threads}
    if options.elements is None and (len(sizes) != 2 or min(sizes.values()) < min(THREADS.values())):
        return
    most = max(THREADS.values()) if len(sizes) > 1 else max(sizes.values())
    threads = {axis: min(size, most) for axis, size in sizes.items()}
    asked = None if options.elements is None else dict(zip(_AXES, options.elements, strict=False))
    for elements in ELEMENTS if asked is None else (asked,):
        if any(elements.get(axis, 1) > 1 for axis in sizes):
            yield _spread(scop, kernel, threads, elements)


def _spread(
    scop: Scop, kernel: DeviceKernel, threads: Mapping[Axis, int], elements: Mapping[Axis, int]
) -> DeviceKernel:
    """``kernel`` with other numbers of threads, each of which has several cells: sizes never decide what is legal."""
    fewer = tuple(replace(axis, size=threads.get(axis.axis, axis.size)) for axis in kernel.threads)
    blocks = []
    for block in kernel.blocks:
        thread = next((one for one in fewer if one.texts == block.texts), None)
        size = block.size if thread is None else thread.size * elements.get(thread.axis, 1)
        blocks.append(replace(block, size=size))
    points = points_of(blocks, fewer)
    return replace(
        kernel,
        blocks=tuple(blocks),
        threads=fewer,
        points=points,
        context=context_of(scop, kernel.instances, blocks, fewer, points),
        grid=grid_of(kernel.instances, blocks),
    )
