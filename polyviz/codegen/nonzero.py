"""Divisors that cannot be zero, as far as the iteration domain tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.expression import Loop, walk
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from polyviz.model.expression import Expression
    from polyviz.model.scop import Statement


def is_never_zero(statement: Statement, divisor: Expression) -> bool:
    """Whether ``divisor`` is affine in iterators and sizes, and 0 for no instance of ``statement``.

    >>> import polyviz as pv
    >>> from polyviz.model.expression import Binary, Constant, Name
    >>> (statement,) = pv.extract("def f(A, n):\\n    for i in range(n):\\n        A[i] = i / n\\n").statements
    >>> is_never_zero(statement, Name("n")), is_never_zero(statement, Name("i"))
    (True, False)
    >>> is_never_zero(statement, Binary("+", Name("i"), Constant(1)))
    True
    """
    terms = linear_terms(divisor)
    inner = {part.iterator for node in statement.body for part in walk(node) if isinstance(part, Loop)}
    if terms is None or not inner.isdisjoint(terms):
        return False
    space = statement.domain.get_space()
    value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)).add_constant_val(isl.Val(terms.get("", 0)))
    for name, coefficient in terms.items():
        if not name:
            continue
        if name in statement.iterators:
            value = value.add_coefficient_val(
                isl.dim_type.in_, statement.iterators.index(name), isl.Val(coefficient)
            )
        elif (position := space.find_dim_by_name(isl.dim_type.param, name)) >= 0:
            value = value.add_coefficient_val(isl.dim_type.param, position, isl.Val(coefficient))
        else:
            return False
    return bool(statement.domain.intersect(isl.Set.from_basic_set(value.zero_basic_set())).is_empty())
