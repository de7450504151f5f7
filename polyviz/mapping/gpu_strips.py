"""Further values in the time of a kernel, outside its threads: places of runs, and strips of thread loops.

A thread loop that is none of blocks is cut into strips of as many iterations as there are threads. One strip after the
other is what every thread does anyway; said in the time, all threads of a block are in the same strip, so that they can
share tiles.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_space import floor_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.device import DeviceKernel, SpaceAxis


def with_strips(kernel: DeviceKernel) -> DeviceKernel:
    """``kernel`` with the number of a strip in its time, for every axis of threads whose loop is none of blocks."""
    for axis in kernel.threads:
        if any(block.texts == axis.texts for block in kernel.blocks) or len(axis.texts) < len(
            kernel.statements
        ):
            continue
        strips = {**kernel.strips, axis.axis: kernel.uniform}
        kernel = replace(_with_strip(kernel, axis), strips=strips)
    return kernel


def _with_strip(kernel: DeviceKernel, axis: SpaceAxis) -> DeviceKernel:
    place = kernel.uniform
    wider = with_place(kernel, {})
    order = {}
    for name, old in kernel.order.items():
        strip = floor_of(axis.rows[name], axis.size)
        length = old.dim(isl.dim_type.out)
        before = old.project_out(isl.dim_type.out, place, length - place)
        behind = old.project_out(isl.dim_type.out, 0, place)
        order[name] = before.flat_range_product(strip).flat_range_product(behind)
    return replace(wider, order=order)


def with_place(kernel: DeviceKernel, places: Mapping[str, int]) -> DeviceKernel:
    """``kernel`` with one more value that is the same for all threads, after those: that of ``places``, or 0."""
    place = kernel.uniform
    order = {name: _inserted(old, place, places.get(name, 0)) for name, old in kernel.order.items()}
    barriers = tuple(replace(one, times=_widened(one.times, place)) for one in kernel.barriers)
    trees = tuple(
        replace(
            tree,
            begin=_widened(tree.begin, place),
            join=_widened(tree.join, place),
            finish_order=_inserted(tree.finish_order, place, 0),
        )
        for tree in kernel.trees
    )
    return replace(kernel, order=order, barriers=barriers, trees=trees, uniform=place + 1)


def _inserted(order: isl.Map, place: int, value: int) -> isl.Map:
    return order.insert_dims(isl.dim_type.out, place, 1).fix_val(isl.dim_type.out, place, isl.Val(value))


def _widened(times: isl.Set, place: int) -> isl.Set:
    return times.insert_dims(isl.dim_type.set, place, 1).fix_val(isl.dim_type.set, place, isl.Val(0))
