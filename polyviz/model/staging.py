"""How a kernel uses its near memories: runs of a loop whose operands are staged in shared memory, tile by tile.

A *run* is everything that one thread does of a sequential loop at one time of its kernel: accumulators live in
registers for the whole run, what the threads of a block read is copied to shared memory one tile of the loop at a
time. Source: Verdoolaege et al., *Polyhedral parallel code generation for CUDA* (TACO 2013), section 5; register tiles
after Volkov, Demmel, *Benchmarking GPUs to tune dense linear algebra* (SC 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.errors import Span
    from polyviz.model.superposition import Axis

SHARED_BYTES = 48 * 1024
"""Bytes of shared memory that a block may use on every device without asking."""


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """What the mapping to a device may do; every technique can be switched off.

    ``stage``: copy what a block reads again, or reads across rows, to shared memory. ``elements``: cells that one
    thread computes along x, y, and how its accumulators become a register tile; None chooses, ``(1, 1)`` is one cell.
    ``depth``: iterations of the loop per tile; None chooses. ``prefetch``: copy the next tile while this one is used.
    ``padding``: longer rows of tiles where that avoids bank conflicts. ``vectors``: copies of 16 bytes where rows
    start at such addresses, which the kernel tests, and loads of as many bytes to registers, for which the cells of a
    thread stand beside each other in tiles. ``trees``: threads share accumulations. ``shared_bytes``: what the tiles
    of a block may take. ``threads``: how many a block has along x, y, z under an order without a second level;
    None chooses. A superposition has threads of its own.
    """

    stage: bool = True
    elements: tuple[int, ...] | None = None
    depth: int | None = None
    prefetch: bool = True
    padding: bool = True
    vectors: bool = True
    trees: bool = True
    shared_bytes: int = SHARED_BYTES
    threads: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class StagedBox:
    """A box of ``extents`` cells of ``array`` in shared memory: what the references at ``spans`` read in one tile.

    ``lower`` is its first cell, a function of sizes, blocks and the first iteration of the tile; only cells from
    ``first`` to ``last`` in each subscript are copied, all of which the original loops read or lie between such.
    None is copied where ``wanted`` does not hold: only other statements of the run happen then.
    With ``fresh`` the block itself writes some of it at other times. ``before`` and ``after`` are the transactions of
    global memory per tile that it takes without and with the copy, for cells of eight bytes.
    """

    array: str
    extents: tuple[int, ...]
    lower: tuple[isl.PwAff, ...]
    first: tuple[isl.PwAff, ...]
    last: tuple[isl.PwAff, ...]
    wanted: isl.Set
    spans: frozenset[Span]
    before: int
    after: int
    reason: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class Unstaged:
    """An array that ``statements`` read from global memory, and why no tile of it lives in shared memory."""

    array: str
    statements: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class StagedMember:
    """A statement of a run.

    ``iterators`` are its iterators as functions of the coordinates of the run (rows, step, time); it has an instance
    there where ``guard`` holds, and at some step of the run where ``alive`` does. ``register``: the cell that it
    assigns is the same at all steps and lives in a register.
    """

    statement: str
    iterators: tuple[isl.PwAff, ...]
    guard: isl.Set
    alive: isl.Set
    register: bool


@dataclass(frozen=True, slots=True)
class StagedRun:
    """A run: its statements in their order, at the times ``times`` of the kernel, whose first ``prefix`` values count.

    ``first`` and ``last`` bound the steps of the loop, None where there is no loop; ``depth`` steps make a tile. A tile
    is ``full`` where all its instances exist. ``elements`` are the cells of one thread along each axis of threads,
    ``registers`` what it will need of registers of four bytes, estimated.
    """

    name: str
    members: tuple[StagedMember, ...]
    times: isl.Set
    prefix: int
    first: isl.PwAff | None
    last: isl.PwAff | None
    depth: int
    full: isl.Set
    boxes: tuple[StagedBox, ...]
    elements: tuple[tuple[Axis, int], ...]
    registers: int

    @property
    def statements(self) -> tuple[str, ...]:
        """The names of its statements."""
        return tuple(member.statement for member in self.members)
