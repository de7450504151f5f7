"""Kernels with their runs staged: tiles of a loop in shared memory, accumulators in registers, several cells a thread.

The blocks of a kernel may hold more cells than they have threads; then every thread computes some of them, one
``threads`` further than the other, and what it reads from shared memory serves all of them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_boxes import NoBoxError, Tile
from polyviz.mapping.gpu_elements import register_need, wider_kernel
from polyviz.mapping.gpu_runs import NoRunError, Run, find_run, is_after, prefix_times, tile_of
from polyviz.mapping.gpu_space import thread_instances
from polyviz.mapping.gpu_strips import with_place, with_strips
from polyviz.mapping.gpu_tiles import bounds_of, full_tiles, kept_boxes, members_of, register_writes
from polyviz.model.device import coordinate
from polyviz.model.isl_limits import LimitError, at_most, cause_of
from polyviz.model.schedule import Decision
from polyviz.model.staging import StagedRun, Unstaged
from polyviz.model.words import sized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.mapping.gpu_elements import RegisterNeed
    from polyviz.model.device import DeviceKernel
    from polyviz.model.scop import Access, Scop
    from polyviz.model.staging import DeviceOptions, StagedBox
    from polyviz.model.superposition import Axis

DEPTHS = (32, 16, 8, 4)
"""Steps of a tile, the largest that fits; at most ``WIDE_DEPTH`` where threads have several cells."""
WIDE_DEPTH = 8
_OPERATIONS = 600_000
"""What isl may spend on one kernel."""


def staged(
    scop: Scop,
    kernel: DeviceKernel,
    options: DeviceOptions,
    private: frozenset[str],
    cell: int,
    smaller: int = 0,
) -> tuple[DeviceKernel, list[Decision]]:
    """``kernel`` with what its runs read in shared memory where that saves traffic, and why or why not.

    ``private`` are the arrays that each iteration has a copy of; the largest cells take ``cell`` bytes. Register tiles
    are so many steps ``smaller`` than the estimate allows.
    """
    stager = _Stager(scop, kernel, options, private, cell, smaller)
    if not options.stage:
        return stager.nothing("staging is switched off"), []
    try:
        with at_most(_OPERATIONS):
            return stager.result()
    except isl.Error as error:
        reason = _failure(error)
        text = f"arrays stay in global memory: {reason}"
        return stager.nothing(reason), [Decision("promotion", text, kernel.statements)]


def _failure(error: isl.Error) -> str:
    """Why there are no tiles: isl's limit, or what it cannot do; without tiles a kernel is slower, not wrong."""
    if isinstance(error, LimitError):
        return "finding the cells of their tiles takes longer than isl is given for it"
    return f"isl could not find their tiles: {cause_of(error)}"


