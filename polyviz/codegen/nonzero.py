"""Divisors that cannot be zero, as far as the iteration domain tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.affine_values import affine_value

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
    value = affine_value(statement, divisor)
    if value is None:
        return False
    return bool(statement.domain.intersect(isl.Set.from_basic_set(value.zero_basic_set())).is_empty())
