"""Whether loops that a temporary goes through are better left together than scheduled apart.

Apart, every loop nest may get an order of its own, and a product of matrices its tiles in registers; the temporary then
is an array with a cell per iteration of the loops around. That array is worth its traffic when much work is done per
cell, and when the order of the source is a bad one.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.reductions import find_reductions
from polyviz.analysis.strides import access_rows
from polyviz.model.isl_limits import solved

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.analysis.strides import Row
    from polyviz.model.scop import Scop, Statement
    from polyviz.scheduling.problem import SchedulingProblem

SHORT = 64
"""Iterations inside the loops around a temporary that do not pay for an array of its copies."""

_SET = isl.dim_type.set


def pays_together(problem: SchedulingProblem, names: Iterable[str], depth: int) -> bool:
    """Whether ``names``, the statements in loops inside a body at ``depth``, had better stay in the source's order.

    They do when their loops are known to be short, or when at least two loops around would make the array of copies
    as large as the data while the innermost loops already go through memory without jumps. A product of two operands
    that are used again along different loops around is left apart: its tiles in registers are worth more.
    """
    statements = [problem.scop.statement(name) for name in names]
    if any(_is_product(problem.scop, statement, depth) for statement in statements):
        return False
    if all(_iterations(statement, depth, problem.sizes) <= SHORT for statement in statements):
        return True
    return depth > 1 and all(map(_moves_without_jumps, statements))


def _is_product(scop: Scop, statement: Statement, depth: int) -> bool:
    """Whether ``statement`` accumulates values of which some are the same along one loop, some along another."""
    if all(reduction.statement != statement.name for reduction in find_reductions(scop)):
        return False
    count = len(statement.iterators)
    reads = [access for access in statement.accesses if access.kind == "read" and scop.array(access.array).rank]
    known = [rows for access in reads if (rows := access_rows(access, count)) is not None]
    fixed = [{loop for loop in range(depth) if not any(row[loop] for row in rows)} for rows in known]
    return any(one - other and other - one for one, other in combinations(fixed, 2))


def _iterations(statement: Statement, depth: int, sizes: Mapping[str, int]) -> float:
    """How often at most ``statement`` runs in one iteration of its ``depth`` outer loops."""
    domain = statement.domain
    for position in range(domain.dim(isl.dim_type.param)):
        name = domain.get_dim_name(isl.dim_type.param, position)
        if name in sizes:
            domain = domain.fix_val(isl.dim_type.param, position, isl.Val(sizes[name]))
    product = 1.0
    for loop in range(depth, domain.dim(_SET)):
        product *= _longest(domain, loop)
    return product


def _longest(domain: isl.Set, loop: int) -> float:
    """The largest number of steps between the first and the last value of ``loop``, in any iteration around it."""
    outer = domain.project_out(_SET, loop + 1, domain.dim(_SET) - loop - 1).reset_tuple_id()
    values = isl.Map.from_range(outer).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, loop)
    length = solved(partial(_range_of, values))
    return float("inf") if length is None or not length.is_int() else float(length.to_python() + 1)


def _range_of(values: isl.Map) -> isl.Val:
    last, first = values.dim_max(0), values.dim_min(0)
    return (last - first).max_val()


def _moves_without_jumps(statement: Statement) -> bool:
    """Whether its innermost loop in the source goes through every array from one element to the next, or not at all."""
    count = len(statement.iterators)
    for access in statement.accesses:
        if access.relation.dim(isl.dim_type.out) == 0:
            continue
        rows = access_rows(access, count)
        if rows is None or not _is_smooth(rows):
            return False
    return True


def _is_smooth(rows: list[Row]) -> bool:
    *others, last = (row[-1] for row in rows)
    return not any(others) and abs(last) <= 1
