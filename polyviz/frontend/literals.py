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
LISTED = "listed"
"""Likewise of one that stands for a list of one value, repeated: it has the type of that value."""

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
_LONGEST = 1024
"""An exponent or shift of a whole number that is too large for any use of it."""


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


def beyond_integers(node: ast.BinOp) -> int | float | None:
    """The value of an operation on two whole numbers that are written down, where it is none of 64 bits with a sign.

    None for anything else. Raises OverflowError for a whole number of more than 64 bits.

    >>> beyond_integers(ast.parse("2 ** -1", mode="eval").body), beyond_integers(ast.parse("2 ** 3", mode="eval").body)
    (0.5, None)
    """
    left, right = literal_number(node.left, {}), literal_number(node.right, {})
    operation = operator.lshift if isinstance(node.op, ast.LShift) else _BINARY.get(type(node.op))
    if type(left) is not int or type(right) is not int or operation is None:
        return None
    try:
        value = _bounded(operation)(left, right)
    except (ZeroDivisionError, ValueError):
        return None
    if isinstance(value, float):
        return value if isinstance(node.op, ast.Pow) else None
    if not -(2**63) <= value < 2**64:
        raise OverflowError
    return value if value >= 2**63 else None  # unsigned from there on, as in numba


def _bounded(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """``operation`` which raises OverflowError rather than fill the memory with digits."""

    def bounded(left: Any, right: Any) -> Any:
        grows = {operator.pow: 1, operator.lshift: 0}.get(operation)
        is_whole = isinstance(left, int) and isinstance(right, int)
        if is_whole and grows is not None and abs(left) > grows and right > _LONGEST:
            raise OverflowError
        return operation(left, right)

    return bounded


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
            return _bounded(_BINARY[type(symbol)])(_value(left, names), _value(right, names))
        case _:
            return None
