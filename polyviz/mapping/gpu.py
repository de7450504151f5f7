"""A schedule on a parallel device: kernels, their blocks and threads, and the launches of the host."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.mapping.gpu_boxes import CELL
from polyviz.mapping.gpu_exchange import staged_with_best_x
from polyviz.mapping.gpu_single import single_kernels
from polyviz.mapping.gpu_staging import staged
from polyviz.mapping.gpu_superposed import superposed_kernels
from polyviz.mapping.storage import expand_temporaries
from polyviz.model.device import LARGEST_BLOCK, DeviceKernel, DevicePlan
from polyviz.model.plan import Plan
from polyviz.model.schedule import Decision
from polyviz.model.staging import DeviceOptions
from polyviz.model.words import plural, waiting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from polyviz.model.dependences import Dependences
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Superposition

_OF_STAGING = ("kernel", "promotion")
"""The steps of decisions that follow from how kernels use memory."""
MEASURED = "registers"
"""The step of decisions that follow from what a compiler reports."""
DEVICE_TARGETS = ("cuda", "emulated")
"""The targets that run kernels of blocks and threads."""


def make_device_plan(
    scop: Scop,
    dependences: Dependences,
    schedule: Schedule,
    target: str,
    *,
    tile: Sequence[int] | Literal[False] | None = None,
    wavefronts: bool = True,
    options: DeviceOptions | None = None,
) -> Plan:
    """Bind ``schedule`` to a device: a superposition keeps its own blocks and threads, any other order gets the rules
    of ``gpu_single``, ``wavefronts`` included unless they are switched off. ``options`` say what may be done with
    memory; by default everything.

    Raises OptionError for blocks that no device can hold, and for a superposition whose kernels are not known.
    """
    allowed = options or DeviceOptions()
    if schedule.superposition is None:
        device = single_kernels(
            scop, dependences, schedule, tile, wavefronts=wavefronts, threads=allowed.threads
        )
    elif allowed.threads is None:
        _insist_on_kernels(scop, schedule.superposition)
        _insist_on_own_tiles(tile)
        device = superposed_kernels(scop, schedule.superposition)
    else:
        raise OptionError(
            "The threads of a superposition are its own, not an option of the device.",
            hint="Give the scheduler's option: threads=(32, 8); the same to pv.superpose for one that was typed.",
        )
    for kernel in device.kernels:
        _check_block(kernel)
    storage = expand_temporaries(scop, dependences)
    if not allowed.trees:
        device = replace(device, kernels=tuple(replace(kernel, trees=()) for kernel in device.kernels))
    device = replace(device, options=allowed, plain=device.kernels)
    plan = Plan(
        schedule=schedule,
        target=target,
        tree=schedule.tree,
        expansions=storage.expansions,
        final_values=storage.final_values,
        decisions=(*device.decisions, *storage.decisions),
        device=device,
    )
    return _staged(scop, plan, CELL)


def for_cells(scop: Scop, plan: Plan, cell: int) -> Plan:
    """``plan`` for arrays whose largest cells take ``cell`` bytes: tiles and registers hold more of smaller ones."""
    if plan.device is None or plan.device.cell == cell:
        return plan
    # What was measured of register tiles holds for the cells it was measured with.
    decisions = tuple(one for one in plan.decisions if one.step != MEASURED)
    return _staged(scop, replace(plan, decisions=decisions, device=replace(plan.device, smaller={})), cell)


def with_smaller_tiles(scop: Scop, plan: Plan, reasons: Mapping[int, str]) -> Plan:
    """``plan`` where the kernels with the numbers in ``reasons`` have the next smaller register tiles, and say why.

    The mapping estimates registers; whether they are enough, only the compiler of the device knows.
    """
    assert plan.device is not None
    smaller = {**plan.device.smaller}
    decisions = list(plan.decisions)
    for number, reason in reasons.items():
        smaller[number] = smaller.get(number, 0) + 1
        decisions.append(Decision(MEASURED, reason, plan.device.kernels[number].statements))
    changed = replace(plan, decisions=tuple(decisions), device=replace(plan.device, smaller=smaller))
    return _staged(scop, changed, plan.device.cell)


def _staged(scop: Scop, plan: Plan, cell: int) -> Plan:
    """``plan`` with the kernels that its plain ones become, and the decisions about them."""
    assert plan.device is not None
    private = frozenset(one.array for one in plan.expansions)
    options, smaller = plan.device.options, plan.device.smaller

    def near(kernel: DeviceKernel) -> tuple[DeviceKernel, list[Decision]]:
        return staged(scop, kernel, options, private, cell, smaller.get(kernel.number, 0))

    pairs = [staged_with_best_x(scop, kernel, near) for kernel in plan.device.plain]
    device = replace(plan.device, kernels=tuple(kernel for kernel, _ in pairs), cell=cell)
    promotions = [decision for _, decisions in pairs for decision in decisions]
    first = device.decisions
    others = plan.decisions[len(first) :]
    rest = tuple(one for one in others if one.step not in _OF_STAGING)
    return replace(plan, decisions=(*first, *_decisions(device), *promotions, *rest), device=device)


def _insist_on_kernels(scop: Scop, superposition: Superposition) -> None:
    """A superposition that was typed may say what runs where in a form that no kernels can be made of."""
    placed = {name for kernel in superposition.kernels for name in kernel.statements}
    missing = [statement.name for statement in scop.statements if statement.name not in placed]
    if missing:
        raise OptionError(
            f"This superposition has no kernels for {', '.join(missing)}: "
            f"{superposition.unmapped or 'nobody worked them out'}.",
            hint="Type it in that form; or pass its order alone, `.tree`, which gets blocks and threads by the general "
            "rules; or the scheduler 'superposition', which works out kernels of its own.",
        )


def _insist_on_own_tiles(tile: Sequence[int] | Literal[False] | None) -> None:
    """Sizes that nobody would look at are refused; False is right, since nothing is tiled beyond the blocks."""
    if tile:
        raise OptionError(
            "The tiles of a superposition are its own, and `tile` does not change them.",
            hint=f"Give the scheduler's option: tile_sizes={tuple(tile)!r}.",
        )


def _check_block(kernel: DeviceKernel) -> None:
    if kernel.threads_per_block > LARGEST_BLOCK:
        sizes = " x ".join(str(axis.size) for axis in reversed(kernel.threads))
        raise OptionError(
            f"A block of {sizes} threads is too large: {kernel.threads_per_block} threads, and a block holds at most "
            f"{LARGEST_BLOCK}.",
            hint="Give fewer `threads` or smaller tiles.",
        )


def _decisions(device: DevicePlan) -> list[Decision]:
    return [Decision("kernel", _kernel_text(kernel), kernel.statements) for kernel in device.kernels]


def _kernel_text(kernel: DeviceKernel) -> str:
    blocks = ", ".join(
        f"{axis.axis}: {_rows(axis.texts)} in tiles of {axis.size}" for axis in reversed(kernel.blocks)
    )
    sums = {tree.axis for tree in kernel.trees}
    threads = ", ".join(
        f"{axis.axis}: {axis.size} along {_rows(axis.texts, 'the terms of a sum' if axis.axis in sums else 'nothing')}"
        for axis in reversed(kernel.threads)
    )
    host = f", launched in {plural(len(kernel.host), 'loop')} of the host" if kernel.host else ""
    number = len(kernel.barriers) + len(kernel.runs) + len(kernel.trees)  # copies and shared sums wait as well
    waits = waiting(number)
    return f"kernel {kernel.number}: blocks {blocks or 'one'}; threads {threads or 'one'}; {waits}{host}"


def _rows(texts: object, without: str = "nothing") -> str:
    assert isinstance(texts, dict)
    return " | ".join(dict.fromkeys(texts.values())) or without
