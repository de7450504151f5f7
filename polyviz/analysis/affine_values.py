"""Expressions over iterators and sizes as affine functions of the instances of a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.expression import Loop, walk
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from polyviz.model.expression import Expression
    from polyviz.model.scop import Statement


def affine_value(statement: Statement, value: Expression) -> isl.Aff | None:
    """``value`` as a function of the instances of ``statement``; None where it is not linear in iterators and sizes.

    >>> import polyviz as pv
    >>> from polyviz.model.expression import Binary, Constant, Name
    >>> (statement,) = pv.extract("def f(A, n):\\n    for i in range(n):\\n        A[i] = 0.0\\n").statements
    >>> print(affine_value(statement, Binary("-", Name("n"), Name("i"))))
    [n] -> { S0[i] -> [(n - i)] }
    """
    terms = linear_terms(value)
    inner = {part.iterator for node in statement.body for part in walk(node) if isinstance(part, Loop)}
    if terms is None or not inner.isdisjoint(terms):
        return None
    space = statement.domain.get_space()
    found = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)).add_constant_val(isl.Val(terms.get("", 0)))
    for name, coefficient in terms.items():
        if not name:
            continue
        if name in statement.iterators:
            found = found.add_coefficient_val(
                isl.dim_type.in_, statement.iterators.index(name), isl.Val(coefficient)
            )
        elif (position := space.find_dim_by_name(isl.dim_type.param, name)) >= 0:
            found = found.add_coefficient_val(isl.dim_type.param, position, isl.Val(coefficient))
        else:
            return None
    return found
