"""The way out where the loops of tiles are too complicated to be written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.mapping.gpu import make_device_plan
from polyviz.mapping.targets import make_plan
from polyviz.model.plan import PARALLEL, REDUCED
from polyviz.model.schedule import Decision
from polyviz.scheduling.described import described
from polyviz.scheduling.problem import SchedulingProblem
from polyviz.transform.tree import kind_of, walk

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop


def without_tiles(
    scop: Scop, dependences: Dependences, plan: Plan, contract: FloatingPoint = "reassociate"
) -> Plan | None:
    """The plan of the same schedule without tiles, which says so; None where ``plan`` has none already.

    An order that was skewed for the sake of tiles is of no use without them: where it leaves nothing to threads and
    the order of the source does, the loops run in that one. On a device it is wavefronts that go.
    """
    if plan.device is not None:
        return _without_wavefronts(scop, dependences, plan)
    if not any(decision.step == "tile" for decision in plan.decisions):
        return None
    text = "the loops run without tiles, in the same order: isl would need too long to write the loops of the tiles"
    untiled = _untiled(scop, dependences, plan, plan.schedule, contract)
    if not (plan.schedule.by_hand or _has_threads(untiled)):
        as_written = _untiled(scop, dependences, plan, _as_written(scop, dependences, plan), contract)
        if _has_threads(as_written):
            untiled = as_written
            text = (
                "the loops run without tiles, in the order of the source: isl would need too long to write the loops "
                "of the tiles, and without them the schedule found leaves nothing to threads"
            )
    return replace(untiled, decisions=(*untiled.decisions, Decision("fallback", text)))


def in_source_order(
    scop: Scop, dependences: Dependences, plan: Plan, contract: FloatingPoint = "reassociate"
) -> Plan | None:
    """A plan without tiles for the order of the source, which says so: for where isl cannot write the loops of another.

    None where ``plan`` is for that order, for one that was written by hand, or for a device.
    """
    if plan.device is not None or plan.schedule.by_hand:
        return None
    if plan.schedule.tree.get_map().is_equal(scop.schedule.get_map()):
        return None
    text = "the loops run in the order of the source: isl would need too long to write those of the schedule found"
    untiled = _untiled(scop, dependences, plan, _as_written(scop, dependences, plan), contract)
    return replace(untiled, decisions=(*untiled.decisions, Decision("fallback", text)))


def _as_written(scop: Scop, dependences: Dependences, plan: Plan) -> Schedule:
    problem = SchedulingProblem(scop, dependences)
    return described(problem, plan.schedule.scheduler, scop.schedule, plan.schedule.decisions)


def _untiled(
    scop: Scop, dependences: Dependences, plan: Plan, schedule: Schedule, contract: FloatingPoint
) -> Plan:
    return make_plan(
        scop,
        dependences,
        schedule,
        plan.target,
        tile=False,
        processor=plan.vectors,
        threads=plan.threads,
        contract=contract,
        simd=not plan.scalar,
    )


def _has_threads(plan: Plan) -> bool:
    """Whether threads share a loop."""
    marks = (node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark")
    return any(mark.partition(":")[0] in (PARALLEL, REDUCED) for mark in marks)


def _without_wavefronts(scop: Scop, dependences: Dependences, plan: Plan) -> Plan | None:
    if not any(decision.step == "wavefront" for decision in plan.decisions):
        return None
    serial = make_device_plan(scop, dependences, plan.schedule, plan.target, wavefronts=False)
    text = "bands without a parallel loop run in one thread: isl would need too long to write the loops of a wavefront"
    return replace(serial, decisions=(*serial.decisions, Decision("fallback", text)))
