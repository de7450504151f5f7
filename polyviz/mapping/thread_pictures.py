"""Which thread of which block runs which iteration, for sizes small enough to look at."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_space import with_row
from polyviz.model.device_view import LevelTrees, PlacedIteration, PlaceRule, SharedLoop, ThreadPicture
from polyviz.scheduling.superposed.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.model.device import DeviceKernel, DevicePlan, SpaceAxis
    from polyviz.model.device_view import Triple
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop, Statement
    from polyviz.model.superposition import Superposition

LONGEST = {0: 1, 1: 2048, 2: 70}
"""Values along each iterator that is drawn, by how many of them there are."""
_AXES = ("x", "y", "z")


def level_trees(plan: Plan) -> LevelTrees:
    """The trees of the two levels of a plan for a device, and the loops that both have."""
    assert plan.device is not None
    value = plan.schedule.superposition
    shared = tuple(loop for kernel in plan.device.kernels for loop in _shared_loops(kernel))
    if value is None:
        return LevelTrees(plan.schedule.tree, plan.schedule.tree, shared, same=True)
    return LevelTrees(_block_tree(value, plan.device), value.regular_tree, shared, same=False)


def _block_tree(value: Superposition, device: DevicePlan) -> isl.Schedule:
    """The order of blocks with the tiles that they have as mapped: threads may have taken several cells each."""
    sizes = {
        (name, block.axis): block.size
        for kernel in device.kernels
        for name in kernel.statements
        for block in kernel.blocks
    }
    outer = {
        name: tuple(
            one if one.axis is None or one.tile is None else replace(one, tile=sizes[name, one.axis])
            for one in scattering
        )
        for name, scattering in value.outer.items()
    }
    return value.outer_tree if outer == value.outer else tree_of(value.outer_tree.get_domain(), outer)


def _shared_loops(kernel: DeviceKernel) -> Iterator[SharedLoop]:
    for block in reversed(kernel.blocks):
        by_place: dict[tuple[str, str], list[str]] = {}
        for name, row in block.texts.items():
            threads = [axis.axis for axis in kernel.threads if axis.texts.get(name) == row]
            by_place.setdefault((row, threads[0] if threads else ""), []).append(name)
        for (row, thread), names in by_place.items():
            yield SharedLoop(kernel.number, row, tuple(names), block.axis, block.size, thread)


def thread_pictures(scop: Scop, device: DevicePlan, *, trees: bool) -> tuple[ThreadPicture, ...]:
    """One picture per statement of every kernel; ``trees`` tells that threads share accumulations."""
    return tuple(
        _picture(scop, kernel, scop.statement(name), trees=trees)
        for kernel in device.kernels
        for name in kernel.statements
    )


def place_rules(device: DevicePlan, *, trees: bool) -> tuple[PlaceRule, ...]:
    """Where and when every instance runs; ``trees`` tells that threads share accumulations."""
    return tuple(
        _rule(device, kernel, name, _threads(kernel, name, trees=trees))
        for kernel in device.kernels
        for name in kernel.statements
    )


def _rule(device: DevicePlan, kernel: DeviceKernel, name: str, threads: Sequence[SpaceAxis]) -> PlaceRule:
    instances = kernel.instances[name]
    every = isl.Map.from_domain_and_range(instances, isl.Set("{ [] }"))
    host = reduce(isl.Map.flat_range_product, [row[name] for row in kernel.host], every)
    return PlaceRule(
        statement=name,
        kernel=kernel.number,
        launch=host.apply_range(device.launches[kernel.number]),
        order=kernel.order[name],
        blocks=tuple((axis.axis, axis.size, axis.rows[name]) for axis in kernel.blocks),
        threads=tuple((axis.axis, axis.size, axis.rows[name]) for axis in threads if name in axis.rows),
        block=_sizes(kernel.threads),
    )


def _threads(kernel: DeviceKernel, name: str, *, trees: bool) -> Sequence[SpaceAxis]:
    """The axes of the threads that run a statement, the one that shares its accumulation among them."""
    tree = next((tree for tree in kernel.trees if trees and tree.statement == name), None)
    return kernel.threads if tree is None else with_row(kernel.threads, name, tree)


def _picture(scop: Scop, kernel: DeviceKernel, statement: Statement, *, trees: bool) -> ThreadPicture:
    threads = _threads(kernel, statement.name, trees=trees)
    drawn = _drawn(statement, kernel.blocks, threads)
    values, domain = _sized(scop, kernel, statement)
    fixed: dict[str, int] = {}
    for name in (name for name in statement.iterators if name not in drawn):
        place = statement.iterators.index(name)
        lowest = domain.dim_min_val(place)
        if domain.is_empty() or not lowest.is_int():
            break
        fixed[name] = int(lowest.to_python())
        domain = domain.fix_val(isl.dim_type.set, place, lowest)
    shown = _window(domain, statement, drawn)
    points = _points(shown, statement, drawn, values, kernel.blocks, threads)
    return ThreadPicture(
        kernel=kernel.number,
        statement=statement.name,
        iterators=drawn,
        fixed=fixed,
        values=values,
        block=_sizes(kernel.threads),
        rules=tuple(_rules(statement.name, kernel.blocks, threads)),
        points=tuple(points),
        note=_note(domain, shown, drawn),
    )


def _window(domain: isl.Set, statement: Statement, drawn: Sequence[str]) -> isl.Set:
    """The part of ``domain`` that fits into a picture."""
    window = domain
    for name in () if domain.is_empty() else drawn:
        place = statement.iterators.index(name)
        last = domain.dim_min_val(place) + isl.Val(LONGEST[len(drawn)] - 1)
        window = window.upper_bound_val(isl.dim_type.set, place, last)
    return window


def _note(domain: isl.Set, shown: isl.Set, drawn: Sequence[str]) -> str:
    if domain.is_empty():
        return "no iteration for small sizes"
    if domain.is_subset(shown):
        return ""
    return f"only the first {LONGEST[len(drawn)]} values of {' and '.join(drawn)}"


def _rules(name: str, blocks: Sequence[SpaceAxis], threads: Sequence[SpaceAxis]) -> Iterator[str]:
    for block in reversed(blocks):
        yield f"block {block.axis}: {_operand(block.texts[name])} // {block.size}"
    for thread in reversed(threads):
        row = thread.texts.get(name)
        yield f"thread {thread.axis}: " + (
            f"{_operand(row)} % {thread.size}" if row else _unnamed(name, thread)
        )


def _operand(row: str) -> str:
    return row if row.isidentifier() else f"({row})"


def _unnamed(name: str, thread: SpaceAxis) -> str:
    """Without a row the first thread works alone; with one that has no words, a sum is shared."""
    return f"a share of the sum, one term in {thread.size}" if name in thread.rows else "0, the others wait"


def _drawn(
    statement: Statement, blocks: Sequence[SpaceAxis], threads: Sequence[SpaceAxis]
) -> tuple[str, ...]:
    """The one or two iterators that decide most, threads first, in the order of the loops."""
    by_axis = {axis.axis: axis.texts.get(statement.name, "") for axis in threads}
    rows = [by_axis.get("x", ""), by_axis.get("y", ""), *(axis.texts[statement.name] for axis in blocks)]
    named = [word for row in rows for word in re.findall(r"[A-Za-z_]\w*", row) if word in statement.iterators]
    shared = [name for name in reversed(statement.iterators) if name not in named]
    chosen = [*dict.fromkeys(named), *shared][:2]
    return tuple(name for name in statement.iterators if name in chosen)


def _sized(scop: Scop, kernel: DeviceKernel, statement: Statement) -> tuple[dict[str, int], isl.Set]:
    """Sizes a little above one tile, and the domain for them; larger ones where that leaves nothing."""
    axes = [*kernel.blocks, *kernel.threads]
    start = max((axis.size for axis in axes), default=8)
    start += min(start // 4, 4) + 1
    names = [parameter.name for parameter in scop.parameters]
    for size in (start, start + 1, 2 * start, 4 * start):
        values = dict.fromkeys(names, size)
        domain = _fixed(statement.domain.intersect_params(scop.context), values)
        if not domain.is_empty() and domain.is_bounded():
            return values, domain
    return values, domain.intersect(isl.Set.empty(domain.get_space()))


def _fixed(domain: isl.Set, values: Mapping[str, int]) -> isl.Set:
    for place in range(domain.dim(isl.dim_type.param)):
        name = domain.get_dim_name(isl.dim_type.param, place) or ""
        if name in values:
            domain = domain.fix_val(isl.dim_type.param, place, isl.Val(values[name]))
    return domain.project_out(isl.dim_type.param, 0, domain.dim(isl.dim_type.param))


def _points(
    domain: isl.Set,
    statement: Statement,
    drawn: Sequence[str],
    values: Mapping[str, int],
    blocks: Sequence[SpaceAxis],
    threads: Sequence[SpaceAxis],
) -> list[PlacedIteration]:
    axes = [("block", axis) for axis in blocks]
    axes += [("thread", axis) for axis in threads if statement.name in axis.rows]
    # Rows without their tiles are plain equalities, which isl enumerates quickly; the tiles are divided off here.
    every = isl.Map.from_domain_and_range(domain, isl.Set("{ [] }"))
    rows = [_fixed_row(axis.rows[statement.name], values).intersect_domain(domain) for _, axis in axes]
    placed = reduce(isl.Map.flat_range_product, rows, every).wrap().flatten()
    found: list[PlacedIteration] = []
    length = len(statement.iterators)
    shown = [statement.iterators.index(name) for name in drawn]

    points: list[isl.Point] = []
    placed.foreach_point(points.append)
    for point in points:
        numbers = [
            int(point.get_coordinate_val(isl.dim_type.set, place).to_python())
            for place in range(length + len(axes))
        ]
        at: dict[tuple[str, str], int] = {}
        for (kind, axis), value in zip(axes, numbers[length:], strict=True):
            at[kind, axis.axis] = value // axis.size if kind == "block" else value % axis.size
        block, thread = (_triple(at, kind) for kind in ("block", "thread"))
        found.append(PlacedIteration(tuple(numbers[place] for place in shown), block, thread))
    return sorted(found, key=lambda one: one.iteration)


def _fixed_row(row: isl.Map, values: Mapping[str, int]) -> isl.Map:
    for place in range(row.dim(isl.dim_type.param)):
        name = row.get_dim_name(isl.dim_type.param, place) or ""
        if name in values:
            row = row.fix_val(isl.dim_type.param, place, isl.Val(values[name]))
    return row.project_out(isl.dim_type.param, 0, row.dim(isl.dim_type.param))


def _triple(at: Mapping[tuple[str, str], int], kind: str) -> Triple:
    x, y, z = (at.get((kind, axis), 0) for axis in _AXES)
    return x, y, z


def _sizes(threads: Sequence[SpaceAxis]) -> Triple:
    by_axis = {axis.axis: axis.size for axis in threads}
    return by_axis.get("x", 1), by_axis.get("y", 1), by_axis.get("z", 1)
