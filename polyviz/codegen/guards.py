"""Conditions on data that all of a loop has: asked once, around it, where the source has them.

For the analysis each statement below a condition is one of its own, which asks for itself. A compiler often cannot tell
that what happens in between leaves the condition as it is; here the arrays that are written are known. Only the
condition's first place is left, so that it is evaluated where it was evaluated before, or not at all.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.loops import Block, For, Instance, descendants, instances
from polyviz.model.expression import (
    Assign,
    Branch,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Logical,
    Name,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping, Sequence

    from polyviz.codegen.loops import LoopNode
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.scop import Scop

    Bodies = Mapping[str, Sequence[Instruction]]
    Changing = MutableMapping[str, Sequence[Instruction]] | MutableMapping[str, tuple[Instruction, ...]]


@dataclass(frozen=True, slots=True)
class Guard:
    """A ``condition`` under which ``statement`` does all that it does; ``asked`` is that there is an iteration to do
    it in, and the condition."""

    statement: str
    condition: Expression
    asked: Expression


def guard_of_loop(scop: Scop, loop: For, bodies: Bodies) -> Guard | None:
    """The condition that everything in ``loop`` has, if there is one."""
    tests = _tests(loop)
    guard = _guard(scop, loop, bodies) if tests is not None else None
    if guard is None or tests is None or not _is_steady(guard, (loop,), bodies):
        return None
    runs = tuple(Compare(("<",), (one.start, one.stop)) for one in tests)
    return replace(guard, asked=Logical("and", (*runs, guard.condition))) if runs else guard


def guard_of_row(scop: Scop, nodes: Sequence[LoopNode], bodies: Bodies) -> tuple[Guard, int] | None:
    """The condition that the first ``nodes``, several of them, have in common, and how many these are."""
    if len(nodes) < 2 or _tests(nodes[0]) != []:
        return None
    guard = _guard(scop, nodes[0], bodies)
    count = 1
    while guard is not None and count < len(nodes) and _continues(scop, guard, nodes[: count + 1], bodies):
        count += 1
    return None if guard is None or count < 2 else (guard, count)


@contextmanager
def granted(nodes: Sequence[LoopNode], bodies: Changing) -> Iterator[None]:
    """While this lasts, the statements in ``nodes`` do what they do without their first condition."""
    before = {one.statement: tuple(bodies[one.statement]) for node in nodes for one in instances(node)}
    for name, (instruction,) in before.items():
        bodies[name] = _below_first(instruction)
    try:
        yield
    finally:
        for name, body in before.items():
            bodies[name] = body


def _continues(scop: Scop, guard: Guard, nodes: Sequence[LoopNode], bodies: Bodies) -> bool:
    """Whether the last of ``nodes`` has the condition of the others, which none before it changes."""
    found = _guard(scop, nodes[-1], bodies)
    changed = nodes[:-1] if isinstance(nodes[-1], Instance) else nodes
    return found is not None and found.condition == guard.condition and _is_steady(guard, changed, bodies)


def _guard(scop: Scop, node: LoopNode, bodies: Bodies) -> Guard | None:
    """The condition that everything in ``node`` has; None where there is none, or threads share something."""
    if any(_is_shared(one) for one in descendants(node)):
        return None
    found = [_condition(scop, one, bodies) for one in instances(node)]
    same = bool(found) and found[0] is not None and all(one == found[0] for one in found)
    if not same:
        return None
    (first, *_) = instances(node)
    condition = found[0]
    assert condition is not None
    return Guard(first.statement, condition, condition)


def _condition(scop: Scop, instance: Instance, bodies: Bodies) -> Expression | None:
    """The condition of all that ``instance`` does, or the first one of several."""
    body = bodies.get(instance.statement, ())
    if len(body) != 1 or _first_condition(body[0]) is None:
        return None
    (placed,) = placed_body(scop.statement(instance.statement), body, instance.arguments)
    return _first_condition(placed)


def _is_steady(guard: Guard, nodes: Sequence[LoopNode], bodies: Bodies) -> bool:
    """Whether nothing in ``nodes`` changes the condition: neither what it reads, nor the variables in it."""
    parts = list(walk(guard.condition))
    read = {part.array for part in parts if isinstance(part, Element)}
    names = {part.name for part in parts if isinstance(part, Name)}
    below = [one for node in nodes for one in descendants(node)]
    lines = [line for one in below if isinstance(one, Instance) for line in bodies[one.statement]]
    written = {part.target.array for line in lines for part in walk(line) if isinstance(part, Assign)}
    return not read & written and not any(one.iterator in names for one in below if isinstance(one, For))


def _is_shared(node: LoopNode) -> bool:
    """Whether several threads, or tiles, have to do with ``node``."""
    if isinstance(node, Block):
        return bool(node.team)
    return isinstance(node, For) and bool(
        node.parallel or node.reduced or node.pipeline or node.waits or node.collapsed or node.held or node.width
    )


def _tests(node: LoopNode) -> list[For] | None:
    """The loops that must have an iteration for ``node`` to do anything; None where that is not all it takes, or they
    are only part of it: what is below the first statement always runs with it."""
    match node:
        case Instance():
            return []
        case Block(children) if children:
            first = _tests(children[0])
            return first if not first or len(children) == 1 else None
        case For(start=Constant(int() as start), stop=Constant(int() as stop)) if start < stop:
            return _outside(node, _tests(node.body))
        case For():
            inside = _outside(node, _tests(node.body))
            return None if inside is None else [node, *inside]
    return None


def _outside(loop: For, inside: list[For] | None) -> list[For] | None:
    """The loops ``inside`` one, if they have an iteration in all of its iterations or in none."""
    bounds = [bound for one in inside or () for bound in (one.start, one.stop)]
    moves = any(part == Name(loop.iterator) for bound in bounds for part in walk(bound))
    return None if moves else inside


def _first_condition(instruction: Instruction) -> Expression | None:
    """The condition that is asked first of ``instruction``, which does nothing where it does not hold; None if none."""
    match instruction:
        case Branch(condition, otherwise=()):
            return condition
        case Assign(operator="+" | "-", value=Conditional(Logical("and", (first, *_)), otherwise=nothing)):
            return first if _is_zero(nothing) else None
        case Assign(operator="+" | "-", value=Conditional(condition, otherwise=nothing)):
            return condition if _is_zero(nothing) else None
    return None


def _is_zero(value: Expression) -> bool:
    """Whether ``value`` is the number zero, of whatever type."""
    match value:
        case Constant(number) | Call(arguments=(Constant(number),)):
            return not number
    return False


def _below_first(instruction: Instruction) -> tuple[Instruction, ...]:
    """What is left of ``instruction`` where its first condition holds."""
    match instruction:
        case Branch(then=then):
            return then
        case Assign(value=Conditional(Logical("and", (_, *rest)), body, otherwise)):
            condition = rest[0] if len(rest) == 1 else Logical("and", tuple(rest))
            return (replace(instruction, value=Conditional(condition, body, otherwise)),)
        case Assign(value=Conditional(body=body)):
            return (replace(instruction, value=body),)
    raise TypeError(f"no condition: {instruction!r}")
