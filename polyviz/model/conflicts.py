"""Which instances touched a cell before: the pairs that every dependence is made of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_limits import Allowance

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 100_000
"""Operations for one step of a search through all pairs of statements."""


def earlier_touches(
    sink: isl.Map, source: isl.Map, sink_times: isl.Map, source_times: isl.Map
) -> isl.Map:
    """The accesses of ``sink``, as ``[instance -> cell]``, to the instances of ``source`` that touch the cell before.

    ``sink`` and ``source`` map the instances of one statement each to cells, the times map the instances into one time
    space.

    >>> read, write = isl.Map("{ R[i] -> A[i] : 0 <= i < 9 }"), isl.Map("{ W[i] -> A[i + 1] : 0 <= i < 9 }")
    >>> times = isl.Map("{ R[i] -> [i, 1] }"), isl.Map("{ W[i] -> [i, 0] }")
    >>> print(earlier_touches(read, write, *times))
    { [R[i] -> A[o0 = i]] -> W[i' = -1 + i] : 0 < i <= 8 }
    """
    touching = sink.range_map().apply_range(source.reverse())
    accesses = sink.domain_map().apply_range(sink_times)
    return touching.intersect(accesses.lex_gt_map(source_times))


def without(accesses: isl.Set, reached: Iterable[isl.Map], allowance: Allowance) -> isl.Set:
    """The ``accesses`` that none of ``reached`` maps to anything; too many of them when isl needs too long to tell.

    >>> reached = isl.Map("{ [i] -> W[i - 1] : 0 < i < 9 }")
    >>> print(without(isl.Set("{ [i] : 0 <= i < 9 }"), [reached], Allowance(10_000)))
    { [0] }
    """
    for pairs in reached:
        left = allowance.solve(partial(_less, accesses, pairs), MOST)
        accesses = accesses if left is None else left
    return accesses


def _less(accesses: isl.Set, pairs: isl.Map) -> isl.Set:
    return accesses.subtract(pairs.domain()).coalesce()
