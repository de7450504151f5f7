"""Register tiles inside the tiles of a band that several statements share.

Factorisations (LU, Cholesky) update a trailing matrix in the same loops that compute the pivots. A tile of these loops
in which only updates happen, none of which reads what another one in the tile computes, is a block of register tiles
for each updating statement; the other tiles keep their loops. Which tiles those are isl tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.privatization import copies_of
from polyviz.mapping.register_tile import (
    OPERATIONS,
    block_instances,
    blocks_with,
    conflicts,
    require_simple,
)
from polyviz.mapping.roles import LOOPS, RefusedError, Roles, operands_of, roles_of
from polyviz.mapping.work import region_extents
from polyviz.model.isl_limits import at_most
from polyviz.model.plan import BLOCK, BlockTiles, RegisterTile
from polyviz.model.schedule import Decision
from polyviz.transform.tree import band_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.analysis import BandProperties
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Operands
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop, Statement
    from polyviz.transform.tree import Path

SIZES = (96, 48, 48)
"""Rows, columns and steps of a tile: small, since tiles that hold a pivot keep their loops, and multiples of every
register tile."""
MOST_PIECES = 2
"""A condition with more disjuncts costs more than it gives."""


@dataclass(frozen=True, slots=True)
class Update:
    """A statement that a register tile can compute."""

    statement: Statement
    roles: Roles
    operands: Operands
    packed: bool


def find_updates(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, found: BandProperties, *, pack: bool
) -> tuple[Update, ...]:
    """The updating statements of the band at ``path``, in the order of the source; all move in the same loops.

    Raises RefusedError where there is none, with the reason of the first statement.
    """
    if len(found.members) != LOOPS or not found.permutable:
        raise RefusedError("it takes three permutable loops")
    updates: list[Update] = []
    reasons: list[str] = []
    for statement in scop.statements:
        if statement.name not in found.statements:
            continue
        try:
            updates.append(_update(scop, dependences, tree, path, statement, pack=pack))
        except RefusedError as error:
            reasons.append(f"{statement.name}: {error}")
    if not updates:
        raise RefusedError("; ".join(reasons))
    first = updates[0].roles
    return tuple(
        update
        for update in updates
        if (update.roles.row, update.roles.column, update.roles.depth)
        == (first.row, first.column, first.depth)
    )


def _update(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    statement: Statement,
    *,
    pack: bool,
) -> Update:
    if len(statement.iterators) < LOOPS:
        raise RefusedError("fewer than three loops")
    require_simple(scop, dependences, statement)
    roles = roles_of(tree, path, statement, copies_of(dependences))
    try:
        return Update(statement, roles, operands_of(statement, roles, pack=False), packed=False)
    except RefusedError:
        if not pack:
            raise
    return Update(statement, roles, operands_of(statement, roles, pack=True), packed=True)


def tile_sizes(updates: Sequence[Update]) -> tuple[int, ...]:
    """The size of each member of the band."""
    roles = updates[0].roles
    sizes = dict(zip((roles.row, roles.column, roles.depth), SIZES, strict=True))
    return tuple(sizes[member] for member in range(LOOPS))


def coordinate_names(
    tree: isl.Schedule, points: Path, updates: Sequence[Update], order: Sequence[int], *, wavefront: bool
) -> tuple[str, ...]:
    """What the loops around ``points`` are called: tiles of members in ``order``, the first perhaps a wavefront."""
    first = updates[0]
    names = [f"{first.statement.iterators[first.roles.iterator(member)]}_tile" for member in order]
    around = band_at(tree, points).get_schedule_depth() - len(order)
    if wavefront:
        names[0] = "wave"
    return (*(f"outer{level}" for level in range(around)), *names)


def find_block_tiles(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    points: Path,
    updates: Sequence[Update],
    sizes: Sequence[int],
    processor: Processor,
    coordinates: tuple[str, ...],
    mark: str,
) -> tuple[BlockTiles, tuple[RegisterTile, ...]]:
    """The tiles with updates only of the band of point loops at ``points``, which stands under ``mark``.

    ``sizes`` are those of the tiles, per member before tiling; ``coordinates`` names the loops around.
    Raises RefusedError where there is no such tile.
    """
    with at_most(OPERATIONS):
        try:
            every = _all_tiles(scop, tree, points)
            tiles = _simple(_update_tiles(scop, dependences, tree, points, updates), every)
            known = tiles.gist(every).coalesce()
        except isl.Error as error:
            raise RefusedError("isl did not decide in time which tiles hold updates only") from error
    if tiles.is_empty() or known.n_basic_set() > MOST_PIECES:
        raise RefusedError("no simple set of tiles holds updates only")
    number = mark.rpartition(":")[2]
    found = tuple(
        _register_tile(
            scop,
            tree,
            points,
            update,
            sizes,
            processor,
            tiles,
            coordinates,
            f"{BLOCK}:{number}:{update.statement.name}",
        )
        for update in updates
    )
    if len(found) > 1:
        found = tuple(replace(tile, reached=tiles) for tile in found)
    return BlockTiles(mark, known, tuple(tile.mark for tile in found)), found


def decision(updates: Sequence[Update], sizes: Sequence[int]) -> Decision:
    """What is said of it."""
    arrays = ", ".join(dict.fromkeys(update.operands.target.array for update in updates))
    names = tuple(update.statement.name for update in updates)
    read = "packed" if any(update.packed for update in updates) else "read in place"
    text = (
        f"in tiles ({' x '.join(map(str, sizes))}) that hold updates only, tiles of {arrays} stay in registers while "
        f"the sums run; their operands are {read}"
    )
    return Decision("register-tile", text, names, {"sizes": tuple(sizes)})


def _update_tiles(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, points: Path, updates: Sequence[Update]
) -> isl.Set:
    """The tiles in which nothing but ``updates`` happens, one statement after the other, from finished operands."""
    blocks = {
        update.statement.name: block_instances(scop, tree, points, update.statement) for update in updates
    }
    everything = _blocks(scop, tree, points)
    own = isl.UnionMap.empty(scop.context.get_space())
    for relation in blocks.values():
        own = own.union(isl.UnionMap.from_map(relation))
    others = everything.subtract(own).domain()
    space = next(iter(blocks.values())).domain().get_space()
    tiles = own.domain().subtract(others).extract_set(space)
    for update in updates:
        tiles = tiles.subtract(conflicts(scop, update.statement, blocks[update.statement.name]))
    order = {update.statement.name: position for position, update in enumerate(updates)}
    for dependence in dependences.validity_relations:
        if order.get(dependence.source, -1) > order.get(dependence.sink, len(order)):
            pairs = isl.UnionMap.from_map(dependence.relation)
            mixed = blocks_with(pairs, own, own).extract_set(space)
            tiles = tiles.subtract(mixed)
    return tiles.intersect_params(scop.context).coalesce()


def _blocks(scop: Scop, tree: isl.Schedule, points: Path) -> isl.UnionMap:
    """All instances under ``points``, from the values of the loops around them."""
    band = band_at(tree, points)
    prefix = isl.UnionMap.from_multi_union_pw_aff(band.get_prefix_schedule_multi_union_pw_aff())
    return prefix.intersect_domain(band.get_domain().intersect(scop.domain)).reverse()


def _all_tiles(scop: Scop, tree: isl.Schedule, points: Path) -> isl.Set:
    domains = _blocks(scop, tree, points).domain().intersect_params(scop.context)
    return isl.Set.from_union_set(domains).coalesce()


def _simple(tiles: isl.Set, every: isl.Set) -> isl.Set:
    """``tiles`` among ``every`` tile; one convex set where that says the same."""
    hull = isl.Set.from_basic_set(tiles.polyhedral_hull())
    return hull if hull.intersect(every).is_equal(tiles) else tiles


def _register_tile(
    scop: Scop,
    tree: isl.Schedule,
    points: Path,
    update: Update,
    sizes: Sequence[int],
    processor: Processor,
    tiles: isl.Set,
    coordinates: tuple[str, ...],
    mark: str,
) -> RegisterTile:
    roles, statement = update.roles, update.statement
    instances = block_instances(scop, tree, points, statement)
    if tiles.n_basic_set() == 1:
        # Bounds of a block come from the convex hull of all blocks: that of several sets of tiles holds further points.
        instances = instances.intersect_domain(tiles)
    return RegisterTile(
        mark=mark,
        statement=statement.name,
        row=roles.iterator(roles.row),
        column=roles.iterator(roles.column),
        depth=roles.iterator(roles.depth),
        coordinates=coordinates,
        instances=instances,
        sizes=(sizes[roles.row], sizes[roles.column], sizes[roles.depth]),
        operands=update.operands,
        processor=processor,
        packed=update.packed,
        shared_rows=False,
        shared_columns=False,
        parallel_columns=True,
        extents=region_extents(scop, (statement.name,), ()),
    )
