"""Linearised subscripts taken apart: ``i * n * m + j * m + k`` has the strides ``n * m``, ``m`` and 1 with the factors
``i``, ``j`` and ``k``, which stand where a matrix of rows has its subscripts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from polyviz.model.expression import Binary, Constant, Expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Stride = tuple[Expression, ...]
"""Factors made of parameters, in a fixed order; none of them: a stride of one."""


class NotLinearisedError(ValueError):
    """A subscript is no sum of strides times factors, or strides do not divide each other."""


@dataclass(frozen=True, slots=True)
class Splitter:
    """Takes subscripts apart: what ``is_affine`` is a factor as it is, what ``is_size`` may be part of a stride."""

    is_affine: Callable[[Expression], bool]
    is_size: Callable[[Expression], bool]

    def terms(self, subscript: Expression) -> dict[Stride, Expression]:
        """``subscript`` as a sum of strides times affine factors; raises `NotLinearisedError` where it is none.

        >>> from polyviz.model.expression import Name
        >>> from polyviz.model.linear import linear_terms
        >>> i, j, n = map(Name, "ijn")
        >>> splitter = Splitter(lambda part: linear_terms(part) is not None, lambda part: part == n)
        >>> splitter.terms(Binary("+", Binary("*", i, n), j)) == {(n,): i, (): j}
        True
        """
        if self.is_affine(subscript):
            return {(): subscript}
        match subscript:
            case Binary("+" | "-" as operator, left, right):
                result = self.terms(left)
                for stride, factor in self.terms(right).items():
                    result[stride] = _joined(operator, result.get(stride), factor)
                return result
            case Binary("*", left, right):
                for factor, other in ((left, right), (right, left)):
                    if self.is_size(factor):
                        found = self.terms(other).items()
                        return {in_order((*_factors(factor), *stride)): value for stride, value in found}
        raise NotLinearisedError


def chain(strides: Iterable[Stride]) -> tuple[Stride, ...]:
    """The strides and one, each a multiple of the one before; raises `NotLinearisedError` where they are not.

    >>> from polyviz.model.expression import Name
    >>> [len(stride) for stride in chain([(Name("m"), Name("n")), (Name("n"),)])]
    [0, 1, 2]
    """
    found = tuple(sorted({(), *strides}, key=len))
    for small, large in pairwise(found):
        if Counter(small) - Counter(large):
            raise NotLinearisedError
    return found


def ratio(small: Stride, large: Stride) -> Stride:
    """The factors by which ``large`` is more than ``small``."""
    return in_order((Counter(large) - Counter(small)).elements())


def count_of(length: Expression, stride: Stride) -> Expression | None:
    """How many times ``stride`` goes into ``length``, a product; None where its factors are not among those.

    >>> from polyviz.model.expression import Name
    >>> count_of(Binary("*", Name("n"), Name("m")), (Name("m"),))
    Name(name='n')
    """
    factors = _factors(length)
    return None if Counter(stride) - Counter(factors) else product(ratio(stride, factors))


def product(factors: Stride) -> Expression:
    """The product of ``factors``."""
    return reduce(lambda left, right: Binary("*", left, right), factors) if factors else Constant(1)


def in_order(factors: Iterable[Expression]) -> Stride:
    """``factors`` in the order that strides have them in."""
    return tuple(sorted(factors, key=repr))


def _factors(product: Expression) -> Stride:
    match product:
        case Binary("*", left, right):
            return (*_factors(left), *_factors(right))
    return (product,)


def _joined(operator: str, before: Expression | None, factor: Expression) -> Expression:
    if before is None and operator == "+":
        return factor
    return Binary(operator, Constant(0) if before is None else before, factor)
