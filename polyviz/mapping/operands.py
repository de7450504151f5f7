"""An update of an array cell taken apart: which parts of its value belong to the rows of a register tile, which to its
columns, and how they meet.

A part that does not move in the column loop has one value per row and step of the sum; it is computed once, kept in a
packed buffer, and serves all columns (and the other way round). In ``C[i, j] += alpha * A[i, k] * B[k, j]`` these are
``alpha * A[i, k]`` and ``B[k, j]``. Every operation keeps its place, so each cell sees the same roundings as before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeGuard

from polyviz.model.expression import (
    Assign,
    Binary,
    Constant,
    Element,
    Expression,
    Name,
    Unary,
    rebuild,
    walk,
)
from polyviz.model.plan import COLUMNS, ROWS, SCALARS, SUM, Operands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.expression import Node
    from polyviz.model.scop import Statement

_ARITHMETIC = ("+", "-", "*", "/")
"""What C computes for whole vectors with the roundings of single numbers."""


class NotSeparableError(Exception):
    """The value of an update has no parts of rows and columns; the message says why."""


def split_update(
    statement: Statement, copies: Mapping[str, int], row: str, column: str, depth: str, *, in_place: bool = False
) -> Operands:
    """The operands of the only instruction of ``statement``; the last arguments name the iterators of the three loops.

    ``copies`` as for :func:`moving_names`. Operands that are to be read ``in_place`` are single elements of arrays.
    Raises NotSeparableError for what a register tile cannot compute.
    """
    if len(statement.body) != 1 or not isinstance(statement.body[0], Assign):
        raise NotSeparableError("the statement is more than one assignment")
    assign = statement.body[0]
    value = assign.value
    if assign.operator is not None:
        value = Binary(assign.operator, assign.target, value)
    splitter = _Splitter(statement, copies, assign.target, row, column, depth, in_place)
    update = splitter.split(value)
    if not any(part == Name(SUM) for part in walk(update)):
        raise NotSeparableError("the new value does not build on the old one")
    return Operands(
        assign.target, tuple(splitter.rows), tuple(splitter.columns), tuple(splitter.scalars), update
    )


def moving_names(node: Expression, statement: Statement, copies: Mapping[str, int]) -> set[str]:
    """The names on which the value of ``node`` depends, iterators of ``statement`` among them.

    ``copies`` tells for how many outer loops each private temporary has copies: its value is another one in every
    iteration of these, though no subscript tells.
    """
    names = {part.name for part in walk(node) if isinstance(part, Name)}
    depths = (copies.get(part.array, 0) for part in walk(node) if isinstance(part, Element))
    return names.union(statement.iterators[: max(depths, default=0)])


@dataclass
class _Splitter:
    """Collects the operands of one value."""

    statement: Statement
    copies: Mapping[str, int]
    target: Element
    row: str
    column: str
    depth: str
    in_place: bool
    rows: list[Expression] = field(default_factory=list)
    columns: list[Expression] = field(default_factory=list)
    scalars: list[Expression] = field(default_factory=list)

    def split(self, node: Expression) -> Expression:
        """``node`` with its parts replaced by their names."""
        if node == self.target:
            return Name(SUM)
        if isinstance(node, Constant):
            return node
        if self.target not in walk(node):
            named = self._operand(node)
            if named is not None:
                return named
        if _is_square(node):
            node = Binary("*", node.left, node.left)
        separable = isinstance(node, Binary) and node.operator in _ARITHMETIC
        if separable or (isinstance(node, Unary) and node.operator == "-"):
            return _expression(rebuild(node, lambda part: self.split(_expression(part))))
        raise NotSeparableError("some part of the value is different for every row and column")

    def _operand(self, node: Expression) -> Name | None:
        moving = moving_names(node, self.statement, self.copies)
        if not moving & {self.row, self.column, self.depth}:
            return _named(SCALARS, self.scalars, node)
        if self.in_place and not isinstance(node, Element):
            return None
        if self.column not in moving:
            return _named(ROWS, self.rows, node)
        if self.row not in moving:
            return _named(COLUMNS, self.columns, node)
        return None


def _is_square(node: Expression) -> TypeGuard[Binary]:
    """Whether ``node`` is ``x ** 2``, which is computed as ``x * x`` wherever it stands."""
    if not isinstance(node, Binary) or node.operator != "**" or not isinstance(node.right, Constant):
        return False
    return type(node.right.value) is int and node.right.value == 2


def _named(stem: str, known: list[Expression], node: Expression) -> Name:
    for place, other in enumerate(known):
        if _is_same(node, other):
            return Name(f"{stem}{place}")
    known.append(node)
    return Name(f"{stem}{len(known) - 1}")


def _is_same(one: Expression, other: Expression) -> bool:
    """Whether both compute the same, wherever they stand in the source; ``1`` equals ``1.0``, but computes another
    type."""
    return one == other and [type(part.value) for part in walk(one) if isinstance(part, Constant)] == [
        type(part.value) for part in walk(other) if isinstance(part, Constant)
    ]


def _expression(node: Node) -> Expression:
    assert isinstance(node, Expression)
    return node
