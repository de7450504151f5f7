"""Whether a band runs by register tiles: as a whole, in the tiles that hold updates only, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from polyviz.analysis.privatization import copies_of
from polyviz.mapping.block_tiles import coordinate_names, decision, find_block_tiles, find_updates, tile_sizes
from polyviz.mapping.contraction import with_inner_products
from polyviz.mapping.products import with_products_apart, with_whole_products
from polyviz.mapping.register_tile import find_register_tile, require_simple
from polyviz.mapping.roles import (
    LOOPS,
    RefusedError,
    operands_of,
    possible_roles,
    with_matrices,
)
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.tree import band_at, bands, coincident_members, split_band, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy as isl

    from polyviz.analysis import BandProperties
    from polyviz.mapping.band_plan import BandPlan
    from polyviz.mapping.block_tiles import Update
    from polyviz.mapping.register_tile import BlockedBand
    from polyviz.mapping.roles import Roles
    from polyviz.mapping.tile_sizes import Tile
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import BlockTiles, RegisterTile
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop, Statement
    from polyviz.transform.tree import Path


@dataclass(frozen=True, slots=True)
class Registers:
    """What register tiles may use: the processor, whether operands may be copied, whether those of rows are, and
    whether blocks are to be equal."""

    processor: Processor
    pack: bool = True
    pack_rows: bool = True
    even: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """``whole`` for a band of one statement, ``updates`` for one that several share; neither: ``decision`` says why."""

    whole: BlockedBand | None = None
    updates: tuple[Update, ...] = ()
    decision: Decision | None = None


def choose_register_tiles(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    found: BandProperties,
    registers: Registers,
    number: int,
    *,
    may_be_parallel: bool,
    tiled: bool,
    sizes: Sequence[int] | None,
) -> Choice:
    """What becomes of the band at ``path``, the ``number``-th of the tree; ``sizes`` are the user's tiles.

    A band of several statements stays whole where it is not ``tiled``.
    """
    if len(found.members) < LOOPS:
        return Choice()
    try:
        if len(found.statements) > 1:
            if not tiled:
                return Choice()
            return Choice(updates=find_updates(scop, dependences, tree, path, found, pack=registers.pack))
        whole = find_register_tile(
            scop,
            dependences,
            tree,
            path,
            found,
            registers.processor,
            number,
            may_be_parallel=may_be_parallel,
            pack=registers.pack,
            pack_rows=registers.pack_rows,
            even=registers.even,
            sizes=sizes,
        )
    except RefusedError as reason:
        return Choice(decision=refused(reason, found.statements))
    return Choice(whole, decision=whole.decision)


def prepared(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, registers: Registers | None
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with its nests as register tiles want them, before any band is looked at alone."""
    if registers is None:
        return tree, ()
    tree = inner_nests(scop, dependences, tree, registers)
    tree, said = with_inner_products(scop, dependences, tree, partial(_product_order, scop, dependences, registers))
    is_product = partial(_is_product, scop, dependences, registers)
    for separated in (with_whole_products, with_products_apart):
        tree, more = separated(scop, dependences, tree, is_product)
        said = (*said, *more)
    return tree, said


def _product_order(
    scop: Scop,
    dependences: Dependences,
    registers: Registers,
    tree: isl.Schedule,
    path: Path,
    parallel: tuple[bool, ...],
) -> tuple[tuple[int, ...], int] | None:
    """The members of the band at ``path`` with the loops of a product of matrices innermost, and around them first
    those that are ``parallel``; and how many are innermost."""
    for inner in _products(scop, dependences, tree, path, registers):
        outer = [member for member in range(len(parallel)) if member not in inner]
        return (*sorted(outer, key=lambda member: not parallel[member]), *inner), len(inner)
    return None


def _is_product(
    scop: Scop, dependences: Dependences, registers: Registers, tree: isl.Schedule, path: Path
) -> bool:
    """Whether the band of three loops at ``path`` can run by register tiles, as far as its statement tells."""
    names = statements_under(band_at(tree, path))
    if len(names) != 1:
        return False
    return _nest_order(scop, dependences, tree, path, registers) is not None


