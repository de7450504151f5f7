"""Sums along memory in loops of a statement that stays whole: the solver that stops once it is near enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.expression import Assign, Binary, Constant, Element, Name, walk

if TYPE_CHECKING:
    from polyviz.model.expression import Expression, Loop, Node


def inner_sums(loop: Loop, least: int) -> tuple[Assign, ...]:
    """The updates ``s += …`` that are all of ``loop``: of cells that stay where they are and that nothing else in it
    reads, by values whose elements stay as well or move along memory. None where ``loop`` does anything else, or is
    known to have less than ``least`` iterations.

    >>> from polyviz.model.expression import Loop
    >>> step = Assign(Element("s"), Element("x", (Name("i"),)), "+")
    >>> len(inner_sums(Loop("i", Constant(0), Name("n"), Constant(1), (step,)), 4))
    1
    """
    sums = tuple(line for line in loop.body if isinstance(line, Assign) and line.operator in ("+", "-"))
    if len(sums) < len(loop.body) or loop.step != Constant(1) or _is_short(loop, least):
        return ()
    targets = {one.target.array for one in sums}
    cells = all(_stays(subscript, loop.iterator) for one in sums for subscript in one.target.subscripts)
    read = [node for one in sums for node in walk(one.value) if isinstance(node, Element)]
    along = [_moves_along(element, loop.iterator) for element in read]
    known = cells and len(targets) == len(sums) and not any(one.array in targets for one in read)
    return sums if known and None not in along and any(along) else ()


def _is_short(loop: Loop, least: int) -> bool:
    match loop.start, loop.stop:
        case Constant(int() as start), Constant(int() as stop):
            return stop - start < least
    return False


def _moves_along(element: Element, iterator: str) -> bool | None:
    """Whether ``element`` goes on to its neighbour in memory with each iteration; False where it stays, None where it
    goes elsewhere."""
    if all(_stays(subscript, iterator) for subscript in element.subscripts):
        return False
    *others, last = element.subscripts
    beside = _is_beside(last, iterator) and all(_stays(subscript, iterator) for subscript in others)
    return True if beside else None


def _is_beside(subscript: Expression, iterator: str) -> bool:
    match subscript:
        case Name(name):
            return name == iterator
        case Binary("+", left, right):
            pairs = ((left, right), (right, left))
            return any(_is_beside(one, iterator) and _stays(other, iterator) for one, other in pairs)
        case Binary("-", left, right):
            return _is_beside(left, iterator) and _stays(right, iterator)
    return False


def _stays(node: Node, iterator: str) -> bool:
    return Name(iterator) not in walk(node)
