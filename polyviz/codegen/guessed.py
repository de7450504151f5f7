"""Types of arguments nobody has passed yet, so that text can be shown before the first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.expression import Assign, Binary, Element, Loop, Node, Unary, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.scop import Scop

WHOLE_NUMBERS_ONLY = ("&", "|", "^", "<<", ">>", "~")


def whole_numbers(scop: Scop) -> frozenset[str]:
    """The arrays and scalars that must hold whole numbers: used in subscripts, loop bounds or bit operations, or
    assigned to a scalar that is."""
    nodes = [node for statement in scop.statements for instruction in statement.body for node in walk(instruction)]
    found = {name for node in nodes for part in _whole_parts(node) for name in _names(part)}
    assignments = [node for node in nodes if isinstance(node, Assign) and not node.target.subscripts]
    while True:
        implied = {name for node in assignments if node.target.array in found for name in _names(node.value)}
        if implied <= found:
            return frozenset(found)
        found |= implied


def _whole_parts(node: Node) -> Iterator[Node]:
    """The parts of ``node`` that only whole numbers make sense for."""
    match node:
        case Element():
            yield from node.subscripts
        case Loop():
            yield from (node.start, node.stop, node.step)
        case Binary(operator, left, right) if operator in WHOLE_NUMBERS_ONLY:
            yield from (left, right)
        case Unary(operator, operand) if operator in WHOLE_NUMBERS_ONLY:
            yield operand
        case Assign(target, value, operator) if operator in WHOLE_NUMBERS_ONLY:
            yield from (target, value)


def _names(node: Node) -> Iterator[str]:
    return (part.array for part in walk(node) if isinstance(part, Element))
