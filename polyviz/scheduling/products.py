"""Products, such as that of two matrices: sums whose operands are used again along loops of their own."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from polyviz.analysis.reductions import find_reductions
from polyviz.analysis.strides import access_rows
from polyviz.analysis.trip_counts import is_worth_packing, longest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import islpy as isl

    from polyviz.model.scop import Access, Scop, Statement


def products(scop: Scop) -> frozenset[str]:
    """The statements that are products."""
    return frozenset(one.name for one in scop.statements if is_product(scop, one))


def is_product(scop: Scop, statement: Statement) -> bool:
    """Whether ``statement`` accumulates values, some of which are the same along one of its loops, some along another
    one."""
    sums = {one.array for one in find_reductions(scop) if one.statement == statement.name}
    if not sums:
        return False
    count = len(statement.iterators)
    operands = (one for one in statement.accesses if one.kind == "read" and one.array not in sums)
    reads = [access for access in operands if scop.array(access.array).rank]
    known = [rows for access in reads if (rows := access_rows(access, count)) is not None]
    fixed = [{loop for loop in range(count) if not any(row[loop] for row in rows)} for rows in known]
    return any(one - other and other - one for one, other in combinations(fixed, 2))


def has_large_product(statement: Statement, domain: isl.Set, copies: Mapping[str, int]) -> bool:
    """Whether tiles in registers may be worth it for the updates of ``statement`` in ``domain``.

    That takes two operands of which each moves along a loop that leaves the other one where it is, and that moves the
    updated cell: rows and columns. The other loops are the steps of the sum. ``copies`` tells for how many outer loops
    each private temporary would have copies: along these it moves, too.
    """
    updated = next((access for access in statement.accesses if access.kind == "write"), None)
    reads = [access for access in statement.accesses if access.kind == "read"]
    if updated is None or not any(_is_same_cell(access, updated) for access in reads):
        return False
    cells = _moving(updated, statement, copies)
    if len(cells) == len(statement.iterators):
        return False
    operands = [_moving(access, statement, copies) for access in reads if not _is_same_cell(access, updated)]
    steps = prod(longest(domain, loop) for loop in range(len(statement.iterators)) if loop not in cells)
    return any(
        is_worth_packing([longest(domain, loop) for loop in cells & (one ^ other)], steps)
        for one, other in combinations(operands, 2)
        if cells & (one - other) and cells & (other - one)
    )


def _is_same_cell(one: Access, other: Access) -> bool:
    return one.array == other.array and one.relation.is_equal(other.relation)


def _moving(access: Access, statement: Statement, copies: Mapping[str, int]) -> set[int]:
    """The loops along which ``access`` goes on to another element; all of them where that is not known."""
    count = len(statement.iterators)
    if access.array in copies:
        return set(range(copies[access.array]))
    rows = access_rows(access, count)
    return set(range(count)) if rows is None else {loop for loop in range(count) if any(row[loop] for row in rows)}
