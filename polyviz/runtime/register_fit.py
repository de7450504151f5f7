"""Whether the register tiles of a program fit into the registers of the device at hand, as its compiler reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.runtime.cuda import cuda_availability
from polyviz.runtime.device_code import architecture_here, compiled

if TYPE_CHECKING:
    from polyviz.model.device import DeviceKernel
    from polyviz.model.plan import Plan
    from polyviz.model.program import Program
    from polyviz.model.staging import StagedRun


def spilled_tiles(plan: Plan, program: Program) -> dict[int, str]:
    """The kernels of ``plan`` whose threads have more cells than registers for them, by number, each with a sentence.

    None where the user has chosen the cells of a thread, or where there is no device. Raises as ``compile_text``.
    """
    assert plan.device is not None
    assert program.device is not None
    wide = {kernel.number for kernel in plan.device.kernels if any(map(_is_wide, kernel.runs))}
    if not wide or plan.device.options.elements is not None or not cuda_availability()[0]:
        return {}
    architecture = architecture_here()
    reported = {one.name: one for one in compiled(program, architecture).kernels}
    found = {}
    for kernel, text in zip(plan.device.kernels, program.device.kernels, strict=True):
        needs = reported.get(text.name)
        spilled = 0 if needs is None else needs.spill_stores + needs.spill_loads
        if needs is not None and spilled and kernel.number in wide:
            found[kernel.number] = (
                f"{_cells(kernel)} cells per thread were too many: {needs.registers} registers do not hold them on "
                f"{architecture}, and {spilled} bytes would move to and from memory; the next smaller tile is used"
            )
    return found


def _is_wide(run: StagedRun) -> bool:
    return any(size > 1 for _, size in run.elements)


def _cells(kernel: DeviceKernel) -> str:
    """How many cells a thread has along each axis, outermost first."""
    run = next(filter(_is_wide, kernel.runs))
    return " x ".join(str(size) for _, size in run.elements)
