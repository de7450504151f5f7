"""A branch that only replaces one cell, as a choice between two values of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.expression import Assign, Binary, Branch, Conditional, Element, walk

if TYPE_CHECKING:
    from polyviz.model.expression import Instruction


def selection(instruction: Instruction) -> Assign | None:
    """``if condition: cell = value`` as ``cell = value if condition else cell``, where the condition looks at the cell;
    None for anything else.

    >>> from polyviz.model.expression import Compare, Name
    >>> smaller = Compare(("<",), (Name("x"), Element("best")))
    >>> selection(Branch(smaller, (Assign(Element("best"), Name("x")),))).value
    Conditional(condition=Compare(operators=('<',), operands=(Name(name='x'), Element(array='best', subscripts=(), \
affine=True, span=None))), body=Name(name='x'), otherwise=Element(array='best', subscripts=(), affine=True, span=None))
    """
    match instruction:
        case Branch(condition, (Assign() as assign,), ()):
            target, value = assign.target, assign.value
            if not any(isinstance(node, Element) and node == target for node in walk(condition)):
                return None
            whole = value if assign.operator is None else Binary(assign.operator, target, value)
            return Assign(target, Conditional(condition, whole, target))
    return None
