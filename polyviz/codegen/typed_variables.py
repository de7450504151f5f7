"""Variables that stand for cells of an array: what is assigned to one is converted to its type, as storing it would.

A compiler of Python gives a variable the type of its values. A cell has the type of its array: a sum of doubles that is
kept in a cell of single precision is rounded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import numpy_name
from polyviz.codegen.typing import assigned_type
from polyviz.model.expression import Assign, Binary, Call, Constant, Instruction, rebuild

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