class _Stager:
    """One kernel in the making; ``decisions`` tell what was decided, ``unstaged`` why arrays have no tile."""

    def __init__(
        self,
        scop: Scop,
        kernel: DeviceKernel,
        options: DeviceOptions,
        private: frozenset[str],
        cell: int,
        smaller: int,
    ) -> None:
        self.scop = scop
        self.kernel = kernel
        self.options = options
        self.private = private
        self.cell = cell
        self.smaller = smaller
        self.decisions: list[Decision] = []
        self.unstaged: dict[tuple[str, str], str] = {}
        self.needs: dict[tuple[str, ...], RegisterNeed] = {}

    def nothing(self, reason: str) -> DeviceKernel:
        """The kernel as it is, since ``reason`` holds for everything."""
        self.unstaged = {}
        for name in self.kernel.statements:
            self._refuse_all(name, reason)
        return self._told(self.kernel)

    def result(self) -> tuple[DeviceKernel, list[Decision]]:
        """The kernel with cells spread over fewer threads where that pays, otherwise as it is."""
        striped = with_strips(self.kernel)
        first = self._runs(striped)
        kept = self.decisions, self.unstaged
        wider = self._wider(first)
        if wider is not None:
            self.decisions, self.unstaged = [], {}
            runs = self._runs(wider)
            if any(run.boxes for run in runs):
                return self._told(_rebuilt(wider, runs)), self.decisions
        self.decisions, self.unstaged = kept
        return self._told(_rebuilt(striped, first) if first else self.kernel), self.decisions

    def _wider(self, runs: Sequence[StagedRun]) -> DeviceKernel | None:
        """The kernel with several cells per thread, where cells live in registers while tiles pass by."""
        for run in runs:
            tiled = run.first is not None and any(member.register for member in run.members)
            if tiled and all(size == 1 for _, size in run.elements):
                needs = [*self.needs.values()]
                return wider_kernel(self.scop, self.kernel, self.options, needs, self.cell, self.smaller)
        return None

    def _told(self, kernel: DeviceKernel) -> DeviceKernel:
        """``kernel`` with the reasons for what it does not stage, equal ones together."""
        found: dict[tuple[str, str], list[str]] = {}
        for (name, array), reason in self.unstaged.items():
            found.setdefault((array, reason), []).append(name)
        rows = (Unstaged(array, tuple(names), reason) for (array, reason), names in found.items())
        return replace(kernel, unstaged=tuple(rows))

    def _runs(self, kernel: DeviceKernel) -> list[StagedRun]:
        found: list[StagedRun] = []
        for name in kernel.statements:
            if any(name in run.statements for run in found):
                continue
            try:
                found.append(self._run(kernel, name, found))
            except (NoRunError, NoBoxError) as error:
                self._decide(name, f"{name} reads global memory: {error}")
                self._refuse_all(name, str(error))
        return found

    def _refuse_all(self, name: str, reason: str) -> None:
        """No array that the statement ``name`` reads has a tile; what was said of one of them before stands."""
        for access in self.scop.statement(name).accesses:
            if access.kind == "read" and access.relation.dim(isl.dim_type.out):
                own = reason if access.exact else "which cells are read depends on data"
                self.unstaged.setdefault((name, access.array), own)

    def _refuse(self, name: str, array: str, reason: str) -> None:
        self.unstaged[name, array] = reason
        self._decide(name, f"{array} stays in global memory: {reason}")

    def _run(self, kernel: DeviceKernel, name: str, known: Sequence[StagedRun]) -> StagedRun:
        run = find_run(kernel, name)
        elements = elements_of(kernel, run)
        writes = register_writes(self.scop, run, self.private)
        depth, boxes = self._tiles(run, elements, [*writes.items()], self._left(kernel, known))
        if not boxes:
            raise NoRunError("no copy would save traffic")
        tile = Tile(run, depth, elements)
        for box in boxes:
            size = sized(box.extents, "cell")
            self._decide(name, f"{box.array}: a tile of {size} lives in shared memory: {box.reason}")
        for one, access in writes.items():
            cells = sized((elements[axis.axis] for axis in kernel.threads), "cell")
            live = "lives" if cells.endswith("cell") else "live"
            self._decide(one, f"{access.array}: {cells} of each thread {live} in registers during its loop")
        first, last = bounds_of(run)
        need = self.needs[run.statements] = register_need(self.scop, tile, writes.items(), boxes)
        return StagedRun(
            name=f"run{kernel.number}_{len(known)}",
            members=members_of(tile, writes),
            times=_times(run),
            prefix=kernel.uniform,
            first=first,
            last=last,
            depth=depth,
            full=full_tiles(tile),
            boxes=boxes,
            elements=tuple(elements.items()),
            registers=need.estimate(elements, self.cell),
        )

    def _tiles(
        self, run: Run, elements: Mapping[Axis, int], kept: Sequence[tuple[str, Access]], left: int
    ) -> tuple[int, tuple[StagedBox, ...]]:
        """The steps of a tile, and its boxes: all that are worthwhile where they fit, the best ones otherwise."""
        depths = self._depths(run, elements)
        for depth in depths:
            boxes, refused = kept_boxes(self.scop, Tile(run, depth, elements), kept, self.private)
            if self._bytes(boxes) <= left:
                break
        else:
            boxes = self._best(boxes, run, left)
        if run.place is None and not boxes:
            raise NoRunError(self._none_of(run.statements[0], refused) or "it has no loop")
        for array, reason in refused:
            self._refuse(run.statements[0], array, reason)
        return depth, boxes

    def _none_of(self, name: str, refused: Sequence[tuple[str, str]]) -> str:
        """Why nothing that ``name`` reads outside a loop has a tile, for every array and in a sentence for all."""
        found: dict[str, dict[str, None]] = {}
        for array, reason in refused:
            found.setdefault(array, {})[reason] = None
        told = {array: "; ".join(reasons) for array, reasons in found.items()}
        self.unstaged.update({(name, array): own for array, own in told.items()})
        every = set(told.values())
        return every.pop() if len(every) == 1 else "; ".join(f"{array}: {own}" for array, own in told.items())

    def _depths(self, run: Run, elements: Mapping[Axis, int]) -> tuple[int, ...]:
        if run.place is None:
            return (1,)
        if self.options.depth is not None:
            return (self.options.depth,)
        wide = any(size > 1 for size in elements.values())
        return tuple(depth for depth in DEPTHS if not wide or depth <= WIDE_DEPTH)

    def _left(self, kernel: DeviceKernel, known: Sequence[StagedRun]) -> int:
        """Bytes that the tiles of other runs and the parts of shared accumulations leave."""
        parts = 2 * self.cell * kernel.threads_per_block * len(kernel.trees)
        return self.options.shared_bytes - parts - sum(self._bytes(run.boxes) for run in known)

    def _bytes(self, boxes: Sequence[StagedBox]) -> int:
        """Enough for two buffers."""
        return 2 * self.cell * sum(_padded_cells(box) for box in boxes)

    def _best(self, boxes: tuple[StagedBox, ...], run: Run, left: int) -> tuple[StagedBox, ...]:
        """Those that save most transactions per byte, up to the budget."""
        kept: list[StagedBox] = []
        for box in sorted(boxes, key=lambda one: (one.after - one.before) / _padded_cells(one)):
            if self._bytes([*kept, box]) <= left:
                kept.append(box)
                continue
            size = self._bytes([box])
            self._refuse(run.statements[0], box.array, f"its tiles of {size} bytes are over the budget")
        return tuple(kept)

    def _decide(self, name: str, text: str) -> None:
        self.decisions.append(Decision("promotion", text, (name,)))


