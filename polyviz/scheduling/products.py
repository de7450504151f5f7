"""Products, such as that of two matrices: sums whose operands are used again along loops of their own."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from polyviz.analysis.reductions import find_reductions
from polyviz.analysis.strides import access_rows
from polyviz.analysis.trip_counts import is_worth_packing, longest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

    from polyviz.model.scop import Scop, Statement


def products(scop: Scop) -> frozenset[str]:
    """The statements that are products."""
    return frozenset(one.name for one in scop.statements if is_product(scop, one, len(one.iterators)))


def is_product(scop: Scop, statement: Statement, depth: int) -> bool:
    """Whether ``statement`` accumulates values of which some are the same along one of its ``depth`` outer loops, some
    along another."""
    return next(_pairs(scop, statement, depth), None) is not None


def has_large_product(scop: Scop, statement: Statement, depth: int, domain: isl.Set) -> bool:
    """Whether tiles in registers may be worth it for a product of ``statement`` in ``domain``, whose inner loops from
    ``depth`` on are the sum. Rows and columns are the loops along which some operand is the same, another is not."""
    steps = prod(longest(domain, loop) for loop in range(depth, len(statement.iterators)))
    sides = ([longest(domain, loop) for loop in loops] for loops in _pairs(scop, statement, depth))
    return any(is_worth_packing(found, steps) for found in sides)


def _pairs(scop: Scop, statement: Statement, depth: int) -> Iterator[set[int]]:
    """For each two operands with a loop of its own that each is the same along: all these loops of the two."""
    sums = {one.array for one in find_reductions(scop) if one.statement == statement.name}
    if not sums:
        return
    count = len(statement.iterators)
    operands = (one for one in statement.accesses if one.kind == "read" and one.array not in sums)
    reads = [access for access in operands if scop.array(access.array).rank]
    known = [rows for access in reads if (rows := access_rows(access, count)) is not None]
    fixed = [{loop for loop in range(depth) if not any(row[loop] for row in rows)} for rows in known]
    yield from (one ^ other for one, other in combinations(fixed, 2) if one - other and other - one)
