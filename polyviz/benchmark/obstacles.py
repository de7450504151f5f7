"""What stands between a generated program and the limit of the machine, as far as its plan tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis import parallelism
from polyviz.model.plan import PARALLEL, PIPELINE, REDUCED, VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.runtime.kernel import Kernel


def obstacles(kernel: Kernel) -> tuple[str, ...]:
    """Sentences without a full stop, the weightiest first; none where nothing is known."""
    return tuple(_obstacles(kernel))


def _obstacles(kernel: Kernel) -> Iterator[str]:
    marks = str(kernel.plan.tree)
    if not any(mark in marks for mark in (PARALLEL, PIPELINE, REDUCED)):
        yield f"serial: {_why_serial(kernel)}"
    if VECTOR not in marks and not _names_vectors(kernel):
        yield "no innermost loop can be cut into vectors, so elements go one by one"
    yield from (decision.text for decision in kernel.plan.decisions if decision.step == "fallback")
    yield from (
        decision.text for decision in kernel.schedule.decisions if decision.step in ("limit", "fallback")
    )


def _names_vectors(kernel: Kernel) -> bool:
    """Whether vectors are written out, which loops are not marked for: tiles in registers, sums in lanes, rows."""
    if kernel.plan.register_tiles or kernel.plan.block_tiles:
        return True
    return any(word in kernel.source for word in ("vector_", "_lanes"))


def _why_serial(kernel: Kernel) -> str:
    loops = parallelism(kernel.scop, kernel.dependences, kernel.schedule.tree)
    outer = next((loop for loop in loops if loop.depth == 0 and not loop.parallel), None)
    return "no loop was chosen for the threads" if outer is None else outer.explanation.rstrip(".")
