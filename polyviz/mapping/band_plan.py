"""What happens to one band on a processor, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.aligned_rows import aligned_rows_decision
from polyviz.mapping.array_sums import explain
from polyviz.mapping.interleave import interleave_decision
from polyviz.mapping.row_blocks import no_row_block_decision, row_block_decision
from polyviz.mapping.short_loops import values_of
from polyviz.mapping.thread_copies import copies_decision
from polyviz.mapping.time_steps import time_steps_decision
from polyviz.mapping.work import region_extents, rows_of, tile_row_extents
from polyviz.model.plan import PARALLEL, PIPELINE, REDUCED, ParallelWork, TileRows
from polyviz.model.schedule import Decision
from polyviz.transform.tree import Path, node_at, statements_under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.mapping.block_tiles import Update
    from polyviz.model.plan import AlignedRows, ArraySum, RegisterTile, TimeSteps
    from polyviz.model.scop import Scop


CHAIN_STEP = 4
"""The instances in vector lanes that one step of a chain takes as long as."""


@dataclass(frozen=True, slots=True)
class BandPlan:
    """What happens to one band. ``order`` is the new order of its point loops, ``parallel`` a position in it (or in
    the tile band), ``vector`` tells that its innermost loop may use vector instructions, ``separable`` that each
    statement may get an innermost loop of its own, ``concurrent`` that the first two rows add up to a time. A tile of
    ``rows`` is long in its vector loop, whose ends may be cut off. Chains run side by side in ``strips`` of the
    innermost loop, or along ``diagonals`` of the two innermost; ``chains``: the innermost loop of tiles waits for its
    own values, side by side or not; ``for_threads``: there are tiles only for the sake of threads. ``row_block`` rows
    run in one vector loop, or ``row_by_row`` says why there are none; ``steps`` of the time may run together, too.
    Along a ``wavefront`` threads run front by front, or in a ``pipeline``; ``collapse``: they share the first two loops
    as one. Threads that share the loop work on ``copies`` of arrays of their own; all of them work on copies with
    ``aligned`` rows."""

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
    sums: tuple[ArraySum, ...] = ()
    rows: bool = False
    strips: bool = False
    diagonals: bool = False
    chains: bool = False
    for_threads: bool = False
    row_block: int = 0
    row_by_row: str = ""
    steps: TimeSteps | None = None
    pipeline: bool = False
    collapse: bool = False
    copies: tuple[str, ...] = ()
    aligned: AlignedRows | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the loops of the band stay as they are."""
        return not (self.sizes or self.concurrent or self.block or self.updates)

    @property
    def collapses(self) -> bool:
        """Whether threads share the first two loops as one; not where something else was made of the band since."""
        changed = self.strips or self.diagonals or self.sums or self.row_block
        changed = changed or (self.vector and len(self.order) == 2)
        return self.collapse and self.is_plain and self.parallel == 0 and not changed

    @property
    def is_skewed(self) -> bool:
        """Whether the first tile loop counts fronts."""
        return self.wavefront and not self.pipeline


def shared_work(scop: Scop, tree: isl.Schedule, plans: Sequence[BandPlan]) -> tuple[ParallelWork, ...]:
    """The work of each parallel loop; a wavefront, and the members before the loop, are serial around it.

    Of a pipeline it is that of a row of tiles, all of which has to be run by one thread; a step of a chain counts as
    several, since it takes as long as they do in vector lanes.
    """
    found = []
    for number, plan in enumerate(plans):
        if plan.parallel is None:
            continue
        band = node_at(tree, plan.path)
        rows = band.band_get_partial_schedule()
        serial = [rows.get_at(member) for member in plan.tile_order[: plan.parallel]]
        outer = [*rows_of(band.get_prefix_schedule_multi_union_pw_aff()), *serial]
        names = statements_under(band)
        extents = (
            tile_row_extents(scop, names, outer, plan.sizes[plan.tile_order[0]])
            if plan.pipeline
            else region_extents(scop, names, outer, computes=not plan.sums)
        )
        if plan.pipeline and plan.chains:
            extents = (*extents, extents[0].scale_val(isl.Val(0)).add_constant_val(isl.Val(CHAIN_STEP)))
        tile_rows = _tile_rows(band, plan) if plan.pipeline else None
        found.append(ParallelWork(mark_of(plan, number), extents, plan.copies, plan.aligned, tile_rows))
    return tuple(found)


def _tile_rows(band: isl.ScheduleNode, plan: BandPlan) -> TileRows:
    first = plan.tile_order[0]
    rows = band.band_get_partial_schedule().intersect_domain(band.get_domain())
    return TileRows(values_of(rows.get_at(first)), plan.sizes[first])


def mark_of(plan: BandPlan, number: int) -> str:
    """The mark of the loop that threads share in the ``number``-th band."""
    kind = REDUCED if plan.sums else PIPELINE if plan.pipeline else PARALLEL
    return f"{kind}:{number}"


def explain_band(plan: BandPlan, statements: tuple[str, ...]) -> list[Decision]:
    """What is said of ``plan``, whose band holds ``statements``."""
    decisions = []
    if plan.order != tuple(range(len(plan.order))):
        text = f"member {plan.order[-1]} of the band goes innermost, where its accesses move least"
        decisions.append(Decision("reorder", text, statements))
    if plan.sizes:
        sizes = " x ".join(map(str, plan.sizes))
        shape = ": rows of a stencil, few and long" if plan.rows else ""
        aim = "for threads to share" if plan.for_threads else "to reuse data while it is in cache"
        text = f"the band is tiled by {sizes}, {aim}{shape}"
        decisions.append(Decision("tile", text, statements, {"sizes": plan.sizes}))
    if plan.wavefront or plan.concurrent:
        decisions.append(Decision("wavefront", _front_text(plan), statements))
    if plan.strips or plan.diagonals:
        decisions.append(interleave_decision(statements, diagonals=plan.diagonals))
    decisions.extend(_rows_together(plan, statements))
    if plan.sums:
        decisions.append(explain(plan.sums, statements))
    elif plan.copies:
        decisions.append(copies_decision(plan.copies, statements))
    elif plan.parallel is not None and not plan.pipeline and not (plan.block and plan.block.team):
        kind = "tile loop" if plan.sizes else "loop"
        text = f"{kind} {plan.parallel} of the band runs on all threads"
        if plan.collapses:
            text += ", together with the loop inside it if that is equally long for all, since the first may be short"
        decisions.append(Decision("parallel", text, statements))
    return decisions


def _rows_together(plan: BandPlan, statements: tuple[str, ...]) -> list[Decision]:
    """What is said of rows, or of steps over time, that run in one vector loop."""
    if plan.steps is not None:
        return [time_steps_decision(plan.steps)]
    if plan.row_block:
        said = [] if plan.aligned is None else [aligned_rows_decision(plan.aligned, statements)]
        return [row_block_decision(statements, plan.row_block), *said]
    return [no_row_block_decision(statements, plan.row_by_row)] if plan.row_by_row else []


def _front_text(plan: BandPlan) -> str:
    if plan.pipeline:
        return (
            "no tile loop is parallel, so threads take rows of tiles in turn: a tile starts once those before it, in "
            "its row and in the row before, are done"
        )
    if not plan.concurrent:
        return "no tile loop is parallel, so tiles run along wavefronts: the first tile loop is skewed by the second"
    if not plan.sizes:
        return "the first loop is the sum of the first two, the time: the loops inside it are parallel"
    return (
        "all tiles on a front can start at once: the first tile loop is the sum of the first two, and so is the first "
        "loop inside a tile, the time"
    )
