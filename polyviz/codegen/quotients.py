"""Quotients and remainders of what the iteration domain knows not to be negative.

Python rounds down, C towards zero. Where nothing is negative both are the same, and unsigned numbers are halved by
moving their bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.affine_values import affine_value
from polyviz.model.expression import Binary, Constant, Instruction, NotNegative, rebuild

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop, Statement


def with_quotients(scop: Scop, bodies: Mapping[str, Sequence[Instruction]]) -> dict[str, Sequence[Instruction]]:
    """``bodies`` of the statements of ``scop`` that say which numbers are divided without a sign."""
    return {
        name: tuple(_instruction(quotients_in(scop.statement(name), line)) for line in body)
        for name, body in bodies.items()
    }


def quotients_in(statement: Statement, node: Node) -> Node:
    """``node`` of ``statement`` with a ``NotNegative`` for each quotient that is one in all instances.

    >>> import polyviz as pv
    >>> from polyviz.model.expression import Name
    >>> (one,) = pv.extract("def f(A, n):\\n    for i in range(n):\\n        A[i] = A[(i + 2) // 2]\\n").statements
    >>> type(quotients_in(one, Binary("//", Name("i"), Constant(2)))).__name__
    'NotNegative'
    >>> type(quotients_in(one, Binary("//", Binary("-", Name("i"), Constant(1)), Constant(2)))).__name__
    'Binary'
    """
    node = rebuild(node, lambda part: quotients_in(statement, part))
    match node:
        case Binary("//" | "%" as operator, left, Constant(int(divisor))) if divisor > 0:
            value = affine_value(statement, left)
            if value is not None and _is_never_negative(statement, value):
                return NotNegative(operator, left, Constant(divisor))
    return node


def _is_never_negative(statement: Statement, value: isl.Aff) -> bool:
    negative = isl.Set.from_basic_set(value.neg_basic_set())
    return bool(statement.domain.intersect(negative).is_empty())


def _instruction(node: Node) -> Instruction:
    assert isinstance(node, Instruction)
    return node
