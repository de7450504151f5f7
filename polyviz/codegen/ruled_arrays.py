"""A part whose arrays of values are computed in the types that NumPy and numba give arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.array_rules import Leaves, UnclearTypeError, by_array_rules
from polyviz.codegen.typing import assignments
from polyviz.model.expression import (
    Assign,
    Binary,
    Constant,
    Element,
    Name,
    Unary,
    Zero,
    rebuild,
    rewritten,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.model.expression import Expression, Node
    from polyviz.model.scop import Scop, Statement

_WHOLE = ("+", "-", "*", "//", "%")
"""What keeps Python's whole numbers whole."""


def with_array_rules(
    scop: Scop, places: Sequence[Assign], types_of: Callable[[Scop], Mapping[str, str]]
) -> Scop:
    """``scop`` with conversions in the values that fill its arrays, at ``places``; itself where none is needed.

    ``types_of`` tells the dtype names of all arrays and scalars. It is asked again after each conversion: with the type
    of one array, that of what is made of it may be another.
    """
    order = [one for statement in scop.statements for one in assignments(statement.body) if one in places]
    types = types_of(scop) if order else {}
    for assignment in order:
        try:
            value = ruled_value(scop, assignment, types)
        except UnclearTypeError:
            continue
        if value != assignment.value:
            scop = _with_value(scop, assignment, value)
            types = types_of(scop)
    return scop


def ruled_value(scop: Scop, assignment: Assign, types: Mapping[str, str]) -> Expression:
    """The value of ``assignment`` in the types on which NumPy and numba agree; raises ``UnclearTypeError`` otherwise.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(P):\\n  Q = P[:] / 3\\n  return Q")
    >>> fill = part.statements[0].body[0]
    >>> ruled_value(part, fill, {"P": "float32"}).right
    Call(function='numpy.float32', arguments=(Constant(value=3),))
    """
    inside = (part for subscript in assignment.target.subscripts for part in walk(subscript))
    iterators = frozenset(part.name for part in inside if isinstance(part, Name))
    arrays = frozenset(array.name for array in scop.arrays if array.rank)
    return by_array_rules(assignment.value, Leaves(types, iterators, arrays, _plain_numbers(scop, types)))


def _plain_numbers(scop: Scop, types: Mapping[str, str]) -> frozenset[str]:
    """The scalars that hold whole numbers of Python, not of NumPy: arguments are taken to be such."""
    stored = [one for statement in scop.statements for one in assignments(statement.body)]
    assigned = {one.target.array for one in stored}
    plain = {
        array.name
        for array in scop.arrays
        if not array.rank
        and types.get(array.name) == "int64"
        and (array.origin == "argument" or array.name in assigned)
    }
    while others := {one.target.array for one in stored if not _is_plain(one, plain)} & plain:
        plain -= others
    return frozenset(plain)


def _is_plain(assignment: Assign, plain: set[str]) -> bool:
    return assignment.operator in (None, *_WHOLE) and _is_whole(assignment.value, plain)


def _is_whole(value: Expression, plain: set[str]) -> bool:
    match value:
        case Zero():
            return False
        case Constant(number):
            return isinstance(number, int)
        case Element(array):
            return array in plain
        case Unary("-" | "+", operand):
            return _is_whole(operand, plain)
        case Binary(operator, left, right):
            return operator in _WHOLE and _is_whole(left, plain) and _is_whole(right, plain)
    return isinstance(value, Name)


def _with_value(scop: Scop, assignment: Assign, value: Expression) -> Scop:
    def placed(node: Node) -> Node:
        return replace(assignment, value=value) if node == assignment else rebuild(node, placed)

    def changed(statement: Statement) -> Statement:
        return replace(statement, body=rewritten(statement.body, placed))

    return replace(scop, statements=tuple(map(changed, scop.statements)))
