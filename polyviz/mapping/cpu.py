"""A schedule on a processor with caches, threads and vector units.

Per band: the loop with the best strides goes innermost, bands with reuse to gain are tiled, the outermost parallel
loop (or tile, or wavefront of tiles) is shared between threads. Everything follows from properties that the analysis
proved for the band: permutable bands may be reordered and tiled, coincident members stay parallel when they are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.mapping.as_scheduled import as_scheduled
from polyviz.mapping.band_choice import plan_band
from polyviz.mapping.band_plan import BandPlan, explain_band, mark_of, shared_work
from polyviz.mapping.chain_strips import apply_strips
from polyviz.mapping.for_c import (
    LoopForms,
    left_to_the_compiler,
    rows_side_by_side,
    with_shorter_sums,
    with_vector_loops,
)
from polyviz.mapping.full_tiles import find_full_tiles
from polyviz.mapping.held_tiles import hold_tiles
from polyviz.mapping.innermost import (
    distribute_innermost,
    is_concurrent,
    is_mixed,
    is_parallel_innermost,
    mark_loop,
    mark_vector,
)
from polyviz.mapping.interleave import interleave_diagonals, with_diagonals
from polyviz.mapping.locality import band_locality
from polyviz.mapping.marked import Mapped, keep_marks
from polyviz.mapping.memory import MemoryRules
from polyviz.mapping.once_more import OnceMore, compute_once_more
from polyviz.mapping.outer_vectors import choose_outer_vectors
from polyviz.mapping.registers import (
    Registers,
    choose_register_tiles,
    prepared,
    shaped,
    tiles_of_updates,
    with_registers,
)
from polyviz.mapping.row_blocks import block_rows
from polyviz.mapping.short_loops import has_long_rows, is_short_member
from polyviz.mapping.stencil_bands import as_stencil, in_rows, needs_pipeline, with_chains_apart, with_strips
from polyviz.mapping.storage import place_temporaries
from polyviz.mapping.strips import marks_of_shares
from polyviz.mapping.swept_whole import with_short_lines_whole
from polyviz.mapping.tile_sizes import Tile, TileSizes
from polyviz.model.plan import COLLAPSED, POINTS, WAITING, FullTiles, Plan
from polyviz.transform.interchange import permute_members
from polyviz.transform.tile import split_into_tiles
from polyviz.transform.tree import Path, bands, insert_mark, node_at, split_band, statements_under
from polyviz.transform.wavefront import with_diagonal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy as isl

    from polyviz.model.dependences import Dependences
    from polyviz.model.processor import Processor
    from polyviz.model.program import FloatingPoint
    from polyviz.model.schedule import Decision, Schedule
    from polyviz.model.scop import Scop

COMPILED = ("c", "numba")
"""Targets whose text a compiler makes fast; plain Python is for reading."""
SOURCE_ORDER = "original"
"""The scheduler whose order is kept to the letter: no tiles, no threads; it is what others are measured against."""


def make_plan(
    scop: Scop,
    dependences: Dependences,
    schedule: Schedule,
    target: str,
    *,
    tile: Tile = None,
    processor: Processor | None = None,
    contract: FloatingPoint = "reassociate",
    register_tile: bool | tuple[int, int] = True,
    pack: bool = True,
    even_blocks: bool = True,
    fuse_passes: bool = True,
    strips: bool = True,
    array_sums: bool = True,
    accumulate: bool = True,
    interleave: bool = True,
    lift: bool = True,
    outer_vectors: bool = True,
    periodic: bool = True,
    select: bool = True,
    versions: bool = True,
    factor: bool = True,
    reciprocal: bool = True,
    late: bool = True,
    once_more: bool = True,
    rows_ahead: bool = True,
    row_blocks: bool = True,
    panels: bool = True,
    jam: bool = True,
    pipeline: bool = True,
    collapse: bool = True,
    align: bool = True,
    height: int | None = None,
) -> Plan:
    """Bind ``schedule`` to a processor target.

    ``tile`` gives the tile sizes of every tiled band (the last one repeats), None chooses, False switches tiling off
    (plain Python, which is for reading, then has the order of the schedule).
    Register tiles need a ``processor`` with vector registers and a target whose compiler uses them (``c``, ``numba``);
    ``register_tile`` switches them off or gives their rows and vector registers per row, ``pack`` the copies of their
    operands, ``even_blocks`` that their blocks are about equal (``c`` only); ``interleave`` switches off that several
    iterations of a parallel loop run side by side, ``row_blocks`` that rows of a stencil, or steps over time, do,
    ``pipeline`` that tiles wait only for those they need, ``collapse`` that threads share two loops as one, ``align``
    copies whose rows begin on cache lines, ``outer_vectors`` vector lanes around short loops, ``periodic`` that
    innermost loops take remainders, and decide, at their ends only, ``select`` that vector loops choose instead of
    branching, ``versions`` that subscripts are tested at loops' ends, ``factor`` that common factors are taken out of
    sums where ``contract`` lets these be reordered, ``reciprocal`` that quotients by numbers become products, ``late``
    that terms which wait for an iteration before come last, ``rows_ahead`` that rows are asked for early (all in ``c``
    only), ``once_more`` that final values of temporaries are computed apart; ``height`` is that of rows of tiles, where
    calls have few steps over time. The rest is for loops that wait for memory (``MemoryRules``).
    Raises OptionError for sizes that are not positive.
    """
    if tile and any(size < 1 for size in tile):
        raise OptionError(f"Tile sizes are positive numbers, not {', '.join(map(str, tile))}.")
    again = compute_once_more(scop, dependences) if once_more and target in COMPILED else OnceMore(dependences)
    dependences = again.dependences
    usable = register_tile and target in COMPILED and processor is not None and processor.vector_registers
    own = (pack, pack and target == "c", even_blocks and target == "c")
    registers = Registers(processor, *own) if usable and processor is not None else None
    rules = MemoryRules(fuse_passes, strips, array_sums, accumulate, lift, contract).for_target(target)
    named = target == "c" and processor is not None and processor.vector_registers
    vectors = processor if named else None
    blocks = vectors if row_blocks else None
    forms = LoopForms(interleave, pipeline, collapse, outer_vectors, align).for_target(target)
    in_order = schedule.by_hand or schedule.scheduler == SOURCE_ORDER
    if target not in COMPILED and tile is False and not in_order:
        mapped = as_scheduled(scop, schedule.tree)
    else:
        tiles = TileSizes(tile, processor, height)
        mapped = _mapped(scop, dependences, schedule, tiles, registers, rules, blocks, forms)
    if target == "c" and not (tile or in_order):
        mapped = hold_tiles(scop, dependences, mapped, registers.processor) if registers is not None else mapped
        mapped = rows_side_by_side(scop, dependences, mapped, vectors, panels=panels, jam=jam)
    if target == "numba" and not in_order:
        wanted = {"accumulate": accumulate, "interleave": interleave, "lift": lift}
        mapped = left_to_the_compiler(scop, dependences, mapped, target, **wanted)
    spaced = frozenset[str]().union(*(tile.spaced for tile in mapped.register_tiles))
    storage = place_temporaries(scop, dependences, mapped.tree, windows=target == "c", spaced=spaced)
    plan = Plan(
        schedule=schedule,
        target=target,
        tree=storage.tree,
        locals=storage.locals,
        expansions=storage.expansions,
        final_values=storage.final_values,
        ahead=again.ahead,
        behind=again.behind,
        read_back=again.read_back,
        full_tiles=mapped.full_tiles,
        work=mapped.work,
        register_tiles=shaped(mapped.register_tiles, register_tile),
        block_tiles=mapped.block_tiles,
        array_sums=mapped.array_sums,
        time_steps=mapped.time_steps,
        vectors=vectors,
        even_strips=marks_of_shares(storage.tree, mapped.decisions) if target == "c" else (),
        two_versions=versions and target == "c",
        decisions=(*mapped.decisions, *storage.decisions, *again.decisions),
    )
    plan = rules.placed(scop, dependences, plan, processor)
    if contract == "reassociate" and target == "c" and schedule.scheduler != SOURCE_ORDER:
        plan = with_shorter_sums(scop, dependences, plan, factor=factor, reciprocal=reciprocal, late=late)
    if lift and tile is None:
        alike = partial(make_plan, scop, dependences, schedule, target, processor=processor, contract=contract)
        plan = with_short_lines_whole(scop, plan, alike)
    lanes = {"periodic": periodic, "select": select, "rows_ahead": rows_ahead}
    return with_vector_loops(scop, plan, **lanes, in_order=in_order) if target in COMPILED else plan


def _mapped(
    scop: Scop,
    dependences: Dependences,
    schedule: Schedule,
    tiles: TileSizes,
    registers: Registers | None,
    memory: MemoryRules,
    vectors: Processor | None,
    forms: LoopForms,
) -> Mapped:
    if schedule.by_hand:
        if tiles.given:
            raise OptionError("A schedule edited by hand is not tiled again: leave the option `tile` out.")
        return keep_marks(scop, schedule.tree)
    if schedule.scheduler == SOURCE_ORDER:
        return Mapped(schedule.tree)
    if schedule.superposition is not None and tiles.given is None:
        # Its block loops are tiles already, and the loops of its threads are meant to stay whole.
        tiles = replace(tiles, given=False)
    if tiles.given is not None:
        memory = memory.in_given_order()
    return _transform(scop, dependences, schedule.tree, tiles, registers, memory, vectors, forms)


def _transform(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    tiles: TileSizes,
    registers: Registers | None,
    memory: MemoryRules,
    vectors: Processor | None,
    forms: LoopForms,
) -> Mapped:
    tile = tiles.given
    tree, said = prepared(scop, dependences, tree, registers) if tile is None else (tree, ())
    tree, arranged = memory.arranged(scop, dependences, tree)
    tree, properties = with_chains_apart(scop, dependences, tree, wanted=forms.interleave and tile is None)
    plans: list[BandPlan] = []
    decisions: list[Decision] = [*said, *arranged]
    for (path, band), found in zip(bands(tree), properties, strict=True):
        around = [plan for plan in plans if path[: len(plan.path)] == plan.path]
        locality = band_locality(scop, dependences, tree, path) if _is_innermost(tree, path) else None
        if locality is not None and is_concurrent(band):
            # Without tiles the rows that were chosen for them would be of no use.
            locality = replace(locality, tiling_helps=True)
        is_outer = locality is None and tile is None
        outer = choose_outer_vectors(scop, tree, path, found, lanes=forms.outer_vectors) if is_outer else None
        has_rows = locality is not None or bool(tile) or has_long_rows(scop, tree, path)
        plan = plan_band(path, found, locality, around, tiles if has_rows else replace(tiles, given=False), outer)
        may_wait = forms.pipeline and not around
        if may_wait and locality is not None and needs_pipeline(scop, dependences, tree, plan, found):
            tiled = plan_band(path, found, replace(locality, tiling_helps=True), around, tiles)
            plan = replace(tiled, for_threads=True)
        if is_concurrent(band) and (plan.wavefront or not plan.sizes):
            plan = _concurrent(plan, tiles, inside=bool(around))
        if registers is not None and tile is not False and locality is not None and not plan.concurrent:
            choice = choose_register_tiles(
                scop,
                dependences,
                tree,
                path,
                found,
                registers,
                len(plans),
                may_be_parallel=_is_free(around),
                tiled=bool(plan.sizes),
                sizes=plan.sizes if tile else None,
            )
            plan = with_registers(plan, choice, tile)
            decisions.extend(filter(None, (choice.decision,)))
        if plan.parallel is None and not (around or plan.sizes or plan.concurrent or plan.updates):
            plan = memory.shared(scop, dependences, tree, plan, len(plans))
        if plan.wavefront and locality is not None and not plan.concurrent and not plan.updates:
            plan = as_stencil(scop, dependences, tree, plan, tiles, vectors, interleave=forms.interleave)
        shares = plan.collapse and forms.collapse and not is_short_member(tree, path, plan.order[1])
        plan = replace(plan, collapse=shares)
        plans.append(in_rows(scop, tree, plan, tiles, align=forms.align) if forms.pipeline else plan)
    plans = with_strips(scop, dependences, tree, properties, plans) if forms.interleave else plans
    for plan in plans:
        decisions.extend(explain_band(plan, statements_under(node_at(tree, plan.path))))
    sums = tuple(found for plan in plans for found in plan.sums)
    steps = tuple(plan.steps for plan in plans if plan.steps is not None)
    work = shared_work(scop, tree, plans)
    mapped = Mapped(tree, work=work, array_sums=sums, time_steps=steps, decisions=tuple(decisions))
    for number, plan in reversed(list(enumerate(plans))):
        mapped = _apply(scop, dependences, mapped, plan, number, registers)
    return mapped


def _is_free(around: Sequence[BandPlan]) -> bool:
    """Whether threads may start inside the bands ``around``."""
    return sum(plan.serial_members for plan in around) <= 1 and all(plan.parallel is None for plan in around)


def _is_innermost(tree: isl.Schedule, path: Path) -> bool:
    return not any(other != path and other[: len(path)] == path for other, _ in bands(tree))


def _concurrent(plan: BandPlan, tiles: TileSizes, *, inside: bool) -> BandPlan:
    """``plan`` for a band whose tiles can all start at once: diamonds with equal sides, points in order of time.

    Without tiles threads share a loop inside the time, where it has more than one of them and is not ``inside`` others.
    """
    last = plan.order[-1] or 1
    order = (0, *(member for member in range(1, len(plan.order)) if member != last), last)
    if not plan.sizes:
        parallel = 1 if len(order) > 2 and not inside else None
        return replace(plan, order=order, tile_order=order, parallel=parallel, concurrent=True)
    return replace(plan, order=order, sizes=tiles.concurrent(plan.sizes), concurrent=True)


def _apply(
    scop: Scop,
    dependences: Dependences,
    mapped: Mapped,
    plan: BandPlan,
    number: int,
    registers: Registers | None,
) -> Mapped:
    """``mapped`` with one band changed; ``number`` is its place among the bands."""
    tree = mapped.tree
    if plan.strips:
        return apply_strips(scop, mapped, plan, number)
    tree, points = _points_in_order(tree, plan)
    if plan.concurrent:
        plan = replace(plan, vector=is_parallel_innermost(scop, dependences, tree, points))
    mark = f"{POINTS}:{number}"
    if plan.updates and registers is not None:
        tiles, found, said = tiles_of_updates(
            scop,
            dependences,
            tree,
            points,
            plan.updates,
            plan.sizes,
            plan.tile_order,
            registers,
            mark,
            wavefront=plan.is_skewed,
        )
        mapped = replace(
            mapped,
            block_tiles=(*mapped.block_tiles, *tiles),
            register_tiles=(*mapped.register_tiles, *found),
            decisions=(*mapped.decisions, said),
        )
    steps = [1 if plan.wavefront else plan.sizes[member] for member in plan.tile_order] if plan.sizes else []
    whole = plan.sizes and plan.block is None and not plan.row_block and plan.steps is None
    full = _full_tiles(scop, tree, points, steps, plan) if whole else None
    tree = _innermost(scop, dependences, tree, points, plan)
    if full is not None:
        mapped = replace(mapped, full_tiles=(*mapped.full_tiles, FullTiles(mark, full)))
    if full is not None or any(tiles.mark == mark for tiles in mapped.block_tiles):
        tree = insert_mark(tree, points, mark)
    if plan.block is not None:
        mapped = replace(mapped, register_tiles=(*mapped.register_tiles, plan.block))
        tree = insert_mark(tree, points, plan.block.mark)
    return replace(mapped, tree=_with_threads(tree, plan, number))


def _with_threads(tree: isl.Schedule, plan: BandPlan, number: int) -> isl.Schedule:
    if plan.pipeline:
        tree = mark_loop(mark_loop(tree, plan.path, 1, WAITING), plan.path, 0, mark_of(plan, number))
    elif plan.parallel is not None:
        tree = mark_loop(tree, plan.path, 1, COLLAPSED) if plan.collapses else tree
        tree = mark_loop(tree, plan.path, plan.parallel, mark_of(plan, number))
    return insert_mark(tree, plan.path, plan.block.team) if plan.block and plan.block.team else tree


def _points_in_order(tree: isl.Schedule, plan: BandPlan) -> tuple[isl.Schedule, Path]:
    """``tree`` with the tile loops of one band and the points of its tiles in their order; the path of the points."""
    if plan.diagonals:
        tree = with_diagonals(tree, plan.path, plan.order)
    if plan.sizes:
        tree = split_into_tiles(tree, plan.path, plan.sizes, scaled=not plan.wavefront)
        tree, _ = permute_members(tree, plan.path, plan.tile_order)
        if plan.is_skewed:
            tree = with_diagonal(tree, plan.path)
    points = (*plan.path, 0) if plan.sizes else plan.path
    if plan.concurrent:
        tree = with_diagonal(tree, points)
    return permute_members(tree, points, plan.order)[0], points


def _full_tiles(
    scop: Scop, tree: isl.Schedule, points: Path, steps: Sequence[int], plan: BandPlan
) -> isl.Set | None:
    """The tiles whose loops have constant trip counts; a vector loop may be cut off at its ends: it is long."""
    if plan.rows:
        tree = split_band(tree, points, len(plan.order) - 1)
    return find_full_tiles(scop, tree, points, steps)


def _innermost(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, points: Path, plan: BandPlan
) -> isl.Schedule:
    """``tree`` with the innermost loop of the band at ``points`` ready for vector instructions, or interleaved."""
    if plan.diagonals:
        return interleave_diagonals(tree, points)
    if plan.row_block:
        return block_rows(tree, points, plan.row_block)
    if plan.separable and (not plan.vector or is_mixed(scop, tree, points)):
        separate = distribute_innermost(scop, dependences, tree, points)
        if separate is not None:
            return separate
    return mark_vector(scop, tree, points) if plan.vector else tree