def _padded_cells(box: StagedBox) -> int:
    """Cells of a box with the longest rows that padding may give them, in either order of its subscripts."""
    cells = prod(box.extents)
    rows = cells // box.extents[-1]
    return cells + (max(2 * rows, 8 * cells // max(box.extents)) if rows > 1 else 0)


def elements_of(kernel: DeviceKernel, run: Run) -> dict[Axis, int]:
    """Cells of one thread along each axis of threads. Raises NoRunError where blocks and threads do not fit."""
    found: dict[Axis, int] = {}
    matched = set()
    for thread in kernel.threads:
        tile, size = tile_of(kernel, run.statements, thread)
        if size % thread.size:
            raise NoRunError("the tile of a block is no multiple of its threads")
        found[thread.axis] = size // thread.size
        matched.add(tile)
    if any(coordinate("block", block.axis) not in matched for block in kernel.blocks):
        raise NoRunError("blocks move in a loop that is none of threads")
    return found


def _times(run: Run) -> isl.Set:
    """When the run happens, in a block that has a part of it."""
    kernel = run.kernel
    times = (
        prefix_times(kernel, name, thread_instances(kernel.instances[name], name, kernel.blocks, (), ()))
        for name in run.statements
    )
    return reduce(isl.Set.union, times).coalesce()


def _rebuilt(kernel: DeviceKernel, runs: Sequence[StagedRun]) -> DeviceKernel:
    """``kernel`` with a place among ``runs`` in the time of everything else."""
    runs, places = _placed(kernel, runs)
    if not runs:
        return kernel
    uniform = kernel.uniform
    kernel = with_place(kernel, places)
    length = next(iter(kernel.order.values())).dim(isl.dim_type.out)
    placed = tuple(
        replace(run, times=_at_place(run.times, uniform, 2 * number + 1, length))
        for number, run in enumerate(runs)
    )
    return replace(kernel, runs=placed)


def _placed(kernel: DeviceKernel, runs: Sequence[StagedRun]) -> tuple[list[StagedRun], dict[str, int]]:
    """The runs in their order, without those that something interrupts, and the place of every other statement."""
    kept: list[StagedRun] = []
    for run in runs:
        try:
            position = sum(_follows(kernel, run, other) for other in kept)
        except NoRunError:
            continue
        kept.insert(position, run)
    inside = {name for run in kept for name in run.statements}
    places: dict[str, int] = {}
    for name in kernel.statements:
        if name in inside:
            continue
        try:
            places[name] = 2 * sum(
                is_after(kernel, find_run(kernel, run.statements[0]), name) for run in kept
            )
        except NoRunError:
            return [], {}
    return kept, places


def _follows(kernel: DeviceKernel, run: StagedRun, other: StagedRun) -> bool:
    found = {is_after(kernel, find_run(kernel, other.statements[0]), name) for name in run.statements}
    if len(found) > 1:
        raise NoRunError("two loops alternate")
    return found.pop()


def _at_place(times: isl.Set, uniform: int, place: int, length: int) -> isl.Set:
    """``times`` of ``uniform`` values followed by ``place`` and zeros."""
    missing = length - uniform
    whole = times.insert_dims(isl.dim_type.set, uniform, missing)
    for position in range(missing):
        value = isl.Val(place if position == 0 else 0)
        whole = whole.fix_val(isl.dim_type.set, uniform + position, value)
    return whole.coalesce()
