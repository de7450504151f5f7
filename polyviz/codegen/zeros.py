"""Sums over arrays start with a zero of their own type: ``np.float32(0)`` where they add in single precision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from polyviz.codegen.typing import assignments
from polyviz.model.expression import Assign, Call, Constant, Instruction, Zero, rebuild

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.expression import Node
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop, Statement

_AS_WRITTEN = ("int64", "float64", "complex128")
"""Types in which adding to a plain 0 ends anyway."""


def with_typed_zeros(scop: Scop, types: Mapping[str, ArrayType]) -> Scop:
    """``scop`` with numbers of the sums' own types in the place of each ``Zero``; itself where that changes nothing.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, x):\\n  x[0] = np.sum(A[:])")
    >>> from polyviz.model.program import ArrayType
    >>> types = {name: ArrayType("float32", 0) for name in ("A", "x", "total")}
    >>> with_typed_zeros(part, types).statements[0].body[0].value
    Call(function='numpy.float32', arguments=(Constant(value=0),))
    """
    statements = tuple(_typed(statement, types) for statement in scop.statements)
    return scop if statements == scop.statements else replace(scop, statements=statements)


def _typed(statement: Statement, types: Mapping[str, ArrayType]) -> Statement:
    if not any(isinstance(one.value, Zero) for one in assignments(statement.body)):
        return statement
    return replace(statement, body=tuple(cast("Instruction", _with_types(line, types)) for line in statement.body))


def _with_types(node: Node, types: Mapping[str, ArrayType]) -> Node:
    match node:
        case Assign(target, Zero()):
            dtype = types[target.array].dtype
            zero = Constant(0) if dtype in _AS_WRITTEN else Call(f"numpy.{dtype}", (Constant(0),))
            return replace(node, value=zero)
    return rebuild(node, lambda part: _with_types(part, types))
