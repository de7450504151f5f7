"""Whether the iterations of a parallel loop are alike, so that equal shares of them keep all threads busy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.loops import Block, For, Instance, children_of, descendants
from polyviz.model.expression import Binary, Call, Constant, Name, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.codegen.loops import LoopNode
    from polyviz.model.expression import Expression
    from polyviz.model.scop import Scop

CHUNK = 16
"""Iterations in a row that one thread gets where some have more to do than others."""
INSTANCES = 64
"""Instances that a thread takes at once: to ask for them costs as much as a few additions do."""

SHARE = 8_000
"""Instances in loops that a thread takes at least: about a microsecond's work, most of which is in vector lanes."""


def is_regular(loop: For, scop: Scop) -> bool:
    """Whether every iteration does about the same work, as far as the loop bounds tell.

    A loop between two bounds that both move with the outer iteration has a constant length (a point loop in its tile,
    a skewed loop); one bound that moves alone makes a triangle. Row blocks stand in tiles along a front, of which those
    at its ends are cut off; rows directly inside ``loop`` are its own blocks. A statement with a loop that ends when
    its data say so has instances of all lengths.
    """
    return not (_is_uneven(loop, scop) or is_slanted(loop))


def is_slanted(loop: For) -> bool:
    """Whether the loops inside grow or shrink from one iteration of ``loop`` to the next, as in a triangle."""
    moving, own = {loop.iterator}, _outermost(loop.body)
    for inner in descendants(loop.body):
        if not isinstance(inner, For):
            continue
        start, stop = (_mentions(bound, moving) for bound in (inner.start, inner.stop))
        if start != stop or (inner.jam > 1 and inner not in own):
            return True
        if start:
            moving.add(inner.iterator)
    return False


def dynamic(loop: For, scop: Scop, work: Expression | None, printed: Callable[[Expression], str]) -> str:
    """How threads share a loop whose iterations are not alike: one by one, or many at once where each is an instance.

    Where there are loops inside, so many at once that they hold ``SHARE`` of the ``work`` of all, which may be one: to
    ask for the rows of a small triangle one by one takes longer than to run them. Not so where data say how long an
    instance takes. ``printed`` makes text of an expression.
    """
    if not any(isinstance(inner, For) for inner in descendants(loop.body)):
        return f"dynamic, {INSTANCES}"
    if work is None or loop.step != 1 or _is_uneven(loop, scop):
        return "dynamic"
    return in_turns(loop, work, SHARE, printed)


def in_turns(loop: For, work: Expression, least: int, printed: Callable[[Expression], str]) -> str:
    """Threads take as many iterations of ``loop`` at once as hold ``least`` of the ``work`` of all."""
    turns = loop.stop if loop.start == Constant(0) else Binary("-", loop.stop, loop.start)
    # Both are asked for before an empty loop is left: of a stop below the start, or of a triangle cut off to nothing.
    rows = Binary("*", Constant(float(least)), Call("max", (turns, Constant(0))))
    return f"dynamic, 1 + {printed(Call('int', (Binary('/', rows, Call('max', (work, Constant(1)))),)))}"


def _is_uneven(loop: For, scop: Scop) -> bool:
    """Whether some instance in ``loop`` takes as long as its data say."""
    uneven = {statement.name for statement in scop.statements if statement.is_uneven}
    return any(isinstance(inner, Instance) and inner.statement in uneven for inner in descendants(loop.body))


def _outermost(node: LoopNode) -> list[For]:
    """The loops in ``node`` that no other one surrounds."""
    if isinstance(node, For):
        return [node]
    return [loop for child in children_of(node) for loop in _outermost(child)]


def is_collapsed(loop: For) -> bool:
    """Whether threads may share the iterations of ``loop`` together with those of the loop that is all of its body."""
    inner = loop.body
    while isinstance(inner, Block) and len(inner.children) == 1 and not (inner.declares or inner.team):
        inner = inner.children[0]
    if not isinstance(inner, For) or not inner.collapsed:
        return False
    return not any(_mentions(bound, {loop.iterator}) for bound in (inner.start, inner.stop))


def _mentions(bound: Expression, names: set[str]) -> bool:
    return any(isinstance(part, Name) and part.name in names for part in walk(bound))
