"""Runs of a kernel: the loop of a thread whose iterations are cut into tiles, and the statements inside it.

All questions are asked between instances that one thread has at the same rows of the thread loops: instances with
different rows never depend on each other between two barriers, which is what made these loops thread loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_space import thread_instances, with_value
from polyviz.model.device import coordinate

if TYPE_CHECKING:
    from collections.abc import Collection

    from polyviz.model.device import DeviceKernel, SpaceAxis
    from polyviz.model.superposition import Axis

STEP = coordinate("step", "0")
"""The parameter for one iteration of the loop of a run."""
TILE = coordinate("tile", "0")
"""The parameter for the first iteration of a tile of that loop."""


class NoRunError(Exception):
    """There is no run; the message says why, in the words of a decision."""


@dataclass(frozen=True, slots=True)
class Run:
    """Statements whose instances alternate in one loop, in the order of an iteration.

    ``place`` is where the loop stands in the time of the kernel; None where a thread has one instance only.
    """

    kernel: DeviceKernel
    statements: tuple[str, ...]
    place: int | None

    def instances(self, name: str, *, rows: bool = True, step: bool = True, block: bool = False) -> isl.Set:
        """The instances of ``name`` in one launch, with parameters for the coordinates that are asked for."""
        kernel = self.kernel
        result = kernel.instances[name]
        if block:
            result = thread_instances(result, name, kernel.blocks, (), ())
        return self.fixed(result, name, rows=rows, step=step)

    def fixed(self, instances: isl.Set, name: str, *, rows: bool = True, step: bool = True) -> isl.Set:
        """``instances`` at the time, and at the rows and the step where they are asked for, that parameters tell."""
        kernel = self.kernel
        order = kernel.order[name]
        for place in range(kernel.uniform):
            value = component(order, place)
            instances = instances.intersect(with_value(value, coordinate("time", str(place))).domain())
        for axis in kernel.threads if rows else ():
            parameter = row_coordinate(axis.axis)
            instances = instances.intersect(with_value(axis.rows[name], parameter).domain())
        if step and self.place is not None:
            instances = instances.intersect(with_value(self.steps(name), STEP).domain())
        return instances

    def steps(self, name: str) -> isl.Map:
        """From an instance to its iteration of the loop."""
        assert self.place is not None
        return component(self.kernel.order[name], self.place)

    def coordinates(self, name: str) -> isl.Map:
        """From an instance to its rows and its step."""
        rows = [axis.rows[name] for axis in self.kernel.threads]
        if self.place is not None:
            rows.append(self.steps(name))
        return reduce(isl.Map.flat_range_product, rows)


def tile_of(kernel: DeviceKernel, names: Collection[str], thread: SpaceAxis) -> tuple[str, int]:
    """The parameter for the tile of a thread loop that a block has at one time, and its length.

    That is the block along some axis, or a strip of the time. Raises NoRunError where blocks do not fit to threads.
    """
    for block in kernel.blocks:
        if all(block.texts.get(name) == thread.texts.get(name) for name in names):
            return coordinate("block", block.axis), block.size
    if thread.axis in kernel.strips:
        return coordinate("time", str(kernel.strips[thread.axis])), thread.size
    raise NoRunError("threads move in a loop that is none of blocks")


def row_coordinate(axis: Axis) -> str:
    """The parameter for the value of the thread loop along ``axis``."""
    return coordinate("row", axis)


def component(order: isl.Map, place: int) -> isl.Map:
    """The value number ``place`` of ``order``.

    >>> print(component(isl.Map("{ S[i, j] -> [j, i] }"), 1))
    { S[i, j] -> [i] }
    """
    length = order.dim(isl.dim_type.out)
    first = order.project_out(isl.dim_type.out, place + 1, length - place - 1)
    return first.project_out(isl.dim_type.out, 0, place)


def find_run(kernel: DeviceKernel, name: str) -> Run:
    """The run around the statement ``name``. Raises NoRunError."""
    _require_rows(kernel, name)
    place = _step_place(kernel, name)
    found = [name]
    for other in kernel.statements:
        if other == name or not _meet(kernel, name, other):
            continue
        _require_rows(kernel, other)
        if all(_positions(kernel, name, other)):
            found.append(other)
    names = tuple(found)
    for member in names:
        if _step_place(kernel, member) != place or not _is_one_instance(kernel, member, place):
            raise NoRunError("a thread has more than one loop there")
    if len(names) > 1 and (place is None or not _share_loop(kernel, names, place)):
        raise NoRunError("its statements share no loop")
    return Run(kernel, names if place is None else _in_order(kernel, names, place), place)


def is_after(kernel: DeviceKernel, run: Run, other: str) -> bool:
    """Whether a thread has ``other`` after the whole ``run`` rather than before. Raises NoRunError for neither."""
    found = set()
    for name in run.statements:
        if _meet(kernel, name, other):
            _require_rows(kernel, other)
            found.add(_positions(kernel, name, other))
    if found <= {(True, False), (False, False)}:
        return False
    if found <= {(False, True), (False, False)}:
        return True
    raise NoRunError(f"{other} runs in the middle of its loop")


def _require_rows(kernel: DeviceKernel, name: str) -> None:
    if any(tree.statement == name for tree in kernel.trees):
        raise NoRunError("its terms are dealt to threads, each of which reads its own")
    if not kernel.threads or any(name not in axis.rows for axis in kernel.threads):
        raise NoRunError("one thread alone runs part of it")


def _base(kernel: DeviceKernel, name: str) -> isl.Map:
    """From an instance to its time outside the threads and to its rows."""
    rows = [axis.rows[name] for axis in kernel.threads]
    whole = reduce(isl.Map.flat_range_product, [_prefix(kernel, name), *rows])
    return whole.intersect_domain(kernel.instances[name])


def _prefix(kernel: DeviceKernel, name: str) -> isl.Map:
    order = kernel.order[name]
    return order.project_out(isl.dim_type.out, kernel.uniform, order.dim(isl.dim_type.out) - kernel.uniform)


def prefix_times(kernel: DeviceKernel, name: str, instances: isl.Set) -> isl.Set:
    """The times outside the threads at which ``instances`` of ``name`` run."""
    return instances.apply(_prefix(kernel, name))


def _step_place(kernel: DeviceKernel, name: str) -> int | None:
    """The first value of the time that changes for a thread at fixed rows."""
    order, back = kernel.order[name], _base(kernel, name).reverse()
    for place in range(kernel.uniform, order.dim(isl.dim_type.out)):
        if not back.apply_range(component(order, place)).is_single_valued():
            return place
    return None


def _is_one_instance(kernel: DeviceKernel, name: str, place: int | None) -> bool:
    base = _base(kernel, name)
    if place is not None:
        base = base.flat_range_product(component(kernel.order[name], place))
    return bool(base.is_injective())


def _share_loop(kernel: DeviceKernel, names: Collection[str], place: int) -> bool:
    """Whether a thread has ``names`` in one loop at ``place`` of the time: nothing before it tells them apart."""
    found = (
        _base(kernel, name).reverse().apply_range(_between(kernel, name, place)).to_union_map() for name in names
    )
    return bool(reduce(isl.UnionMap.union, found).is_single_valued())


def _between(kernel: DeviceKernel, name: str, place: int) -> isl.Map:
    """The values of the time between those outside the threads and number ``place``."""
    order = kernel.order[name]
    first = order.project_out(isl.dim_type.out, place, order.dim(isl.dim_type.out) - place)
    return first.project_out(isl.dim_type.out, 0, kernel.uniform)


def _meet(kernel: DeviceKernel, one: str, other: str) -> bool:
    """Whether both run at some common time outside the threads."""
    times = [prefix_times(kernel, name, kernel.instances[name]) for name in (one, other)]
    return not times[0].is_disjoint(times[1])


def _positions(kernel: DeviceKernel, one: str, other: str) -> tuple[bool, bool]:
    """Whether some instances of ``other`` come before, and some after, instances of ``one`` at the same rows."""
    same = _base(kernel, one).apply_range(_base(kernel, other).reverse())
    mine, theirs = (kernel.order[name].intersect_domain(kernel.instances[name]) for name in (one, other))
    before, after = same.intersect(mine.lex_gt_map(theirs)), same.intersect(mine.lex_lt_map(theirs))
    return not before.is_empty(), not after.is_empty()


def _in_order(kernel: DeviceKernel, names: Collection[str], place: int) -> tuple[str, ...]:
    """``names`` as every iteration of the loop at ``place`` has them. Raises NoRunError where iterations differ."""
    before = {
        name: {other for other in names if other != name and _precedes(kernel, other, name, place)}
        for name in names
    }
    result: list[str] = []
    while len(result) < len(names):
        free = (name for name in names if name not in result and before[name] <= {*result})
        following = next(free, None)
        if following is None:
            raise NoRunError("its statements change places from one iteration to another")
        result.append(following)
    return tuple(result)


def _precedes(kernel: DeviceKernel, one: str, other: str, place: int) -> bool:
    """Whether an instance of ``one`` comes before one of ``other`` in the same iteration."""
    same = _step_map(kernel, one, place).apply_range(_step_map(kernel, other, place).reverse())
    mine, theirs = (kernel.order[name].intersect_domain(kernel.instances[name]) for name in (one, other))
    return not same.intersect(mine.lex_lt_map(theirs)).is_empty()


def _step_map(kernel: DeviceKernel, name: str, place: int) -> isl.Map:
    return _base(kernel, name).flat_range_product(component(kernel.order[name], place))
