"""Fusion of neighbouring groups: one kernel instead of two, one phase instead of two with a barrier between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis.loop_kinds import Distances, inside
from polyviz.scheduling.superposed.parts import Group, ParallelLoop, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.scop import Scop
    from polyviz.scheduling.superposed.levels import Workbench
    from polyviz.scheduling.superposed.parts import Scene


def fused(parts: Sequence[Part], scene: Scene, bench: Workbench) -> tuple[Part, ...]:
    """``parts`` with neighbours merged from left to right where that loses no parallel loop; every pair is logged."""
    result: list[Part] = []
    for part in parts:
        last = result[-1] if result else None
        if not isinstance(last, Group) or not isinstance(part, Group):
            result.append(part)
            continue
        reason = _obstacle(last, part, scene, bench.scop)
        pair = f"{{{', '.join(last.names)}}} and {{{', '.join(part.names)}}}"
        if reason:
            bench.log("fusion", f"{pair} stay apart: {reason}.", (*last.names, *part.names))
            result.append(part)
        else:
            bench.log("fusion", f"{pair} are fused.", (*last.names, *part.names))
            result[-1] = _merged(last, part, bench.scop)
    return tuple(result)


def _obstacle(first: Group, second: Group, scene: Scene, scop: Scop) -> str:
    """Why two neighbours cannot or should not share their space loops; empty when they can."""
    kinds = [[loop.kind for loop in group.loops] for group in (first, second)]
    if kinds[0] != kinds[1]:
        return "their parallel loops differ in number or kind"
    if not first.loops:
        return ""
    if not _arrays(first, scop) & _arrays(second, scop):
        return "they share no array"
    return _dependence_obstacle(first, second, scene)


def _dependence_obstacle(first: Group, second: Group, scene: Scene) -> str:
    between = tuple(
        found
        for found in inside(scene.constraints, (*first.names, *second.names))
        if (found.source in first.names) != (found.sink in first.names)
    )
    if between and any(loop.kind == "reduction" for loop in first.loops):
        return "a result of a reduction is needed before all threads have added theirs"
    distances = Distances(between)
    for one, other in zip(first.loops, second.loops, strict=True):
        for found, span in distances.spans({**one.terms, **other.terms}):
            if not span.is_zero and found.dependence is not None:
                return f"{found.dependence.array} is handed on across the iterations of their parallel loops"
    return ""


def _merged(first: Group, second: Group, scop: Scop) -> Group:
    names = {*first.names, *second.names}
    loops = tuple(_joined(one, other) for one, other in zip(first.loops, second.loops, strict=True))
    return Group(tuple(found.name for found in scop.statements if found.name in names), loops)


def _joined(one: ParallelLoop, other: ParallelLoop) -> ParallelLoop:
    terms = {**one.terms, **other.terms}
    return ParallelLoop(
        terms,
        one.kind,
        one.weight + other.weight,
        one.depth + other.depth,
        one.reducing | other.reducing,
        one.ordered and other.ordered,
    )


def _arrays(group: Group, scop: Scop) -> set[str]:
    """Everything in memory: arrays, and numbers that a statement writes, which have a copy per iteration."""
    written = {one.array for statement in scop.statements for one in statement.accesses if one.kind == "write"}
    accesses = (access for name in group.names for access in scop.statement(name).accesses)
    return {one.array for one in accesses if one.array in written or scop.array(one.array).rank > 0}
