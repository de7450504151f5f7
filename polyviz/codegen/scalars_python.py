"""Which variables of a readable Python text hold NumPy's numbers, so that they compute as numba's do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.typing import assignments
from polyviz.codegen.widths import holds_numpy
from polyviz.model.expression import Assign, Binary, Element, Instruction, Node, Unary, children

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def numpy_scalars(
    bodies: Sequence[Sequence[Instruction]], types: Mapping[str, str], given: frozenset[str]
) -> frozenset[str]:
    """The scalars that hold NumPy's numbers: those that have to, and those that are only assigned such.

    ``types``: dtype names. ``given``: the arguments, which may be Python's numbers.
    """
    counted = counted_scalars(bodies, types)
    assigned = [part for body in bodies for part in assignments(body) if not part.target.subscripts]
    steady = {part.target.array for part in assigned} - given - counted
    while True:
        numbers = counted | frozenset(steady)
        others = {
            part.target.array
            for part in assigned
            if part.target.array in steady and not holds_numpy(part.assigned, types, numbers)
        }
        if not others:
            return numbers
        steady -= others


def counted_scalars(bodies: Sequence[Sequence[Instruction]], types: Mapping[str, str]) -> frozenset[str]:
    """The whole-number variables that take part in arithmetic, and those whose values they take.

    Python's numbers would not wrap at 64 bits in them, so they hold NumPy's. ``types``: dtype names.

    >>> from polyviz.model.expression import Name
    >>> t, i = Element("t"), Name("i")
    >>> counted_scalars([[Assign(t, Binary("+", t, i)), Assign(Element("u"), i)]], {"t": "int64", "u": "int64"})
    frozenset({'t'})
    """
    outside = [part for body in bodies for instruction in body for part in _outside_subscripts(instruction)]
    assigned = [part for part in outside if isinstance(part, Assign)]
    found = {name for part in outside for name in _operands(part)}
    while True:
        copied = {
            part.value.array
            for part in assigned
            if part.target.array in found and isinstance(part.value, Element) and not part.value.subscripts
        }
        if copied <= found:
            return frozenset(name for name in found if types[name].startswith(("int", "uint")))
        found |= copied


def _outside_subscripts(node: Node) -> Iterator[Node]:
    yield node
    if not isinstance(node, Element):
        for child in children(node):
            yield from _outside_subscripts(child)


def _operands(node: Node) -> Iterator[str]:
    """The variables that an operator takes or changes."""
    match node:
        case Binary(_, left, right):
            parts: tuple[Node, ...] = (left, right)
        case Assign(target, value, operator) if operator is not None:
            parts = (target, value)
        case Unary("-" | "~", operand):
            parts = (operand,)
        case _:
            return
    yield from (part.array for part in parts if isinstance(part, Element) and not part.subscripts)
