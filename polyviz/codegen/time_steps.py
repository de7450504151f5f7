"""Steps over time that run together: which of their operands another step, or statement, has in a register.

A *stage* is one statement in one of the steps. All stages run in one loop over columns, a *stretch* of a few vectors at
a time: the first stage in some columns, each other one so many columns behind. What a stage reads from memory is right
in any case, since every stage stores what it computes; where one stage alone wrote all of it last, in this stretch or
at the end of the one before, it need not be read: it is in registers, perhaps shifted by a few columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.index import simplified, simplify_subscripts
from polyviz.codegen.loops import Block, For, Instance
from polyviz.codegen.row_blocks import (
    VECTOR_DTYPES,
    elements_of,
    is_along,
    is_vector,
    line_and_offset,
    only,
    written_out,
)
from polyviz.model.expression import Assign, Binary, Call, Constant, Expression, Name, substitute
from polyviz.model.linear import added, linear_terms, scaled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.row_blocks import Types
    from polyviz.model.expression import Element, Instruction
    from polyviz.model.plan import TimeSteps
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class Stage:
    """``statement`` in the ``step``-th step, by the assignment ``update``, in the columns of ``loop`` moved by ``lag``:
    its subscripts are in terms of the column of the first stage."""

    statement: Statement
    loop: For
    step: int
    lag: int
    update: Assign


@dataclass(frozen=True, slots=True)
class Held:
    """What the ``stage``-th stage computed, ``distance`` columns before those that it computes in this stretch."""

    stage: int
    distance: int


@dataclass(frozen=True, slots=True)
class Stages:
    """``stages`` of ``count`` iterations of ``time``, on numbers of ``dtype``, in stretches of ``length`` columns.

    ``held`` tells for elements read, by stage, which are in registers; ``column`` is the column of the first stage.
    """

    time: For
    stages: tuple[Stage, ...]
    steps: TimeSteps
    dtype: str
    length: int
    held: Mapping[tuple[int, Element], Held]
    column: str

    def farthest(self, stage: int) -> int:
        """How many columns of the stretch before are needed of what a stage computed."""
        return max((found.distance for found in self.held.values() if found.stage == stage), default=0)


def sweeps_of(time: For) -> list[tuple[For, Instance]]:
    """The vector loops, one statement in each, that are all of ``time``; none where there is something else."""
    body = only(time.body)
    nodes: Sequence[LoopNode] = body.children if isinstance(body, Block) and not body.declares else (body,)
    found = []
    for loop in map(only, nodes):
        instance = only(loop.body) if isinstance(loop, For) else None
        if not isinstance(loop, For) or not isinstance(instance, Instance) or not loop.vector or loop.step != 1:
            return []
        found.append((loop, instance))
    return found


def stages_of(
    scop: Scop,
    time: For,
    steps: TimeSteps,
    bodies: Mapping[str, Sequence[Instruction]],
    types: Types,
    lanes: Mapping[str, int],
    vectors: int,
) -> Stages | str:
    """``time``, around the sweeps of ``steps``, in stages; else, why not. A stretch has so many ``vectors``, each of so
    many ``lanes``, by type."""
    sweeps = sweeps_of(time)
    column = sweeps[0][0].iterator
    stages = []
    for step in range(steps.count):
        for number, (loop, instance) in enumerate(sweeps):
            stage = _stage(scop, time, steps, number, step, loop, instance, bodies, column)
            if isinstance(stage, str):
                return stage
            stages.append(stage)
    known = types.arrays.get(stages[0].update.target.array)
    dtype = known.dtype if known is not None else ""
    if dtype not in VECTOR_DTYPES:
        return f"{stages[0].update.target.array} does not hold {' or '.join(VECTOR_DTYPES)}"
    for stage in stages:
        target, value = stage.update.target, stage.update.value
        if not is_along(target, column) or not all(is_vector(part, dtype, column, types) for part in (target, value)):
            return f"not all that {stage.statement.name} computes are {dtype} values side by side in memory"
    length = vectors * lanes[dtype]
    held = _held(stages, length, lanes[dtype], column)
    if not held:
        return "no step reads what another one computes"
    return Stages(time, tuple(stages), steps, dtype, length, held, column)


def _stage(
    scop: Scop,
    time: For,
    steps: TimeSteps,
    number: int,
    step: int,
    loop: For,
    instance: Instance,
    bodies: Mapping[str, Sequence[Instruction]],
    column: str,
) -> Stage | str:
    """The ``number``-th statement in one step; else, why not."""
    statement = scop.statement(instance.statement)
    lag = _lag(time, loop, instance, steps, number)
    body = placed_body(statement, bodies[instance.statement], instance.arguments)
    if lag is None:
        return f"the loops of {statement.name} are no times and columns of the source"
    if len(body) != 1 or not isinstance(body[0], Assign):
        return f"{statement.name} is more than one assignment"
    behind = lag + steps.skew * step
    names: dict[str, Expression] = {
        time.iterator: Binary("+", Name(time.iterator), Constant(step)),
        loop.iterator: Binary("-", Name(column), Constant(behind)),
    }
    moved = simplify_subscripts(substitute(body[0], names))
    assert isinstance(moved, Assign)
    return Stage(statement, loop, step, behind, written_out(moved))


def _lag(time: For, loop: For, instance: Instance, steps: TimeSteps, number: int) -> int | None:
    """How far behind the first stage's loop the ``loop`` of the first step runs; None where that is no number."""
    if len(instance.arguments) != 2:
        return None
    started, moved = (linear_terms(argument) for argument in instance.arguments)
    place = added(scaled(started, steps.skew), moved)
    if place is None:
        return None
    rest = added(place, {time.iterator: -steps.skew, loop.iterator: -1})
    assert rest is not None
    constant = rest.pop("", 0)
    return None if any(rest.values()) else constant + steps.lags[number]


