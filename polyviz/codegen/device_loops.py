"""From a device plan to loops: those of one thread in a kernel, and those of the host around the launches."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import islpy as isl

from polyviz.codegen.loops import Block, For, If, Instance, LoopNode, rewrite
from polyviz.codegen.naming import inline_single_iterations, name_loops
from polyviz.codegen.scan import scan_order
from polyviz.errors import CodegenError
from polyviz.mapping.gpu_space import finishing_instances, instances_of_threads
from polyviz.model.device import coordinate
from polyviz.model.device_program import HostBranch, HostLoop, HostSequence, HostStep, Launch
from polyviz.model.expression import Expression, Name, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.model.device import DeviceKernel, DevicePlan
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop
    from polyviz.model.staging import StagedRun

_LAUNCH = "launch"
BEGIN, JOIN, FINISH = "begin ", "join ", "finish "
"""What the instances are called at which a shared accumulation begins, is joined and ends; the statement follows."""
_scanned: WeakKeyDictionary[Plan, dict[bool, tuple[LoopNode, ...]]] = WeakKeyDictionary()


def thread_values(
    kernel: DeviceKernel, coordinates: Mapping[str, str], used: set[str], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """The names among ``used`` that tell the threads of a block apart, each with its value as text.

    ``coordinates`` holds their names by parameter; ``prefix`` stands before ``threadIdx``.
    """
    for axis in reversed(kernel.threads):
        name = coordinates[coordinate("thread", axis.axis)]
        if name in used:
            yield name, f"{prefix}threadIdx.{axis.axis}"
    for point in kernel.points:
        name = coordinates[point.parameter]
        if name in used:
            block = coordinates[coordinate("block", point.block)]
            yield name, f"{point.size} * {block} + {prefix}threadIdx.{point.thread}"


def kernel_loops(
    scop: Scop, plan: Plan, reserved: Sequence[frozenset[str]], *, trees: bool
) -> tuple[LoopNode, ...]:
    """The loops of one thread for each kernel of ``plan``; barriers are instances called as their ``DeviceBarrier``.

    ``reserved`` are the names that no loop of a kernel may take. ``trees`` lets threads share accumulations: then there
    are instances called ``BEGIN``, ``JOIN`` and ``FINISH`` with the statement.
    Raises CodegenError where a barrier would stand under a condition on a thread.
    """
    assert plan.device is not None
    known = _scanned.setdefault(plan, {})
    if trees not in known:
        # Where no loop of the host is a wavefront, the mapping has nothing simpler.
        is_last = not any(decision.step == "wavefront" for decision in plan.decisions)
        known[trees] = tuple(_scan(kernel, trees, is_last=is_last) for kernel in plan.device.kernels)
    iterators = {statement.name: statement.iterators for statement in scop.statements}
    named = []
    for kernel, loops, taken in zip(plan.device.kernels, known[trees], reserved, strict=True):
        labels: dict[str, tuple[str, ...]] = dict.fromkeys(_markers(kernel, trees=True), ())
        labels |= {run.name: tuple(_time_names(kernel, run)) for run in kernel.runs}
        labels |= {f"{FINISH}{tree.statement}": iterators[tree.statement] for tree in kernel.trees}
        named.append(name_loops(loops, {**iterators, **labels}, taken))
    return tuple(named)


def _time_names(kernel: DeviceKernel, run: StagedRun) -> Iterator[str]:
    """What the values of the time of a run are called in loops of their own."""
    strips = {place: f"strip_{axis}" for axis, place in kernel.strips.items()}
    for place in range(run.times.dim(isl.dim_type.set)):
        yield strips.get(place, "turn")


def _markers(kernel: DeviceKernel, *, trees: bool) -> dict[str, isl.Set]:
    """What all threads of a block reach together, with its times."""
    found = {barrier.name: barrier.times for barrier in kernel.barriers}
    found |= {run.name: run.times for run in kernel.runs}
    for tree in kernel.trees if trees else ():
        found |= {f"{BEGIN}{tree.statement}": tree.begin, f"{JOIN}{tree.statement}": tree.join}
    return found


def _scan(kernel: DeviceKernel, trees: bool, *, is_last: bool) -> LoopNode:
    markers = _markers(kernel, trees=trees)
    # One thread in one launch stays so whatever the mapping does.
    alone = not kernel.threads and not kernel.host
    order = _order(kernel, markers, trees)
    loops = inline_single_iterations(
        scan_order(order, kernel.context, kernel.uniform, is_last=alone or is_last)
    )
    names = set(markers)
    runs = {run.name for run in kernel.runs}
    loops = rewrite(loops, lambda node: _bare(node, names - runs))
    varying = {coordinate("thread", axis.axis) for axis in kernel.threads}
    varying |= {point.parameter for point in kernel.points}
    _check_barriers(loops, names, frozenset(varying), under="")
    return loops


def _order(kernel: DeviceKernel, markers: Mapping[str, isl.Set], trees: bool) -> isl.UnionMap:
    """Everything a thread does, with its time; a run is one instance for all that it holds."""
    staged = {name for run in kernel.runs for name in run.statements}
    parts = [
        kernel.order[name].intersect_domain(instances)
        for name, instances in instances_of_threads(kernel, trees=trees)
        if name not in staged
    ]
    for name, times in markers.items():
        same = isl.Map.identity(times.get_space().map_from_set()).intersect_domain(times)
        parts.append(same.set_tuple_name(isl.dim_type.in_, name))
    for tree in kernel.trees if trees else ():
        last = tree.finish_order.intersect_domain(finishing_instances(kernel, tree))
        parts.append(last.set_tuple_name(isl.dim_type.in_, f"{FINISH}{tree.statement}"))
    return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, parts))


def _bare(node: LoopNode, names: set[str]) -> LoopNode:
    return replace(node, arguments=()) if isinstance(node, Instance) and node.statement in names else node


def _check_barriers(node: LoopNode, names: set[str], varying: frozenset[str], under: str) -> None:
    """Refuse a barrier that not all threads of a block reach equally often."""
    match node:
        case Block(children):
            for child in children:
                _check_barriers(child, names, varying, under)
        case If(condition, then, otherwise):
            inside = under or ("a condition" if _mentions(condition, varying) else "")
            for branch in (then, otherwise):
                if branch is not None:
                    _check_barriers(branch, names, varying, inside)
        case For(iterator, start, stop, _, body):
            moves = _mentions(start, varying) or _mentions(stop, varying)
            inner = varying | {iterator} if moves else varying
            _check_barriers(body, names, inner, under or ("a loop" if moves else ""))
        case Instance(statement) if statement in names and under:
            raise CodegenError(
                f"A barrier would stand in {under} that differs between the threads of a block."
            )


def _mentions(expression: Expression, names: frozenset[str]) -> bool:
    return any(isinstance(part, Name) and part.name in names for part in walk(expression))


def host_steps(scop: Scop, device: DevicePlan) -> HostStep:
    """What the host does: its loops around the launches of ``device``."""
    if not device.launches:
        return HostSequence(())
    longest = max(launches.dim(isl.dim_type.out) for launches in device.launches.values())
    order = isl.UnionMap.empty(scop.context.get_space())
    for number, launches in device.launches.items():
        missing = longest - launches.dim(isl.dim_type.out)
        zeros = isl.Set(f"{{ [{', '.join(['0'] * missing)}] }}")
        padded = launches.flat_range_product(isl.Map.from_domain_and_range(launches.domain(), zeros))
        order = order.union(
            isl.UnionMap.from_map(padded.set_tuple_name(isl.dim_type.in_, f"{_LAUNCH}{number}"))
        )
    loops = inline_single_iterations(scan_order(order, scop.context))
    names: Mapping[str, tuple[str, ...]] = {
        f"{_LAUNCH}{kernel.number}": kernel.host_names for kernel in device.kernels
    }
    parameters = frozenset(parameter.name for parameter in scop.parameters)
    return _host_step(name_loops(loops, names, parameters))


def _host_step(node: LoopNode) -> HostStep:
    match node:
        case Block(children):
            return HostSequence(tuple(map(_host_step, children)))
        case If(condition, then, otherwise):
            return HostBranch(
                condition, _host_step(then), None if otherwise is None else _host_step(otherwise)
            )
        case For(iterator, start, stop, step, body):
            return HostLoop(iterator, start, stop, step, _host_step(body))
        case Instance(statement, arguments):
            return Launch(int(statement.removeprefix(_LAUNCH)), arguments)
    raise TypeError(f"not a step of the host: {node!r}")
