"""Loops that are known to be so short that compilers write them out."""

from __future__ import annotations

from math import inf, prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import rank, statement_rows
from polyviz.analysis.trip_counts import SHORT, longest
from polyviz.model.isl_limits import solved
from polyviz.transform.innermost import innermost_scores
from polyviz.transform.tree import band_at, node_at, statements_under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.analysis.strides import Row
    from polyviz.model.scop import Scop, Statement
    from polyviz.transform.tree import Path

WRITTEN_OUT = 16
"""Iterations up to which compilers write a loop out by themselves."""


def are_written_out(scop: Scop, tree: isl.Schedule, path: Path) -> bool:
    """Whether the loops below the band at ``path`` are so short that compilers write them out, where its last loop does
    not jump: what their iterations hand to each other is in registers then, and that loop makes vectors."""
    band = band_at(tree, path)
    if not innermost_scores(scop, tree, path)[-1].vectorizable:
        return False
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    statements = [scop.statement(name) for name in statements_under(band)]
    return all(iterations_inside(one, statement_rows(rows, one)) <= WRITTEN_OUT for one in statements)


def is_written_out(statement: Statement, rows: Sequence[Row]) -> bool:
    """The same for the last of the loops around ``statement``, which ``rows`` are."""
    return iterations_inside(statement, rows[:-1]) <= WRITTEN_OUT


def iterations_inside(statement: Statement, rows: Sequence[Row]) -> float:
    """The largest number of instances of ``statement`` for one value of ``rows``."""
    still = [loop for loop in range(len(statement.iterators)) if not any(row[loop] for row in rows)]
    if rank(rows) + len(still) < len(statement.iterators):
        return float("inf")
    return prod(longest(statement.domain, loop) for loop in still)


def values_of(row: isl.UnionPwAff) -> isl.Set:
    """The values of a schedule row, for the parameters."""
    return isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(row).range())


def most_values(row: isl.UnionPwAff) -> float:
    """The largest number of values that a schedule row may have."""
    line = values_of(row).project_out_all_params()
    length = solved(lambda: line.dim_max_val(0).sub(line.dim_min_val(0)))
    return inf if length is None or not length.is_int() else float(length.to_python() + 1)


def has_long_rows(scop: Scop, tree: isl.Schedule, path: Path) -> bool:
    """Whether some statement under the band at ``path`` has two loops or more that are not known to be short."""
    statements = [scop.statement(name) for name in statements_under(node_at(tree, path))]
    lengths = ([longest(one.domain, loop) for loop in range(len(one.iterators))] for one in statements)
    return any(sum(length > SHORT for length in found) > 1 for found in lengths)


def is_short_member(tree: isl.Schedule, path: Path, member: int) -> bool:
    """Whether one loop of the band at ``path`` is written out, wherever it stands."""
    band = band_at(tree, path)
    rows = band.band_get_partial_schedule().intersect_domain(band.get_domain())
    return most_values(rows.get_at(member)) <= WRITTEN_OUT
