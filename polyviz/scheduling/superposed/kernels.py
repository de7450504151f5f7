"""Kernels: the block groups with their phases, barriers, tile sizes and numbers of threads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.analysis.loop_kinds import inside, row_texts
from polyviz.model.superposition import SpaceGroup, SpaceLoop, SuperposedKernel
from polyviz.scheduling.superposed.barriers import barriers_of
from polyviz.scheduling.superposed.parts import Group, Part, groups_of, restricted
from polyviz.scheduling.superposed.phases import without_host_loops
from polyviz.scheduling.superposed.scatterings import AXES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.analysis.carried import Constraint
    from polyviz.analysis.loop_kinds import Term
    from polyviz.analysis.superposed_rows import SuperposedRows
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis, Barrier

THREADS: Mapping[int, tuple[int, ...]] = {0: (), 1: (256,), 2: (32, 32), 3: (32, 4, 4)}
"""Threads along x, y and z of a block with so many axes."""
MOST_THREADS = 1024
"""What a block can hold on today's devices."""
_TILE = 32
"""The tile of a block loop that is no thread loop."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the user asks for: tile sizes of the block axes, threads of the thread axes, both x first; empty chooses."""

    tiles: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """A kernel before its barriers are known."""

    number: int
    group: Group
    under: tuple[Mapping[str, Term], ...]
    phases: tuple[Part, ...]
    tiles: Mapping[Axis, int]
    threads: Mapping[Axis, int]


def kernel_plans(blocks: Sequence[Part], threads: Sequence[Part], sizes: Sizes) -> tuple[KernelPlan, ...]:
    """The kernels in the order of their launches."""
    plans = []
    for number, (group, under) in enumerate(groups_of(blocks)):
        phases = without_host_loops(restricted(threads, group.names), under)
        counts = _thread_counts(phases, sizes)
        plans.append(KernelPlan(number, group, under, phases, _tiles(group, phases, counts, sizes), counts))
    return tuple(plans)


def with_barriers(
    plan: KernelPlan, scop: Scop, constraints: Sequence[Constraint], rows: SuperposedRows
) -> SuperposedKernel:
    """The kernel of ``plan`` with the barriers its phases need under ``constraints``."""
    barriers = barriers_in(plan.phases, plan.group.names, constraints, rows)
    phases = tuple(space_group(scop, group, under) for group, under in groups_of(plan.phases))
    blocks = space_group(scop, plan.group, plan.under)
    return SuperposedKernel(plan.number, blocks, phases, barriers, plan.tiles, plan.threads)


def barriers_in(
    phases: Sequence[Part], names: Sequence[str], constraints: Sequence[Constraint], rows: SuperposedRows
) -> tuple[Barrier, ...]:
    """The barriers of a kernel of the statements ``names``: only what depends within one launch asks for them."""
    launched = [_within_launch(found, rows) for found in inside(constraints, names)]
    return barriers_of(phases, [found for found in launched if not found.pairs.is_empty()], rows)


def space_group(scop: Scop, group: Group, under: Sequence[Mapping[str, Term]]) -> SpaceGroup:
    """A group as a value for the views."""
    loops = tuple(
        SpaceLoop(axis, row_texts(scop, loop.terms), loop.kind)
        for axis, loop in zip(AXES, group.loops, strict=False)
    )
    around = tuple(row_texts(scop, {name: terms[name] for name in group.names}) for terms in under)
    return SpaceGroup(group.names, loops, around)


def _within_launch(found: Constraint, rows: SuperposedRows) -> Constraint:
    same = rows.launch(found.source).apply_range(rows.launch(found.sink).reverse())
    return replace(found, pairs=found.pairs.intersect(same))


def _thread_counts(phases: Sequence[Part], sizes: Sizes) -> Mapping[Axis, int]:
    axes = max((len(group.loops) for group, _ in groups_of(phases)), default=0)
    chosen = (*sizes.threads[:axes], *THREADS[axes][len(sizes.threads) :])
    return dict(zip(AXES, chosen, strict=False))


def _tiles(
    group: Group, phases: Sequence[Part], counts: Mapping[Axis, int], sizes: Sizes
) -> Mapping[Axis, int]:
    """A block loop that is a thread loop too gets tiles of as many iterations as there are threads."""
    tiles: dict[Axis, int] = {}
    for place, (axis, loop) in enumerate(zip(AXES, group.loops, strict=False)):
        own = [
            counts[thread_axis]
            for phase, _ in groups_of(phases)
            for thread_axis, other in zip(AXES, phase.loops, strict=False)
            if all(loop.terms[name] == term for name, term in other.terms.items())
        ]
        tiles[axis] = sizes.tiles[place] if place < len(sizes.tiles) else next(iter(own), _TILE)
    return tiles