def inner_nests(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, registers: Registers
) -> isl.Schedule:
    """``tree`` with three loops of each deeper nest apart, where these can run by register tiles.

    The loops around them are parallel ones (a batch of products, say), which may go outside in any permutable band.
    """
    deep = [path for path, band in bands(tree) if band.band_n_member() > LOOPS and band.band_get_permutable()]
    for path in deep:
        names = statements_under(band_at(tree, path))
        if len(names) != 1:
            continue
        found = _nest_order(scop, dependences, tree, path, registers)
        if found is not None and len(found[0]) > found[1]:
            order, inner = found
            tree = split_band(permute_members(tree, path, order)[0], path, len(order) - inner)
    return tree


def _nest_order(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    registers: Registers,
) -> tuple[tuple[int, ...], int] | None:
    """The members of the band with the loops of a register tile innermost, and how many these are; None where there
    are none."""
    coincident = coincident_members(band_at(tree, path))
    for inner in _products(scop, dependences, tree, path, registers):
        outer = tuple(member for member in range(len(coincident)) if member not in inner)
        if all(coincident[member] for member in outer):
            return (*outer, *inner), len(inner)
    return None


def _products(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    registers: Registers,
) -> Iterator[tuple[int, ...]]:
    """The rows, columns and steps of every register tile that three members of the band at ``path`` can have; before
    these, the two members along which all matrices of rows meet all matrices of columns, if there are such."""
    [name] = statements_under(band_at(tree, path))
    statement = scop.statement(name)
    try:
        require_simple(scop, dependences, statement)
        choices = possible_roles(tree, path, statement, copies_of(dependences))
    except RefusedError:
        return
    if registers.pack and registers.pack_rows:
        several = (with_matrices(statement, roles) for roles in choices)
        yield from (roles.members for roles in several if roles)
    for roles in choices:
        if _is_separable(statement, roles, registers):
            yield roles.members


def _is_separable(statement: Statement, roles: Roles, registers: Registers) -> bool:
    try:
        operands_of(statement, roles, pack=registers.pack)
    except RefusedError:
        return False
    return True


def tiles_of_updates(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    points: Path,
    updates: Sequence[Update],
    sizes: Sequence[int],
    order: Sequence[int],
    registers: Registers,
    mark: str,
    *,
    wavefront: bool,
) -> tuple[tuple[BlockTiles, ...], tuple[RegisterTile, ...], Decision]:
    """Register tiles for the tiles of a band that hold ``updates`` only, if there are such tiles, and what is said.

    The point loops at ``points`` stand under ``mark``; ``sizes`` are those of the tiles per member before tiling,
    ``order`` the members of the tile loops, along wavefronts where the first two are skewed.
    """
    names = coordinate_names(tree, points, updates, order, wavefront=wavefront)
    try:
        tiles, found = find_block_tiles(
            scop, dependences, tree, points, updates, sizes, registers.processor, names, mark
        )
    except RefusedError as reason:
        return (), (), refused(reason, tuple(update.statement.name for update in updates))
    return (tiles,), found, decision(updates, sizes)


def refused(reason: RefusedError, statements: tuple[str, ...]) -> Decision:
    """What is said where there are no register tiles."""
    return Decision("no-register-tile", f"no tiles in registers: {reason}", statements)


def with_registers(plan: BandPlan, choice: Choice, tile: Tile) -> BandPlan:
    """``plan`` cut for register tiles, where there are some."""
    if choice.updates and tile is None:
        return replace(plan, updates=choice.updates, sizes=tile_sizes(choice.updates))
    if choice.whole is None:
        return replace(plan, updates=choice.updates)
    whole = choice.whole
    return replace(
        plan,
        order=whole.order,
        tile_order=whole.tile_order,
        sizes=whole.sizes,
        parallel=whole.parallel,
        wavefront=False,
        vector=whole.tile.parallel_columns,
        separable=False,
        serial_members=len(whole.order) if whole.parallel is None else whole.parallel,
        block=whole.tile,
    )


def shaped(tiles: tuple[RegisterTile, ...], choice: bool | tuple[int, int]) -> tuple[RegisterTile, ...]:
    """``tiles`` in the shape of ``choice``, if it is one."""
    return tiles if isinstance(choice, bool) else tuple(replace(tile, shape=choice) for tile in tiles)
