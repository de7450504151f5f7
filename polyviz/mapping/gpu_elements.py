"""How many cells one thread computes: as many as registers hold, so that what it reads of a tile serves many.

Source: Volkov, Demmel, *Benchmarking GPUs to tune dense linear algebra* (SC 2008).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from polyviz.mapping.gpu_boxes import strides_of
from polyviz.mapping.gpu_runs import row_coordinate
from polyviz.mapping.gpu_space import context_of, grid_of, points_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

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


@dataclass(frozen=True, slots=True)
class RegisterNeed:
    """What one thread of a run keeps in registers: ``accumulators`` per cell, and cells that it reads in a step.

    ``operands``: per reference to a tile the axes of threads along which it moves.
    """

    accumulators: int
    operands: frozenset[tuple[str, frozenset[Axis]]]

    def estimate(self, elements: Mapping[Axis, int], cell: int) -> int:
        """Registers of one thread with so many ``elements``, whose cells take ``cell`` bytes.

        >>> RegisterNeed(1, frozenset([("A", frozenset("y")), ("B", frozenset("x"))])).estimate({"x": 8, "y": 8}, 4)
        120
        """
        cells = prod(elements.values()) * self.accumulators
        # One value serves all cells of a thread along axes where its reference does not move.
        cells += sum(prod(elements.get(axis, 1) for axis in axes) for _, axes in self.operands)
        return _BESIDE + cells * -(-cell // _REGISTER_BYTES)


def register_need(
    scop: Scop, tile: Tile, kept: Collection[tuple[str, Access]], boxes: Sequence[StagedBox]
) -> RegisterNeed:
    """What a thread of a run keeps in registers: the cells of ``kept``, and what it reads of ``boxes``."""
    operands = set()
    for number, box in enumerate(boxes):
        for name in tile.run.statements:
            for access in scop.statement(name).accesses:
                if access.span in box.spans and access.array == box.array and access.kind == "read":
                    moves = strides_of(tile.run, name, access)
                    axes = (axis for axis in tile.elements if any(moves[row_coordinate(axis)]))
                    operands.add((f"{number} {moves}", frozenset(axes)))
    return RegisterNeed(len(kept), frozenset(operands))


def best_elements(needs: Sequence[RegisterNeed], cell: int, smaller: int = 0) -> Mapping[Axis, int] | None:
    """The most cells per thread with which all of ``needs`` fit into registers, or so many steps ``smaller`` ones.

    None where one cell is all.

    >>> product = RegisterNeed(1, frozenset([("A", frozenset("y")), ("B", frozenset("x"))]))
    >>> best_elements([product], 8), best_elements([product], 8, 1)
    ({'x': 4, 'y': 8}, {'x': 4, 'y': 4})
    """
    fitting = [
        elements
        for elements in ELEMENTS
        if all(need.estimate(elements, cell) <= MOST_REGISTERS for need in needs)
    ]
    return fitting[smaller] if smaller < len(fitting) else None


def wider_kernel(
    scop: Scop,
    kernel: DeviceKernel,
    options: DeviceOptions,
    needs: Sequence[RegisterNeed],
    cell: int,
    smaller: int = 0,
) -> DeviceKernel | None:
    """``kernel`` with several cells per thread, as the user asks or as registers allow; None where one is enough.

    Threads that somebody asked for stay as many as they are; too many for several cells each have one.
    ``smaller``: as :func:`best_elements` takes it.
    """
    sizes = {axis.axis: axis.size for axis in kernel.threads}
    if options.threads is not None and options.elements is None and prod(sizes.values()) > prod(THREADS.values()):
        return None
    if options.elements is not None:
        elements: Mapping[Axis, int] | None = dict(zip(_AXES, options.elements, strict=False))
    elif len(sizes) != 2 or min(sizes.values()) < min(THREADS.values()):
        return None
    else:
        elements = best_elements(needs, cell, smaller)
    if elements is None or all(elements.get(axis, 1) == 1 for axis in sizes):
        return None
    if options.threads is not None:
        return _spread(scop, kernel, sizes, elements)
    most = max(THREADS.values()) if len(sizes) > 1 else max(sizes.values())
    threads = {axis: min(size, most) for axis, size in sizes.items()}
    return _spread(scop, kernel, threads, elements)


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
