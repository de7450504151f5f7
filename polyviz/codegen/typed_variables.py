"""Variables that stand for cells of an array: what is assigned to one is converted to its type, as storing it would.

A compiler of Python gives a variable the type of its values. A cell has the type of its array: a sum of doubles that is
kept in a cell of single precision is rounded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import BOOL, numpy_name
from polyviz.codegen.typing import assigned_type
from polyviz.model.expression import (
    Assign,
    Binary,
    Call,
    Constant,
    Element,
    Instruction,
    Unary,
    While,
    rebuild,
    rewritten,
)

if TYPE_CHECKING:
    from polyviz.codegen.typing import Environment
    from polyviz.model.expression import Expression, Node
    from polyviz.model.scop import Scop


def with_conversions(
    scop: Scop, body: tuple[Instruction, ...], environment: Environment
) -> tuple[Instruction, ...]:
    """``body`` with conversions around what is assigned to variables that keep their type, where it has another."""
    typed = {array.name for array in scop.arrays if array.keeps_type}

    def place(node: Node) -> Node:
        if isinstance(node, Assign) and node.target.array in typed and not node.target.subscripts:
            return _converted(node, environment)
        return rebuild(node, place) if isinstance(node, Instruction) else node

    converted = tuple(place(instruction) for instruction in body)
    return tuple(one for one in converted if isinstance(one, Instruction))


def with_copies_computed(
    body: tuple[Instruction, ...], environment: Environment, *, inside: bool = False
) -> tuple[Instruction, ...]:
    """``body`` for numba, with ``a = +b`` in the place of ``a = b`` ``inside`` of ``while`` loops.

    Where ``b`` is a number before such a loop, numba 0.68 writes that number for ``a`` in iterations of ``prange``.

    >>> from polyviz.codegen.typing import Environment
    >>> loop = While(Element("b"), (Assign(Element("a"), Element("b")),))
    >>> with_copies_computed((loop,), Environment({"a": "int64", "b": "int64"}))[0].body[0].value.operator
    '+'
    """

    def place(node: Node) -> Node:
        if isinstance(node, While):
            return replace(node, body=with_copies_computed(node.body, environment, inside=True))
        if inside and isinstance(node, Assign) and _is_copy(node):
            is_truth = environment.array(node.target.array) == BOOL
            return replace(node, value=Call("bool", (node.value,)) if is_truth else Unary("+", node.value))
        return rebuild(node, place) if isinstance(node, Instruction) else node

    return rewritten(body, place)


def _is_copy(assign: Assign) -> bool:
    value = assign.value
    scalars = not assign.target.subscripts and isinstance(value, Element) and not value.subscripts
    return scalars and assign.operator is None


def _converted(assign: Assign, environment: Environment) -> Assign:
    wanted = environment.array(assign.target.array)
    if assigned_type(assign, environment) == wanted:
        return assign
    value: Expression = assign.value
    if assign.operator is not None:
        value = Binary(assign.operator, assign.target, value)
    if isinstance(value, Constant) and wanted.name == "float64" and isinstance(value.value, int):
        value = Constant(float(value.value))
    else:
        value = Call(f"numpy.{numpy_name(wanted.name)}", (value,))
    return replace(assign, value=value, operator=None)
