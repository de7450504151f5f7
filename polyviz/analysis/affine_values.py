"""Expressions over iterators and sizes as affine functions of the instances of a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.expression import Loop, walk
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from polyviz.model.expression import Expression
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Statement

_PARAMETER = isl.dim_type.param


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
    return sum_of(terms, statement.domain.get_space(), statement.iterators)


def sum_of(terms: Terms, space: isl.Space, iterators: tuple[str, ...] = ()) -> isl.Aff | None:
    """The linear combination ``terms`` over ``space``, whose dimensions are ``iterators``; None where it has others.

    >>> print(sum_of({"n": 2, "": 1}, isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 1).set_dim_name(_PARAMETER, 0, "n")))
    [n] -> { [(1 + 2n)] }
    """
    found = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)).add_constant_val(isl.Val(terms.get("", 0)))
    for name, coefficient in terms.items():
        if not name:
            continue
        if name in iterators:
            found = found.add_coefficient_val(isl.dim_type.in_, iterators.index(name), isl.Val(coefficient))
        elif (position := space.find_dim_by_name(_PARAMETER, name)) >= 0:
            found = found.add_coefficient_val(_PARAMETER, position, isl.Val(coefficient))
        else:
            return None
    return found
