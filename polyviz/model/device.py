"""What a parallel device with blocks and threads runs: kernels over isl maps, as the mapping leaves them to codegen.

A kernel is one launch: a grid of blocks, each a group of threads. Coordinates are isl parameters that no name of a
source can equal; :func:`coordinate` spells them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.model.staging import DeviceOptions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import islpy as isl

    from polyviz.model.schedule import Decision
    from polyviz.model.staging import StagedRun, Unstaged
    from polyviz.model.superposition import Axis

COORDINATE_PREFIX = "@"
"""What the names of coordinates start with: an iterator of the source never does."""
LARGEST_BLOCK = 1024
"""Threads that one block can hold on every device since compute capability 2.0."""


def coordinate(kind: str, axis: str) -> str:
    """The parameter for a coordinate: ``block`` or ``thread`` along an axis, ``point`` for both, ``host`` by number.

    >>> coordinate("thread", "x")
    '@thread_x'
    """
    return f"{COORDINATE_PREFIX}{kind}_{axis}"


def plain_name(texts: Collection[str], otherwise: str) -> str:
    """The iterator that all ``texts`` are, or ``otherwise``.

    >>> plain_name(["i", "i"], "step"), plain_name(["i", "i + 1"], "step")
    ('i', 'step')
    """
    names = set(texts)
    name = names.pop() if len(names) == 1 else otherwise
    return name if name.isidentifier() else otherwise


@dataclass(frozen=True, slots=True)
class SpaceAxis:
    """One axis of the grid of blocks, or of the threads in a block.

    ``rows`` maps the instances of each statement to one value, ``texts`` is that value in the source's words. A block
    holds ``size`` values in a row; threads are ``size`` many and take every ``size``-th value each.
    """

    axis: Axis
    size: int
    rows: Mapping[str, isl.Map]
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Point:
    """A value that one block coordinate and one thread coordinate fix together: ``size * block + thread``."""

    block: Axis
    thread: Axis
    size: int
    statements: tuple[str, ...]
    name: str

    @property
    def parameter(self) -> str:
        """The isl parameter that stands for the value."""
        return coordinate("point", f"{self.block}{self.thread}")


@dataclass(frozen=True, slots=True)
class GridEnds:
    """Where the grid begins and ends along one axis: at the largest of ``first``, at the smallest of ``last``."""

    first: tuple[isl.PwAff, ...]
    last: tuple[isl.PwAff, ...]


@dataclass(frozen=True, slots=True)
class DeviceBarrier:
    """All threads of a block wait for each other at every time of ``times``; ``protects`` says for which dependence."""

    name: str
    times: isl.Set
    protects: str


@dataclass(frozen=True, slots=True)
class TreeReduction:
    """An accumulation that the threads along ``axis`` share: each makes a part of it, then they join parts in a tree.

    ``row`` deals the instances to the threads. The parts begin at ``begin`` and are joined at ``join``, times that are
    the same for all threads; the instances ``finish``, one per accumulating cell, stand for the last step, at the time
    that ``finish_order`` gives.
    """

    statement: str
    array: str
    operator: str
    axis: Axis
    row: isl.Map
    begin: isl.Set
    join: isl.Set
    finish: isl.Set
    finish_order: isl.Map


@dataclass(frozen=True, slots=True)
class DeviceKernel:
    """One kernel before its loops are written.

    ``host``: the rows of the sequential loops that launch it, outermost first. ``order``: when one thread runs an
    instance, as a map into the time of the kernel; the first ``uniform`` values are the same for all threads that meet
    at a barrier. ``trees`` are the accumulations that threads may share where sums may be reordered; otherwise one
    thread along that axis makes them. ``grid`` holds the ends of the grid along each axis of ``blocks``, over sizes and
    host loops. ``strips`` are the axes of threads whose loop is none of blocks, each with the place in the
    time of its tile of as many iterations as there are threads. ``runs`` replace what their statements do in
    ``order``; ``unstaged`` tells why other arrays have no tile.
    """

    number: int
    statements: tuple[str, ...]
    host: tuple[Mapping[str, isl.Map], ...]
    host_names: tuple[str, ...]
    blocks: tuple[SpaceAxis, ...]
    threads: tuple[SpaceAxis, ...]
    points: tuple[Point, ...]
    instances: Mapping[str, isl.Set]
    order: Mapping[str, isl.Map]
    uniform: int
    context: isl.Set
    grid: tuple[GridEnds, ...]
    barriers: tuple[DeviceBarrier, ...] = ()
    phases: tuple[str, ...] = ()
    trees: tuple[TreeReduction, ...] = ()
    strips: Mapping[Axis, int] = field(default_factory=dict)
    runs: tuple[StagedRun, ...] = ()
    unstaged: tuple[Unstaged, ...] = ()

    @property
    def threads_per_block(self) -> int:
        """How many threads a block has."""
        product = 1
        for axis in self.threads:
            product *= axis.size
        return product


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """All kernels of a part, and when the host launches each: a map from the values of its host loops to a time.

    ``decisions`` say what the mapping had to do beyond its rules, ``options`` what it was allowed to do.
    ``plain`` are the kernels before anything was staged; the largest cells take ``cell`` bytes. ``smaller``: how many
    steps the register tile of a kernel, by its number, is below the largest that fits by the estimate.
    """

    kernels: tuple[DeviceKernel, ...]
    launches: Mapping[int, isl.Map]
    decisions: tuple[Decision, ...] = ()
    options: DeviceOptions = field(default_factory=DeviceOptions)
    plain: tuple[DeviceKernel, ...] = ()
    cell: int = 8
    smaller: Mapping[int, int] = field(default_factory=dict)
