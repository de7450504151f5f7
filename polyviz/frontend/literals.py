"""Numbers that can be read off the text: literals and arithmetic on them."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SUM = "sum"
"""The ``kind`` of the ``ast.Constant`` that a sum over an array starts with."""
REBOUND = "rebound"
"""The ``kind`` of the ``...`` behind an array that gets the new value which its name was given."""
EXCHANGED = "exchanged"
"""Likewise behind one that gets the elements of another one, which gets its own."""
RETURNED = "returned"
"""Likewise behind the copy of an array that is returned in its place."""
NUMBERS = "numbers"
"""The ``kind`` of the type of an array that is made of computed numbers, which have it."""
ELEMENTS = "elements"
"""Likewise of one whose elements are all computed by one line."""
PARTS = "parts"
"""Likewise of one that is put together of arrays: in the place of a type stands how many lines store these."""

Table = tuple[Any, ...]
"""Numbers, or tables of them."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def literal_number(node: ast.expr, names: Mapping[str, Any]) -> int | float | complex | None:
    """The value of a number, of a name in ``names``, or of arithmetic on them; None for anything else.

    >>> literal_number(ast.parse("2 * N - 1", mode="eval").body, {"N": 50})
    99
    """
    try:
        value: int | float | complex | None = _value(node, names)
        return value
    except (ArithmeticError, TypeError, ValueError):
        return None


def literal_table(node: ast.expr) -> Table | None:
    """The numbers of a tuple or list that is written down; None for anything else."""
    if not isinstance(node, ast.Tuple | ast.List) or not node.elts:
        return None
    values = [literal_table(one) or literal_number(one, {}) for one in node.elts]
    return None if any(one is None or isinstance(one, complex) for one in values) else tuple(values)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() | float() | complex() as value):
            return value
        case ast.Name(id=name):
            return names.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=left, op=symbol, right=right) if type(symbol) in _BINARY:
            return _BINARY[type(symbol)](_value(left, names), _value(right, names))
        case _:
            return None
