"""Cells of a window, counted from where a strip of loops starts.

A temporary of which as many values are alive at a time as a strip has iterations lives in a window, at ``s[i & 63]``,
where no compiler sees that neighbouring ``i`` mean neighbouring cells. Below a loop over strips of 64 from a multiple
of 64 on, in which all of ``i`` lies within the strip, the same cell is ``s[i - i_tile]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.loops import For, Instance, descendants
from polyviz.codegen.wraps import replaced
from polyviz.model.expression import Binary, Call, Constant, Expression, Instruction, Name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.plan import Expansion
    from polyviz.model.scop import Scop


def counted_from(
    strip: For, scop: Scop, expansions: Sequence[Expansion], bodies: Mapping[str, Sequence[Instruction]]
) -> dict[str, Sequence[Instruction]]:
    """The bodies that change below the loop ``strip``, with cells of windows counted from its iterator."""
    fitting = [one for one in expansions if one.window and one.window == strip.step]
    if not fitting or not _is_multiple(strip.start, strip.step):
        return {}
    loops = [node for node in descendants(strip.body) if isinstance(node, For)]
    within = {loop.iterator for loop in loops if _is_within(loop, strip)}
    places = [node for node in descendants(strip.body) if isinstance(node, Instance) and node.statement in bodies]
    result: dict[str, Sequence[Instruction]] = {}
    for name in dict.fromkeys(node.statement for node in places):
        iterators = scop.statement(name).iterators
        cells: dict[Expression, Expression] = {}
        for expansion in fitting:
            own = {node.arguments[expansion.depth - 1 : expansion.depth] for node in places if node.statement == name}
            if strip.iterator not in iterators and all(_name(one) in within for one in own):
                iterator = Name(iterators[expansion.depth - 1])
                cell = Binary("&", iterator, Constant(expansion.window - 1))
                cells[cell] = Binary("-", iterator, Name(strip.iterator))
        result[name] = tuple(_instruction(replaced(line, cells)) for line in bodies[name])
    return result


def _is_multiple(start: Expression, step: int) -> bool:
    """Whether ``start`` is known to be a multiple of ``step``."""
    match start:
        case Constant(int() as value):
            return value % step == 0
        case Binary("*", left, right):
            return _is_multiple(left, step) or _is_multiple(right, step)
        case Binary("+" | "-", left, right):
            return _is_multiple(left, step) and _is_multiple(right, step)
    return False


def _is_within(loop: For, strip: For) -> bool:
    """Whether all iterations of ``loop`` lie in the strip that starts at the iterator of ``strip``."""
    begin, end = Name(strip.iterator), Binary("+", Name(strip.iterator), Constant(strip.step))
    return begin in _parts(loop.start, "max") and end in _parts(loop.stop, "min")


def _name(arguments: tuple[Expression, ...]) -> str:
    return arguments[0].name if arguments and isinstance(arguments[0], Name) else ""


def _parts(bound: Expression, function: str) -> tuple[Expression, ...]:
    """Everything that ``bound`` is the least or the greatest of."""
    if not isinstance(bound, Call) or bound.function != function:
        return (bound,)
    return tuple(part for argument in bound.arguments for part in _parts(argument, function))


def _instruction(node: object) -> Instruction:
    assert isinstance(node, Instruction)
    return node
