"""Runs a superposed plan as a parallel machine might: blocks and threads in random order, waiting only at barriers.

A thread runs from one barrier to the next without a break, which is one of the orders that a device may choose; a
race shows as a wrong result for some seed. Private scalars are not expanded here: plans that need it cannot run.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING, Any

from tests.interpreter import Machine, instances

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from polyviz.model.scop import Scop, Statement
    from polyviz.model.superposition import Barrier, Dimension, SuperposedKernel, Superposition

Values = tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """One instance with its place on the machine."""

    statement: Statement
    instance: Values
    launch: Values
    block: Values
    thread: Values
    phase: Values
    time: Values


def run_shuffled(
    scop: Scop,
    arguments: Mapping[str, Any],
    value: Superposition,
    seed: int,
    without: Collection[Barrier] = (),
) -> None:
    """Run ``value`` on the arrays of ``arguments``; barriers in ``without`` are left out."""
    machine = Machine(scop, arguments, None)
    shuffle = random.Random(seed)
    tasks = [
        _task(value, statement, instance, machine.parameters)
        for statement, instance in instances(scop, machine.parameters)
    ]
    for _, launched in _grouped(tasks, lambda task: task.launch):
        kernel = _kernel_of(value, launched[0])
        blocks = _grouped(launched, lambda task: task.block)
        shuffle.shuffle(blocks)
        for _, block in blocks:
            for epoch in _epochs(value, kernel, block, without):
                threads = _grouped(epoch, lambda task: task.thread)
                shuffle.shuffle(threads)
                for _, thread in threads:
                    for task in sorted(thread, key=lambda task: task.time):
                        machine.execute(task.statement, task.instance)


def _task(
    value: Superposition, statement: Statement, instance: Values, parameters: Mapping[str, int]
) -> Task:
    known = {**parameters, **dict(zip(statement.iterators, instance, strict=True)), "floor": floor}

    def values(dimensions: Iterable[Dimension]) -> Values:
        texts = (re.sub(r"(\d)([a-z])", r"\1*\2", one.tiled_expression) for one in dimensions)
        return tuple(int(eval(text, {}, known)) for text in texts)

    outer, regular = value.outer[statement.name], value.regular[statement.name]
    first = next((place for place, one in enumerate(regular) if one.axis), len(regular))
    return Task(
        statement,
        instance,
        launch=values(one for one in outer if not one.axis),
        block=values(one for one in outer if one.axis),
        thread=values(one for one in regular if one.axis),
        phase=values(regular[:first]),
        time=values(regular),
    )


def _epochs(
    value: Superposition, kernel: SuperposedKernel, block: list[Task], without: Collection[Barrier]
) -> list[list[Task]]:
    """The tasks of a block cut where a barrier stands."""
    steps = _grouped(block, lambda task: task.phase if _has_threads(value, task) else task.time)
    epochs = [steps[0][1]]
    for (_, before), (_, after) in pairwise(steps):
        if any(barrier not in without for barrier in _passed(value, kernel, before[0], after[0])):
            epochs.append(list(after))
        else:
            epochs[-1] = epochs[-1] + after
    return epochs


def _passed(value: Superposition, kernel: SuperposedKernel, before: Task, after: Task) -> list[Barrier]:
    """The barriers between two steps that follow each other."""
    one, other = _phase_number(kernel, before), _phase_number(kernel, after)
    place = next(
        number for number, pair in enumerate(zip(before.time, after.time, strict=False)) if pair[0] != pair[1]
    )
    dimensions = value.regular[before.statement.name]
    if dimensions[place].kind == "scalar":
        return [
            barrier
            for barrier in kernel.needed_barriers
            if not barrier.wraps and one <= barrier.before and barrier.after <= other
        ]
    host = len(kernel.blocks.under)
    depth = sum(dimension.kind == "loop" for dimension in dimensions[: place + 1]) - host
    return [
        barrier
        for barrier in kernel.needed_barriers
        if (barrier.wraps and barrier.depth == depth and _encloses(barrier, one, other))
        or (
            not barrier.wraps and barrier.depth >= depth and (barrier.before >= one or barrier.after <= other)
        )
    ]


def _encloses(barrier: Barrier, one: int, other: int) -> bool:
    return barrier.after <= min(one, other) and max(one, other) <= barrier.before


def _phase_number(kernel: SuperposedKernel, task: Task) -> int:
    return next(
        number for number, phase in enumerate(kernel.phases) if task.statement.name in phase.statements
    )


def _kernel_of(value: Superposition, task: Task) -> SuperposedKernel:
    return next(kernel for kernel in value.kernels if task.statement.name in kernel.statements)


def _has_threads(value: Superposition, task: Task) -> bool:
    return any(one.axis for one in value.regular[task.statement.name])


def _grouped(tasks: list[Task], key: Any) -> list[tuple[Values, list[Task]]]:
    """Tasks with equal keys together, in the order of the keys."""
    found: dict[Values, list[Task]] = defaultdict(list)
    for task in tasks:
        found[key(task)].append(task)
    return sorted(found.items(), key=lambda item: item[0])
