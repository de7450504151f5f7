"""A schedule of an inspector run in the emulator, verified, for what its kernels count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.api.building import build_kernel
from polyviz.api.remembered import AtHand
from polyviz.codegen.calling import handed_back, written_arrays
from polyviz.errors import OptionError, VerificationError
from polyviz.runtime.agreement import compare_values
from polyviz.runtime.host_copies import bind_on_host
from polyviz.runtime.race import Race
from polyviz.runtime.variants import Baseline

if TYPE_CHECKING:
    from polyviz.api.inspecting import Inspector
    from polyviz.model.device_view import DeviceView
    from polyviz.model.schedule import Schedule
    from polyviz.runtime.worker import Worker

EMULATED = "emulated"
"""The target whose kernels are shown and counted: those of a device, without asking for one."""
TIME_LIMIT = 600.0
"""Seconds for one emulated run; whoever does not want to wait cancels it."""


def emulated_view(inspector: Inspector, schedule: Schedule, worker: Worker) -> DeviceView:
    """The kernels of ``schedule`` with what a run of them on copies of the arguments counted, in ``worker``.

    Raises OptionError without arguments, EmulationError for what would go wrong on a device, VerificationError for a
    result that is not that of the loops as written, and what ``Worker.run`` raises.
    """
    if not inspector.arguments:
        raise OptionError(
            "There is nothing to run on.", hint="Give `inspect` the arguments of the function too."
        )
    scop = inspector.scop
    bound, _ = bind_on_host(scop, None, inspector.arguments)
    kernel = build_kernel(
        scop,
        inspector.dependences,
        scop,
        schedule=schedule,
        target=EMULATED,
        namespace=inspector.namespace,
        at_hand=AtHand.of(bound),
    )
    program = kernel.program_for(bound)
    race = Race(bound.given, bound.parameters, written_arrays(scop), handed_back(scop), 1, TIME_LIMIT)
    expected = race.expected(worker, Baseline(kernel.original, "numba"), [])
    outcome = race.run_once(worker, program, "The emulated run")
    agreement = compare_values(expected, race.outputs(outcome), bound.given.values())
    if not agreement.agrees:
        raise VerificationError(
            "The emulated kernels do not compute what the loops do.", reason=agreement.sentence
        )
    return kernel.view_of(program, outcome.emulation, verified=True)
