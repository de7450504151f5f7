"""Which row of threads goes along x: the one along which cells are written side by side, since reads can be staged.

What a block reads across rows comes to shared memory in copies along rows; what it writes goes to global memory as the
threads stand. Threads of a block have no order among each other between two barriers, so that x and y can be exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_boxes import NoBoxError, active_lanes, per_request, strides_of
from polyviz.mapping.gpu_runs import NoRunError, find_run
from polyviz.mapping.gpu_space import context_of, grid_of, points_of
from polyviz.model.isl_limits import at_most
from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.model.device import DeviceKernel, SpaceAxis
    from polyviz.model.scop import Access, Scop
    from polyviz.model.superposition import Axis

_OTHER: Mapping[Axis, Axis] = {"x": "y", "y": "x"}
_COALESCED = 4
"""Transactions of one request for neighbouring cells, at most: those of 16 bytes."""
_OPERATIONS = 200_000
"""What isl may spend on the requests of one kernel."""


@dataclass(frozen=True, slots=True)
class Request:
    """The transactions that a warp needs for one request of ``access``, from ``statement``."""

    statement: str
    access: Access
    transactions: int

    @property
    def is_write(self) -> bool:
        """Whether it writes."""
        return self.access.kind == "write"


def staged_with_best_x(
    scop: Scop, kernel: DeviceKernel, staged: Callable[[DeviceKernel], tuple[DeviceKernel, list[Decision]]]
) -> tuple[DeviceKernel, list[Decision]]:
    """``kernel`` as ``staged`` makes it, with x and y exchanged where that writes in fewer transactions.

    Nothing else may get dearer: what is read in more transactions then has to be staged.
    """
    before = _requests(scop, kernel)
    exchanged = _exchanged(scop, kernel) if any(map(_is_strided, before)) else None
    if exchanged is None:
        return staged(kernel)
    after = _requests(scop, exchanged)
    if len(after) != len(before) or not _writes_gain(before, after):
        return staged(kernel)
    found, decisions = staged(exchanged)
    dearer = _dearer(found, before, after)
    if not dearer:
        return found, [_decision(kernel, before, after), *decisions]
    kept, decisions = staged(kernel)
    text = (
        "threads along x and y stay as they are: neighbours along x would write neighbouring cells, but read "
        f"{', '.join(dearer)} across rows, where no tile serves them"
    )
    return kept, [Decision("promotion", text, kernel.statements), *decisions]


def _is_strided(request: Request) -> bool:
    """Whether it is written in more transactions than a warp's bytes need."""
    return request.is_write and request.transactions > _COALESCED


def _dearer(kernel: DeviceKernel, before: Sequence[Request], after: Sequence[Request]) -> list[str]:
    """The arrays that ``kernel``, exchanged and staged, reads in more transactions than before."""
    found = [
        new.access.array
        for old, new in zip(before, after, strict=True)
        if new.transactions > old.transactions and not _is_staged(kernel, new)
    ]
    return list(dict.fromkeys(found))


def _exchanged(scop: Scop, kernel: DeviceKernel) -> DeviceKernel | None:
    """``kernel`` with the rows of x and y exchanged; None where they are not alike, or threads share accumulations."""
    sizes = {axis.axis: axis.size for axis in kernel.threads}
    if kernel.trees or "y" not in sizes or sizes["x"] != sizes["y"]:
        return None
    blocks = _turned(kernel.blocks) if _are_alike(kernel) else kernel.blocks
    threads = _turned(kernel.threads)
    points = points_of(blocks, threads)
    return replace(
        kernel,
        blocks=blocks,
        threads=threads,
        points=points,
        context=context_of(scop, kernel.instances, blocks, threads, points),
        grid=grid_of(kernel.instances, blocks),
    )


def _are_alike(kernel: DeviceKernel) -> bool:
    """Whether blocks move along x and y as threads do."""
    rows = {axis.axis: axis.texts for axis in kernel.threads}
    return {axis.axis for axis in kernel.blocks} == {"x", "y"} and all(
        rows[axis.axis] == axis.texts for axis in kernel.blocks
    )


def _turned(axes: Sequence[SpaceAxis]) -> tuple[SpaceAxis, ...]:
    """``axes`` with the names of x and y exchanged, outermost first."""
    turned = [replace(axis, axis=_OTHER.get(axis.axis, axis.axis)) for axis in axes]
    return tuple(sorted(turned, key=lambda axis: axis.axis, reverse=True))


def _requests(scop: Scop, kernel: DeviceKernel) -> list[Request]:
    """All accesses of the kernel with what they cost; none where one of them is not known."""
    try:
        with at_most(_OPERATIONS):
            return [
                Request(name, access, _transactions(kernel, name, access))
                for name in kernel.statements
                for access in scop.statement(name).accesses
                if access.relation.dim(isl.dim_type.out)
            ]
    except (NoRunError, NoBoxError, isl.Error):
        return []


def _transactions(kernel: DeviceKernel, name: str, access: Access) -> int:
    run = find_run(kernel, name)
    return per_request(strides_of(run, name, access), active_lanes(run, name))


def _writes_gain(before: Sequence[Request], after: Sequence[Request]) -> bool:
    pairs = [pair for pair in zip(before, after, strict=True) if pair[0].is_write]
    never_worse = all(new.transactions <= old.transactions for old, new in pairs)
    return never_worse and any(new.transactions < old.transactions for old, new in pairs)


def _is_staged(kernel: DeviceKernel, request: Request) -> bool:
    """Whether a tile of shared memory serves the request."""
    access = request.access
    return any(
        access.span in box.spans and access.array == box.array
        for run in kernel.runs
        if request.statement in run.statements
        for box in run.boxes
    )


def _decision(kernel: DeviceKernel, before: Sequence[Request], after: Sequence[Request]) -> Decision:
    old, new = next(
        (old, new)
        for old, new in zip(before, after, strict=True)
        if old.is_write and new.transactions < old.transactions
    )
    text = (
        f"threads along x and y are exchanged: neighbours along x then write neighbouring cells of {old.access.array} "
        f"({new.transactions} transactions per request, not {old.transactions})"
    )
    return Decision("promotion", text, kernel.statements)
