"""An update of a cell that goes to another one: a variable, or a copy of the array."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import bound_expression
from polyviz.model.expression import Assign, Binary, Constant, Element, Expression, rebuild

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.expression import Instruction, Node
    from polyviz.model.plan import ArraySum


def redirected(update: Assign, target: Element) -> Assign:
    """``update`` with ``target`` in place of the cell it changes, on both sides.

    >>> update = Assign(Element("y"), Binary("+", Element("y"), Constant(1)))
    >>> redirected(update, Element("total")).value
    Binary(operator='+', left=Element(array='total', subscripts=(), affine=True, span=None), right=Constant(value=1))
    """

    def place(node: Node) -> Node:
        return target if node == update.target else rebuild(node, place)

    value = place(update.value)
    assert isinstance(value, Expression)
    return replace(update, target=target, value=value)


def into_copy(found: ArraySum, body: Sequence[Instruction], own: str) -> tuple[Instruction, ...]:
    """The ``body`` of the update of ``found``, adding into the copy called ``own``, whose first cell is the first one
    that is reached; for a single number ``own`` is one too."""
    (update,) = body
    assert isinstance(update, Assign)
    if found.rank == 0:
        return (redirected(update, replace(update.target, array=own)),)
    (subscript,) = update.target.subscripts
    lower = bound_expression(found.lower)
    place = subscript if lower == Constant(0) else Binary("-", subscript, lower)
    cell = replace(update.target, array=own, subscripts=(place,))
    return (redirected(update, cell),)
