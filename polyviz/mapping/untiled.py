"""The way out where the loops of tiles are too complicated to be written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.mapping.gpu import make_device_plan
from polyviz.mapping.targets import make_plan
from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


def without_tiles(scop: Scop, dependences: Dependences, plan: Plan) -> Plan | None:
    """The plan of the same schedule without tiles, which says so; None where ``plan`` has none already.

    On a device it is wavefronts that go.
    """
    if plan.device is not None:
        return _without_wavefronts(scop, dependences, plan)
    if not any(decision.step == "tile" for decision in plan.decisions):
        return None
    untiled = make_plan(scop, dependences, plan.schedule, plan.target, tile=False, threads=plan.threads)
    text = "the loops run without tiles, in the same order: isl would need too long to write the loops of the tiles"
    return replace(untiled, decisions=(*untiled.decisions, Decision("fallback", text)))


def _without_wavefronts(scop: Scop, dependences: Dependences, plan: Plan) -> Plan | None:
    if not any(decision.step == "wavefront" for decision in plan.decisions):
        return None
    serial = make_device_plan(scop, dependences, plan.schedule, plan.target, wavefronts=False)
    text = "bands without a parallel loop run in one thread: isl would need too long to write the loops of a wavefront"
    return replace(serial, decisions=(*serial.decisions, Decision("fallback", text)))
