"""Rows of a schedule: one affine function of iterators and parameters per node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class AffineRow:
    """``iterators . i + parameters . p + constant`` with integer coefficients."""

    iterators: tuple[int, ...]
    parameters: tuple[int, ...]
    constant: int

    def along(self, distance: Sequence[int]) -> int:
        """How much the function grows from an instance to the one at ``distance``."""
        return sum(factor * step for factor, step in zip(self.iterators, distance, strict=True))

    def affine(self, space: isl.Space) -> isl.Aff:
        """The function on the set space ``space``, whose parameters are those of the row.

        >>> row = AffineRow((2, 1), (1,), -3)
        >>> print(row.affine(isl.Set("[n] -> { S[t, i] }").get_space()))
        [n] -> { S[t, i] -> [(-3 + n + 2t + i)] }
        """
        function = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
        function = function.set_constant_val(isl.Val(self.constant))
        for position, coefficient in enumerate(self.parameters):
            function = function.set_coefficient_val(isl.dim_type.param, position, isl.Val(coefficient))
        for position, coefficient in enumerate(self.iterators):
            function = function.set_coefficient_val(isl.dim_type.in_, position, isl.Val(coefficient))
        return function


def multi_affine(rows: Sequence[AffineRow], space: isl.Space) -> isl.MultiAff:
    """All ``rows`` as one function from ``space`` into an anonymous space."""
    functions = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(rows))
    for row in rows:
        functions = functions.add(row.affine(space))
    target = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, 0, 0).params()
    target = target.align_params(space.params()).set_from_params().add_dims(isl.dim_type.set, len(rows))
    return isl.MultiAff.from_aff_list(space.map_from_domain_and_range(target), functions)


def composed(row: AffineRow, inner: Sequence[AffineRow]) -> AffineRow:
    """``row`` applied to the values of ``inner``.

    >>> composed(AffineRow((1, 1), (), 5), [AffineRow((1, 0), (), 0), AffineRow((2, 1), (), 1)])
    AffineRow(iterators=(3, 1), parameters=(), constant=6)
    """

    def total(columns: Sequence[Sequence[int]], own: Sequence[int]) -> tuple[int, ...]:
        return tuple(
            value
            + sum(factor * column[position] for factor, column in zip(row.iterators, columns, strict=True))
            for position, value in enumerate(own)
        )

    width = len(inner[0].iterators) if inner else 0
    return AffineRow(
        total([part.iterators for part in inner], (0,) * width),
        total([part.parameters for part in inner], row.parameters),
        total([(part.constant,) for part in inner], (row.constant,))[0],
    )
