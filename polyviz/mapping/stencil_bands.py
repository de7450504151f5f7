"""Which bands are treated as stencils: tiles of long rows, or chains of dependent iterations side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.analysis import band_properties
from polyviz.analysis.trip_counts import SHORT
from polyviz.mapping.aligned_rows import aligned_rows
from polyviz.mapping.innermost import distribute_innermost
from polyviz.mapping.interleave import (
    chains_apart,
    has_chains_in_strips,
    has_short_dependences,
    is_chain_after,
    leaves_nothing_to_overlap,
    waits_after,
)
from polyviz.mapping.row_blocks import rows_together
from polyviz.mapping.short_loops import are_written_out, has_long_rows, most_values
from polyviz.mapping.tile_sizes import row_height
from polyviz.mapping.time_steps import steps_together
from polyviz.transform.tree import node_at, statements_under

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy as isl

    from polyviz.analysis import BandProperties
    from polyviz.mapping.band_plan import BandPlan
    from polyviz.mapping.tile_sizes import TileSizes
    from polyviz.model.dependences import Dependences
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop

LONG_ROWS = 4
"""Loops of a band from which on rows are taken whole: the arrays of three dimensions have short ones, which no tile of
constant size would fit."""

FEW_LOOPS = 2
"""Loops of a band that has no rows: one over time and one over columns."""


def with_chains_apart(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, *, wanted: bool
) -> tuple[isl.Schedule, tuple[BandProperties, ...]]:
    """``tree``, with chains in bands of their own where that is ``wanted``, and the properties of its bands."""
    properties = band_properties(scop, dependences, tree)
    apart = chains_apart(scop, dependences, tree, properties) if wanted else None
    return (tree, properties) if apart is None else (apart, band_properties(scop, dependences, apart))


def needs_pipeline(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, plan: BandPlan, found: BandProperties
) -> bool:
    """Whether the rows of a stencil in one dimension, or a recurrence, should be tiled for the threads alone, which
    have no other loop.

    Their elements fit in a cache, or are touched once, so that the data would not ask for tiles. Rows that are known to
    be short have nothing to be cut from.
    """
    if not has_long_rows(scop, tree, plan.path):
        return False
    if plan.sizes or len(found.members) < 2 or not found.permutable:
        return False
    if any(member.coincident for member in found.members):
        return False
    if not has_short_dependences(scop, dependences, tree, plan.path):
        return False
    if plan.vector or distribute_innermost(scop, dependences, tree, plan.path) is not None:
        return len(found.members) == 2
    return waits_after(scop, dependences, tree, plan.path, plan.order)


def as_stencil(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    plan: BandPlan,
    tiles: TileSizes,
    vectors: Processor | None,
    *,
    interleave: bool,
) -> BandPlan:
    """``plan``, which tiles along wavefronts, for the rows or the chains of a stencil, where it is one.

    Several rows run together where a processor has ``vectors`` for them, and several chains where they compute.
    """
    if not has_short_dependences(scop, dependences, tree, plan.path):
        return plan
    plan = replace(
        plan, chains=not plan.vector and is_chain_after(scop, dependences, tree, plan.path, plan.order)
    )
    names = statements_under(node_at(tree, plan.path))
    chains = interleave and plan.chains and not leaves_nothing_to_overlap(scop, names)
    rows = not chains and len(plan.order) >= LONG_ROWS
    if vectors is not None and not plan.chains and len(plan.order) == FEW_LOOPS:
        return _along_a_line(scop, dependences, tree, plan, tiles)
    if vectors is not None and not chains:
        together = rows_together(scop, dependences, tree, plan.path, plan.order, vectors)
        plan = replace(plan, row_by_row=together) if isinstance(together, str) else replace(plan, row_block=together)
    if not chains and not rows and not plan.row_block:
        return plan
    own = tiles.of_stencil(plan.order, chains=chains, together=plan.row_block > 0)
    return replace(plan, sizes=own if tiles.given is None else plan.sizes, rows=rows, diagonals=chains)


def in_rows(scop: Scop, tree: isl.Schedule, plan: BandPlan, tiles: TileSizes, *, align: bool) -> BandPlan:
    """``plan`` with its tiles in rows that threads take in turn, where it is for wavefronts.

    There are more rows, and tiles in each, where there are known to be too few: as many steps as the time has at most
    would be one row, for one thread, and threads share nothing else. The second tile loop, along which a row waits for
    the one before, is the first that may have several tiles. With ``align`` arrays are copied where vectors across
    cache lines cost more.
    """
    if not plan.wavefront or plan.concurrent:
        return plan
    band = node_at(tree, plan.path)
    aligned = aligned_rows(scop, statements_under(band)) if align and plan.row_block else None
    plan = replace(plan, pipeline=True, aligned=aligned)
    if tiles.given or plan.updates:
        return plan
    rows = band.band_get_partial_schedule().intersect_domain(band.get_domain())
    lengths = [most_values(rows.get_at(member)) for member in range(len(plan.order))]
    sizes, (first, *others) = list(plan.sizes), plan.tile_order
    height = tiles.height
    if height is None and lengths[first] <= SHORT:
        height = row_height(int(lengths[first]), tiles.threads, sizes[first])
    if height is not None:
        together = 1 if plan.steps is None else plan.steps.count
        sizes[first] = min(sizes[first], -(-height // together) * together)
    others.sort(key=lambda member: lengths[member] <= sizes[member])
    return replace(plan, sizes=tuple(sizes), tile_order=(first, *others))


def _along_a_line(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, plan: BandPlan, tiles: TileSizes
) -> BandPlan:
    """``plan`` with steps of the time together, in tiles of some more of them."""
    steps = steps_together(scop, dependences, tree, plan.path, plan.order, parallel=plan.vector)
    if isinstance(steps, str):
        return replace(plan, row_by_row=steps)
    sizes = plan.sizes if tiles.given is not None else tiles.of_line(plan.order)
    return replace(plan, sizes=sizes, steps=steps)


def with_strips(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    properties: Sequence[BandProperties],
    plans: Sequence[BandPlan],
) -> list[BandPlan]:
    """``plans`` with strips where the loops inside a parallel one are chains, beside vector loops perhaps."""
    result = []
    for plan, found in zip(plans, properties, strict=True):
        inside = [
            other for other in plans if other.path != plan.path and other.path[: len(plan.path)] == plan.path
        ]
        plain = plan.is_plain and found.members[plan.order[-1]].coincident
        serial = all(other.is_plain and other.parallel is None for other in inside)
        paths = [other.path for other in inside if not other.vector]
        apart = not any(other.vector and other.path[: len(path)] == path for other in inside for path in paths)
        chains = paths and plain and serial and apart
        strips = (
            bool(chains)
            and not are_written_out(scop, tree, plan.path)
            and has_chains_in_strips(scop, dependences, tree, plan.path, plan.order, paths)
        )
        result.append(replace(plan, strips=strips))
    return result
