"""What happens to one band on a processor, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.mapping.interleave import interleave_decision
from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from polyviz.mapping.block_tiles import Update
    from polyviz.model.plan import RegisterTile
    from polyviz.transform.tree import Path


@dataclass(frozen=True, slots=True)
class BandPlan:
    """What happens to one band. ``order`` is the new order of its point loops, ``parallel`` a position in it (or in
    the tile band), ``vector`` tells that its innermost loop may use vector instructions, ``separable`` that each
    statement may get an innermost loop of its own, ``concurrent`` that the first two rows add up to a time. A tile of
    ``rows`` is long in its vector loop, whose ends may be cut off. Chains run side by side in ``strips`` of the
    innermost loop, or along ``diagonals`` of the two innermost."""

    path: Path
    order: tuple[int, ...]
    tile_order: tuple[int, ...]
    sizes: tuple[int, ...]
    parallel: int | None
    wavefront: bool
    vector: bool
    separable: bool
    serial_members: int
    concurrent: bool = False
    block: RegisterTile | None = None
    updates: tuple[Update, ...] = ()
    rows: bool = False
    strips: bool = False
    diagonals: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the loops of the band stay as they are."""
        return not (self.sizes or self.concurrent or self.block or self.updates)


def explain(plan: BandPlan, statements: tuple[str, ...]) -> list[Decision]:
    """What is said of ``plan``, whose band holds ``statements``."""
    decisions = []
    if plan.order != tuple(range(len(plan.order))):
        text = f"member {plan.order[-1]} of the band goes innermost, where its accesses move least"
        decisions.append(Decision("reorder", text, statements))
    if plan.sizes:
        sizes = " x ".join(map(str, plan.sizes))
        shape = ": rows of a stencil, few and long" if plan.rows else ""
        text = f"the band is tiled by {sizes}, to reuse data while it is in cache{shape}"
        decisions.append(Decision("tile", text, statements))
    if plan.wavefront or plan.concurrent:
        decisions.append(Decision("wavefront", _front_text(plan), statements))
    if plan.strips or plan.diagonals:
        decisions.append(interleave_decision(statements, diagonals=plan.diagonals))
    if plan.parallel is not None:
        kind = "tile loop" if plan.sizes else "loop"
        decisions.append(
            Decision("parallel", f"{kind} {plan.parallel} of the band runs on all threads", statements)
        )
    return decisions


def _front_text(plan: BandPlan) -> str:
    if not plan.concurrent:
        return "no tile loop is parallel, so tiles run along wavefronts: the first tile loop is skewed by the second"
    if not plan.sizes:
        return "the first loop is the sum of the first two, the time: the loops inside it are parallel"
    return (
        "all tiles on a front can start at once: the first tile loop is the sum of the first two, and so is the first "
        "loop inside a tile, the time"
    )
