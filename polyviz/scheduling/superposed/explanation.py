"""What a superposition decided, as sentences."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from polyviz.model.schedule import Decision
from polyviz.scheduling.superposed.kernels import MOST_THREADS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from polyviz.model.dependences import Dependences
    from polyviz.model.superposition import Barrier, LineCost, SuperposedKernel, Superposition


def privatization_decisions(dependences: Dependences) -> Iterator[Decision]:
    """The scalars that are expanded, without which they would tie all iterations together."""
    for found in dependences.privatizations:
        loops = "outermost loop" if found.depth == 1 else f"{found.depth} outermost loops"
        text = (
            f"{found.array} is expanded: each iteration of its {loops} gets a copy, since a single one would put all "
            f"iterations in order. {found.reason}"
        )
        yield Decision("expansion", text)


def cost_decisions(costs: Iterable[LineCost]) -> Iterator[Decision]:
    """The distinct lines of each statement and what its loops save."""
    for cost in costs:
        ranked = sorted(cost.derivatives.items(), key=lambda item: item[1])
        savings = ", ".join(f"{name} {float(value):.3e}" for name, value in ranked)
        text = (
            f"{cost.statement} touches {float(cost.lines):.6g} lines in a tile of {cost.tile} iterations per loop, "
            f"{float(cost.memory_cost):.3e} per iteration"
        )
        text += f"; derivatives, best first: {savings}" if savings else ""
        text += f"; accesses coalesce along {cost.coalescing}" if cost.coalescing else ""
        details = {"lines": cost.lines, "derivatives": dict(cost.derivatives)}
        yield Decision("cost", f"{text}.", (cost.statement,), details)


def kernel_decisions(superposition: Superposition) -> Iterator[Decision]:
    """The kernels with their phases and barriers, the result in the notation of the article, and the check."""
    for kernel in superposition.kernels:
        yield Decision("kernel", _kernel_text(kernel), kernel.statements)
        for barrier in kernel.barriers:
            yield Decision("barrier", _barrier_text(kernel, barrier), kernel.statements)
    for name in superposition.outer:
        yield Decision("superposition", superposition.notation_of(name), (name,))
    yield Decision("legality", "; ".join(map(str, superposition.legality.conditions)) + ".")


def _kernel_text(kernel: SuperposedKernel) -> str:
    grid = ", ".join(f"{loop} in tiles of {kernel.tiles[loop.axis]}" for loop in kernel.blocks.loops)
    threads = " x ".join(str(count) for count in kernel.threads.values())
    text = f"kernel {kernel.number}: {f'blocks {grid}' if grid else 'a single block'}"
    text += f", {threads} threads" if threads else ", one thread"
    host = ", ".join(" | ".join(dict.fromkeys(rows.values())) for rows in kernel.blocks.under)
    text += f", launched in the host loop {host}" if host else ""
    text += "; phases " + ", then ".join(map(str, kernel.phases))
    size = prod(kernel.threads.values())
    if size > MOST_THREADS:
        text += f"; {size} threads are more than the {MOST_THREADS} that a block can hold"
    return f"{text}."


def _barrier_text(kernel: SuperposedKernel, barrier: Barrier) -> str:
    place = "before the next iteration goes from" if barrier.wraps else "between"
    joint = "to" if barrier.wraps else "and"
    where = f"kernel {kernel.number}, {place} phase {barrier.before} {joint} phase {barrier.after}"
    if barrier.protects is None:
        return f"{where}: no barrier, as no thread needs what another one did."
    return f"{where}: a barrier, since {barrier.protects.explanation}."
