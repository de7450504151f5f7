"""The order of the source where that of the schedule turns scalars into arrays for the sake of tiles.

Statements of different depths share no band: what starts a scalar, and what uses its last value, stand outside the
nest that updates it, and the scalar becomes an array that this nest reads and writes once per tile. Register tiles are
worth that, other tiles hardly ever are: where the source keeps the scalar and leaves as much to threads, it is as good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.analysis.strides import motions, rank, statement_rows
from polyviz.model.plan import PARALLEL, PIPELINE, REDUCED
from polyviz.model.schedule import Decision
from polyviz.scheduling.described import described, outlined
from polyviz.scheduling.problem import SchedulingProblem
from polyviz.transform.tree import bands, kind_of, statements_under, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    import islpy as isl

    from polyviz.analysis.strides import AccessMotion
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop

DEFAULT_SCHEDULER = "pluto"
"""By name: the scheduler itself needs a solver of linear programs, which a machine that only runs plans may lack."""
IN_SOURCE_ORDER = (
    "the loops run in the order of the source, which keeps {names} out of memory: the order found would need an array "
    "with one cell per iteration, and its tiles no registers"
)

MOSTLY_EMPTY = (
    "the loops run in the order of the source: the order found would need an array for {names} of which, for some "
    "sizes, hardly any cells are used"
)


def with_scalars_kept(
    scop: Scop, dependences: Dependences, plan: Plan, bind: Callable[[Schedule], Plan]
) -> Plan:
    """``plan``, or what ``bind`` makes of the order of the source where that keeps scalars that tiles expand.

    Only an order that was found by default gives way, and only to one with threads on the same statements, no more
    serial loops around them than one in place of a wavefront, and innermost loops that follow memory as well.
    """
    if not _expands_for_tiles(plan):
        return plan
    problem, scheduler = SchedulingProblem(scop, dependences), plan.schedule.scheduler
    kept = bind(outlined(problem, scheduler, scop.schedule))
    if kept.expansions or not _shares_as_much(kept, plan):
        return plan
    if not _strided(scop, kept) <= _strided(scop, plan):
        return plan
    names = ", ".join(f"`{expansion.array}`" for expansion in plan.expansions)
    decision = Decision("source-order", IN_SOURCE_ORDER.format(names=names))
    order = described(problem, scheduler, scop.schedule, plan.schedule.decisions)
    return replace(kept, schedule=order, decisions=(decision, *kept.decisions))


def without_sparse_copies(
    scop: Scop, dependences: Dependences, plan: Plan, bind: Callable[[Schedule], Plan]
) -> Plan:
    """``plan``, or what ``bind`` makes of the order of the source where the other needs far more memory than it uses.

    The factor of a row in a solver for band matrices would be an array as large as the whole matrix.
    """
    sparse = [expansion.array for expansion in plan.expansions if expansion.is_sparse]
    if plan.schedule.by_hand or plan.schedule.scheduler != DEFAULT_SCHEDULER or not sparse:
        return plan
    problem, scheduler = SchedulingProblem(scop, dependences), plan.schedule.scheduler
    kept = bind(outlined(problem, scheduler, scop.schedule))
    if any(expansion.is_sparse for expansion in kept.expansions):
        return plan
    decision = Decision("source-order", MOSTLY_EMPTY.format(names=", ".join(f"`{name}`" for name in sparse)))
    order = described(problem, scheduler, scop.schedule, plan.schedule.decisions)
    return replace(kept, schedule=order, decisions=(decision, *kept.decisions))


def _expands_for_tiles(plan: Plan) -> bool:
    schedule = plan.schedule
    if schedule.by_hand or schedule.scheduler != DEFAULT_SCHEDULER or not plan.expansions:
        return False
    tiled = any(decision.step == "tile" for decision in plan.decisions)
    return tiled and not (plan.register_tiles or plan.block_tiles)


def _shares_as_much(one: Plan, other: Plan) -> bool:
    """Whether threads run the statements in ``one`` that they run in ``other``, from loops as far outside."""
    own, wanted = _shared(one), _shared(other)
    front = any(decision.step == "wavefront" for decision in other.decisions)
    deepest = max(wanted.values(), default=0) + front
    return own.keys() >= wanted.keys() and max(own.values(), default=0) <= deepest


def _shared(plan: Plan) -> dict[str, int]:
    """The statements that threads share, with the number of loops around the shared one."""
    found: dict[str, int] = {}
    for node in walk(plan.tree):
        if kind_of(node) != "mark":
            continue
        if node.mark_get_id().get_name().partition(":")[0] in (PARALLEL, REDUCED, PIPELINE):
            found.update(dict.fromkeys(statements_under(node), int(node.get_schedule_depth())))
    return found


def _strided(scop: Scop, plan: Plan) -> set[tuple[str, str, str]]:
    """The accesses that an innermost loop moves to cells far apart."""
    every = list(bands(plan.tree))
    return {
        (name, motion.access.array, motion.access.text)
        for path, node in every
        if not any(other != path and other[: len(path)] == path for other, _ in every)
        for name in statements_under(node)
        for motion in _innermost_motions(scop, node, name)
        if motion.locality == "strided"
    }


def _innermost_motions(scop: Scop, band: isl.ScheduleNode, name: str) -> list[AccessMotion]:
    statement = scop.statement(name)
    around = statement_rows(band.get_prefix_schedule_multi_union_pw_aff(), statement)
    *outer, last = [*around, *statement_rows(band.band_get_partial_schedule(), statement)]
    rows = [last]
    for row in reversed(outer):
        # The loop of the points moves within a tile: that over the tiles stays put, and tells nothing new.
        if rank([row, *rows]) > len(rows):
            rows.insert(0, row)
    return motions(statement, rows, len(rows) - 1, parts=True) or []