def _held(
    stages: Sequence[Stage], length: int, lanes: int, column: str
) -> dict[tuple[int, Element], Held]:
    found: dict[tuple[int, Element], Held] = {}
    for number, stage in enumerate(stages):
        for element in elements_of(stage.update.value):
            held = _holder(stages, number, element, length, column) if is_along(element, column) else None
            if held is not None and held.distance < lanes:
                found[number, element] = held
    return found


def _holder(
    stages: Sequence[Stage], reader: int, element: Element, length: int, column: str
) -> Held | None:
    """The stage that alone wrote last what ``reader`` reads by ``element`` in a stretch."""
    writers = _writers(stages, element, column)
    if not writers:
        return None
    _, first = line_and_offset(element)
    last = {_last_writer(writers, reader, first + place, length) for place in range(length)}
    stage = last.pop()
    if last or stage is None or writers[stage] < first:
        return None
    return Held(stage, writers[stage] - first)


def _writers(stages: Sequence[Stage], element: Element, column: str) -> dict[int, int]:
    """The stages that write along the line of ``element``, with the first cell of each; none where another one might
    write there, too."""
    line, _ = line_and_offset(element)
    writers = {}
    for number, stage in enumerate(stages):
        target = stage.update.target
        if target.array != element.array:
            continue
        own, first = line_and_offset(target)
        if own == line:
            writers[number] = first
        elif not _are_apart(own, line):
            return {}
    return writers


def _are_apart(one: Element, other: Element) -> bool:
    """Whether two lines of an array are different ones: a subscript differs by a number."""
    differences = (
        added(linear_terms(left), scaled(linear_terms(right), -1))
        for left, right in zip(one.subscripts[:-1], other.subscripts[:-1], strict=True)
    )
    return any(terms is not None and terms.pop("", 0) and not any(terms.values()) for terms in differences)


def _last_writer(writers: Mapping[int, int], reader: int, cell: int, length: int) -> int | None:
    """The stage that wrote ``cell`` last before the stage ``reader`` of this stretch; None where none has yet."""
    times = list(_times(writers, reader, cell, length))
    return max(times)[1] if times else None


def _times(writers: Mapping[int, int], reader: int, cell: int, length: int) -> Iterator[tuple[int, int]]:
    """When stages wrote ``cell``: in which stretch, counted from this one, and which stage it was."""
    for stage, first in writers.items():
        stretch = (cell - first) // length
        if stretch < 0 or (stretch == 0 and stage < reader):
            yield stretch, stage


def bound_in_stage(stages: Stages, stage: Stage, bound: Expression) -> Expression:
    """``bound`` of the loop of ``stage`` in its step, in terms of the column of the first stage."""
    if isinstance(bound, Call) and bound.function in ("min", "max"):
        return Call(bound.function, tuple(bound_in_stage(stages, stage, part) for part in bound.arguments))
    later = Binary("+", Name(stages.time.iterator), Constant(stage.step))
    moved = substitute(bound, {stages.time.iterator: later})
    assert isinstance(moved, Expression)
    return simplified(Binary("+", moved, Constant(stage.lag)))
