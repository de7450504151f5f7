"""Steps over time that run together: stencils along a line, whose rows are too few to share what they load.

A stencil in one dimension loads each element of a row for itself and for its neighbours, from addresses across cache
lines, and often waits for a vector that it has just stored. With two steps of the time in one loop over the line what
the first computes serves the second from registers (``polyviz.codegen.time_steps_c``). Each step runs as far behind the
one before as the skewed rows of the schedule ask for: in a permutable band a tile of any size is legal, so is one of
two steps and a few vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import statement_row
from polyviz.mapping.innermost import distribute_innermost
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.plan import TimeSteps
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.tree import band_at, statements_under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path

STAGES = 4
"""Loops in one: more of them wait for each other longer than the arithmetic lasts."""


def steps_together(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, order: Sequence[int], *, parallel: bool
) -> TimeSteps | str:
    """The steps of the permutable band at ``path`` that run together, its members in ``order``, the last of which is
    ``parallel`` as it is, or not; else, why none do.

    That takes a loop over the time, a parallel loop of its own for each statement inside it, and skewed rows.
    """
    tree, _ = permute_members(tree, path, order)
    band = band_at(tree, path)
    names = statements_under(band)
    if len(names) == 1 and not parallel:
        return "columns wait for each other"
    if len(names) > 1 and distribute_innermost(scop, dependences, tree, path) is None:
        return "the statements have no parallel loops of their own"
    skews = [_skew(scop, tree, path, name) for name in names]
    found = tuple(skew for skew in skews if skew is not None)
    if len(found) < len(skews) or len({factor for factor, _ in found}) > 1:
        return "the rows of the schedule are no times and columns of the source"
    lags = tuple(lag - found[0][1] for _, lag in found)
    return TimeSteps(names, found[0][0], lags, max(2, STAGES // len(names)))


def time_steps_decision(steps: TimeSteps) -> Decision:
    """What is said of a band whose steps run together."""
    text = (
        f"{steps.count} steps of the time run together in one vector loop: what one step computes, and its neighbours, "
        "come to the next one from vector registers"
    )
    return Decision("time-steps", text, steps.statements)


def _skew(scop: Scop, tree: isl.Schedule, path: Path, name: str) -> tuple[int, int] | None:
    """How many columns a step runs behind the one before, and the statement behind the others; None where its rows
    are something else than the time, and a column skewed by it."""
    statement = scop.statement(name)
    if len(statement.iterators) != 2:
        return None
    rows = band_at(tree, path).band_get_partial_schedule()
    time, column = (statement_row(rows.get_at(member), statement) for member in (0, 1))
    factor = int(column[0])
    if list(time) != [1, 0] or list(column) != [factor, 1] or factor < 0:
        return None
    lags = [_constant(rows.get_at(member), statement.domain) for member in (0, 1)]
    if None in lags:
        return None
    started, lag = lags
    assert started is not None
    assert lag is not None
    return factor, lag - factor * started


def _constant(row: isl.UnionPwAff, domain: isl.Set) -> int | None:
    """The constant of ``row`` in ``domain``; None where it is made of pieces, or there are parameters in it."""
    pieces = row.intersect_domain(isl.UnionSet.from_set(domain)).get_pw_aff_list()
    found: list[isl.Aff] = []
    for position in range(pieces.n_pw_aff()):
        found += [function for _, function in pieces_of(pieces.get_at(position))]
    if len(found) != 1 or found[0].involves_dims(isl.dim_type.param, 0, found[0].dim(isl.dim_type.param)):
        return None
    constant = found[0].get_constant_val()
    return int(constant.to_python()) if constant.is_int() else None
