"""Products, such as that of two matrices: sums whose operands are used again along loops of their own."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from polyviz.analysis.reductions import find_reductions
from polyviz.analysis.strides import access_rows

if TYPE_CHECKING:
    from polyviz.model.scop import Scop, Statement


def products(scop: Scop) -> frozenset[str]:
    """The statements that are products."""
    return frozenset(one.name for one in scop.statements if is_product(scop, one, len(one.iterators)))


def is_product(scop: Scop, statement: Statement, depth: int) -> bool:
    """Whether ``statement`` accumulates values of which some are the same along one of its ``depth`` outer loops, some
    along another."""
    sums = {one.array for one in find_reductions(scop) if one.statement == statement.name}
    if not sums:
        return False
    count = len(statement.iterators)
    operands = (one for one in statement.accesses if one.kind == "read" and one.array not in sums)
    reads = [access for access in operands if scop.array(access.array).rank]
    known = [rows for access in reads if (rows := access_rows(access, count)) is not None]
    fixed = [{loop for loop in range(depth) if not any(row[loop] for row in rows)} for rows in known]
    return any(one - other and other - one for one, other in combinations(fixed, 2))
