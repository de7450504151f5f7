"""How long loops are known to be."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_limits import solved

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT = 64
"""Iterations too few to pay for more memory: for an array of copies, or for tiles around them."""

SMALLEST_PACKED_PRODUCT = 4_000
"""Updates of one product of matrices up to which copies of its operands cost more than they give, however many such
products there are: of matrices of four rows most of a register tile is an edge."""

THIN = 4
"""Rows or columns of a product of matrices up to which it is thin: where a 3 x 3 matrix meets many vectors, each of
their numbers is read three times, too few to copy it first."""

_SET = isl.dim_type.set


def is_worth_packing(sides: Sequence[float], steps: float) -> bool:
    """Whether a product of so many rows and columns, its ``sides``, and so many steps at most may gain by copies of its
    operands, in the order in which tiles in registers read them.

    Where all its steps for one row or column are few, compilers write these out, with all operands in registers.

    >>> is_worth_packing([1000, 1000], 3), is_worth_packing([1000, 3], 3), is_worth_packing([10, 10], 10)
    (True, False, False)
    >>> is_worth_packing([1000, 5], 3), is_worth_packing([1000, 5], 300)
    (False, True)
    """
    is_large = prod(sides) * steps > SMALLEST_PACKED_PRODUCT
    return is_large and min(sides) > THIN and min(sides) * steps > SHORT


def longest(domain: isl.Set, loop: int) -> float:
    """The largest number of steps between the first and the last value of ``loop``, in any iteration around it.

    >>> longest(isl.Set("[n] -> { S[i, k] : 0 <= i < n and i <= k < i + 3 }"), 1)
    3.0
    >>> longest(isl.Set("[n] -> { S[i, k] : 0 <= i < n and i <= k < i + 3 }"), 0)
    inf
    """
    outer = domain.project_out(_SET, loop + 1, domain.dim(_SET) - loop - 1).reset_tuple_id()
    values = isl.Map.from_range(outer).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, loop)
    length = solved(partial(_range_of, values))
    return float("inf") if length is None or not length.is_int() else float(length.to_python() + 1)


def _range_of(values: isl.Map) -> isl.Val:
    last, first = values.dim_max(0), values.dim_min(0)
    return (last - first).max_val()
