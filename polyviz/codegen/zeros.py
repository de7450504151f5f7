"""Zeros of the types of their sums: ``np.float32(0)`` where these add in single precision.

Sums over arrays start with one, and sums under a condition add one where it does not hold. What is added is -0.0 then
if every bit counts: 0.0 would make 0.0 of a sum of -0.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from polyviz.codegen.typing import Environment, assignments, infer
from polyviz.model.expression import Assign, Call, Conditional, Constant, Instruction, Zero, children, rebuild

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.expression import Expression, Node
    from polyviz.model.program import ArrayType, FloatingPoint
    from polyviz.model.scop import Scop, Statement

_AS_WRITTEN = ("bool", "int64", "float64", "complex128")
"""Types in which adding to a plain 0 ends anyway."""


def with_typed_zeros(scop: Scop, types: Mapping[str, ArrayType], contract: FloatingPoint = "strict") -> Scop:
    """``scop`` with numbers of the sums' own types in the place of each ``Zero``; itself where that changes nothing.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, x):\\n  x[0] = np.sum(A[:])")
    >>> from polyviz.model.program import ArrayType
    >>> types = {name: ArrayType("float32", 0) for name in ("A", "x", "total")}
    >>> with_typed_zeros(part, types).statements[0].body[0].value
    Call(function='numpy.float32', arguments=(Constant(value=0),))
    """
    typed = _Typed(Environment({name: kind.dtype for name, kind in types.items()}), exact=contract == "strict")
    statements = tuple(typed.statement(one) for one in scop.statements)
    return scop if statements == scop.statements else replace(scop, statements=statements)


@dataclass(frozen=True, slots=True)
class _Typed:
    """Puts zeros of their types in; ``exact``: every bit of a sum counts."""

    environment: Environment
    exact: bool

    def statement(self, statement: Statement) -> Statement:
        values = [one.value for one in assignments(statement.body)]
        if not any(isinstance(part, Zero) for value in values for part in (value, *children(value))):
            return statement
        return replace(statement, body=tuple(cast("Instruction", self._node(line)) for line in statement.body))

    def _node(self, node: Node) -> Node:
        match node:
            case Assign(target, Zero()):
                return replace(node, value=_number(0, self.environment.array(target.array).name))
            case Assign(value=Conditional(body=body, otherwise=Zero()) as chosen):
                return replace(node, value=replace(chosen, otherwise=self._nothing(node, body)))
            case Assign(value=Conditional(body=Zero(), otherwise=otherwise) as chosen):
                return replace(node, value=replace(chosen, body=self._nothing(node, otherwise)))
        return rebuild(node, self._node)

    def _nothing(self, assignment: Assign, added: Expression) -> Expression:
        """What leaves the target of ``assignment`` as it is, of the type of what it adds at other times."""
        dtype = infer(added, self.environment).name
        if not self.exact or assignment.operator != "+" or not dtype.startswith(("float", "complex")):
            return _number(0, dtype)
        return _number(-0.0 if dtype.startswith("float") else complex(-0.0, -0.0), dtype)


def _number(value: complex, dtype: str) -> Expression:
    """``value`` of the type ``dtype``; a plain number where whatever it is added to ends in that type anyway."""
    return Constant(value) if dtype in _AS_WRITTEN else Call(f"numpy.{dtype}", (Constant(value),))
