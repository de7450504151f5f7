"""What there is to see of a kernel for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.mapping.thread_pictures import level_trees, place_rules, thread_pictures
from polyviz.model.device_view import DeviceView
from polyviz.runtime.device_notes import emulated_run

if TYPE_CHECKING:
    from polyviz.model.kernel_card import KernelCard
    from polyviz.model.plan import Plan
    from polyviz.model.program import Program
    from polyviz.model.scop import Scop
    from polyviz.runtime.emulator import EmulationReport


def device_view(
    scop: Scop,
    plan: Plan,
    program: Program,
    cards: tuple[KernelCard, ...],
    report: EmulationReport | None,
    *,
    verified: bool | None,
) -> DeviceView:
    """``cards`` of ``program``, made by ``plan``, with who runs which iteration and what an emulated run counted."""
    assert plan.device is not None
    assert program.device is not None
    trees = program.floating_point == "reassociate"
    return DeviceView(
        scop.name,
        plan.schedule.scheduler,
        plan.target,
        cards,
        thread_pictures(scop, plan.device, trees=trees),
        level_trees(plan),
        places=place_rules(plan.device, trees=trees),
        run=None if report is None else emulated_run(program.device, report, verified=verified),
    )
