"""Register tiles: which nests of three loops run as sums of products over tiles that stay in vector registers.

The nest updates cells that move in two of its loops and adds up along the third (C[i, j] += A[i, k] * B[k, j]). It is
cut into blocks that fit the caches; inside a block the operands are copied into contiguous buffers in the order in
which a register tile reads them, and each tile of cells stays in registers while the sum runs (Goto and van de Geijn,
"Anatomy of High-Performance Matrix Multiplication", 2008, for the levels; the conditions here are checked by isl).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import islpy as isl

from polyviz.analysis.privatization import copies_of
from polyviz.mapping.blocks import SMALLEST_SHARED_WORK, choose_blocks
from polyviz.mapping.roles import (
    LOOPS,
    RefusedError,
    Roles,
    arrays_of,
    iterator_of,
    operands_of,
    roles_of,
)
from polyviz.mapping.work import lengths_of, region_extents, rows_of
from polyviz.model.isl_limits import at_most, solved
from polyviz.model.plan import BLOCK, TEAM, RegisterTile
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.tile import split_into_tiles
from polyviz.transform.tree import Path, band_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.analysis import BandProperties
    from polyviz.mapping.blocks import Blocks
    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Expression
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop, Statement

_DOUBLE = 8
_SINGLE = 4
OPERATIONS = 300_000


@dataclass(frozen=True, slots=True)
class BlockedBand:
    """A nest for register tiles: the order of the tile loops and of the point loops (old members), the block's size
    per old member, and what the code generator needs."""

    tile_order: tuple[int, ...]
    order: tuple[int, ...]
    sizes: tuple[int, ...]
    parallel: int | None
    tile: RegisterTile
    pack_rows: bool

    @property
    def decision(self) -> Decision:
        """What is said of it."""
        operands = self.tile.operands
        rows, columns, depth = self.tile.sizes
        names = _listed(operands.rows), _listed(operands.columns)
        placed = f"read in place: {names[0]} by rows, {names[1]} by columns"
        kept = f"tiles of {operands.target.array} stay in registers while the sum runs"
        if self.tile.packed and not self.pack_rows:
            kept = f"rows of {operands.target.array} take several steps of the sum each time they go through registers"
            placed = (
                f"{names[1]} packed by columns ({_kibibytes(columns * depth * len(operands.columns))} of doubles), "
                f"{names[0]} read in place: a few rows and steps of it are variables while the columns go by"
            )
        elif self.tile.packed:
            memory = [
                _kibibytes(extent * depth * len(part))
                for extent, part in ((rows, operands.rows), (columns, operands.columns))
            ]
            placed = (
                "packed, since every value is read again for each row or column of a block: "
                f"{names[0]} by rows ({memory[0]}), {names[1]} by columns ({memory[1]} of doubles)"
            )
        blocks = "equal blocks of up to" if self.tile.even else "blocks of"
        text = f"{kept}, in {blocks} {rows} rows, {columns} columns and {depth} steps; {placed}"
        if self.tile.team and (self.tile.shared_columns or self.tile.shared_rows):
            text += f"; the packed {'columns' if self.tile.shared_columns else 'rows'} are shared between threads"
        if self.tile.around is not None:
            text += f"; up to {self.tile.turns} matrices of columns are packed at once, and serve all those of rows"
        if self.tile.packed and self.pack_rows and self.parallel is not None:
            text += f"; one thread does fewer than {SMALLEST_SHARED_WORK} updates alone"
        return Decision("register-tile", text, (self.tile.statement,), {"sizes": self.tile.sizes})


def find_register_tile(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    found: BandProperties,
    processor: Processor,
    number: int,
    *,
    may_be_parallel: bool,
    pack: bool = True,
    pack_rows: bool = True,
    even: bool = False,
    sizes: Sequence[int] | None = None,
) -> BlockedBand:
    """The band at ``path``, innermost of its nest, cut for register tiles.

    Without ``pack`` operands are read where they are, without ``pack_rows`` those of rows. ``even`` lets blocks of rows
    and steps be smaller where that makes them equal. ``sizes`` gives block sizes per member, None chooses them.
    Raises RefusedError.
    """
    statement = _only_statement(scop, dependences, found)
    roles = roles_of(tree, path, statement, copies_of(dependences))
    operands = operands_of(statement, roles, pack=pack)
    inner = 2 if roles.matrices else 1
    tile_rows = _rows_of_tiles(processor, len(operands.rows), len(operands.columns))
    tied = _tied(statement, roles)

    def choose(share_rows: bool) -> Blocks:
        return choose_blocks(
            found,
            roles,
            processor,
            pack=pack,
            ragged=roles.iterator(roles.depth) in tied,
            even=even and pack and not tied,
            may_be_parallel=may_be_parallel,
            share_rows=share_rows,
            tile_rows=tile_rows,
            sizes=sizes,
        )

    def cut(blocks: Blocks) -> _Cut:
        changed, _ = permute_members(split_into_tiles(tree, path, blocks.sizes, scaled=True), path, blocks.order)
        instances = _safe_instances(scop, changed, (*path, 0), statement)
        return _Cut(blocks, instances, pack and _is_shareable(scop, statement, instances, inner))

    blocks, instances, shareable = _best_cut(cut, tuple(dict.fromkeys(map(choose, (pack and pack_rows, False)))))
    order, chosen = blocks.order, blocks.sizes
    if roles.matrices and not shareable:
        raise RefusedError("its operands change while blocks share them")
    points = (roles.row, roles.depth, roles.column)
    # A team starts anew in every iteration of the loops around it; other threads and buffers last for all of these.
    around = band_at(tree, path).get_prefix_schedule_multi_union_pw_aff()
    serial = rows_of(around) if blocks.team else ()
    extents = region_extents(scop, (statement.name,), serial)
    three = [roles.iterator(member) for member in points]
    tile = RegisterTile(
        mark=f"{BLOCK}:{number}",
        statement=statement.name,
        row=roles.iterator(roles.row),
        column=roles.iterator(roles.column),
        depth=roles.iterator(roles.depth),
        coordinates=_coordinate_names(tree, path, statement, {roles.iterator(one): chosen[one] for one in order}),
        instances=instances,
        sizes=(chosen[roles.row], chosen[roles.column], chosen[roles.depth]),
        operands=operands,
        processor=processor,
        packed=pack,
        shared_rows=shareable and order[-1] == roles.column,
        shared_columns=shareable and order[-1] == roles.row,
        parallel_columns=bool(found.members[roles.column].coincident),
        extents=extents,
        product=lengths_of(scop, statement, three) if len(extents) > LOOPS else (),
        team=f"{TEAM}:{number}" if blocks.team else "",
        around=roles.iterator(roles.matrices[1]) if roles.matrices else None,
        turns=chosen[roles.matrices[1]] if roles.matrices else 1,
        inner=inner,
        even=even and pack,
    )
    return BlockedBand(order, (*(roles.matrices or ()), *points), chosen, blocks.parallel, tile, pack_rows)


class _Cut(NamedTuple):
    """Blocks, the instances in each of them, and whether one copy of an operand serves the innermost of their loops."""

    blocks: Blocks
    instances: isl.Map
    shareable: bool


def _rows_of_tiles(processor: Processor, rows: int, columns: int) -> int:
    """Rows that are whole tiles of doubles as well as of single precision."""
    return lcm(*(processor.product_tile(rows, columns, processor.lanes(size))[0] for size in (_DOUBLE, _SINGLE)))


def _best_cut(cut: Callable[[Blocks], _Cut], choices: Sequence[Blocks]) -> _Cut:
    """That of the first of ``choices`` whose blocks can share a copy, else that of the last."""
    for blocks in choices[:-1]:
        with suppress(RefusedError):
            found = cut(blocks)
            if found.shareable:
                return found
    return cut(choices[-1])


def _tied(statement: Statement, roles: Roles) -> frozenset[int]:
    """The iterators of rows, columns and steps that bound one another: the steps where the sums of different cells have
    different ones."""
    hull = statement.domain.polyhedral_hull()
    three = [roles.iterator(member) for member in (roles.row, roles.column, roles.depth)]
    together = (
        [iterator for iterator in three if constraint.involves_dims(isl.dim_type.set, iterator, 1)]
        for constraint in hull.get_constraints()
    )
    return frozenset(iterator for found in together if len(found) > 1 for iterator in found)


def _safe_instances(scop: Scop, tree: isl.Schedule, points: Path, statement: Statement) -> isl.Map:
    """The instances in each block; refused where a block reads what it has itself computed."""
    with at_most(OPERATIONS):
        try:
            instances = block_instances(scop, tree, points, statement)
            if not conflicts(scop, statement, instances).is_empty():
                raise RefusedError("a block would read cells that it has updated itself")
        except isl.Error as error:
            raise RefusedError("isl did not decide in time whether its operands may be copied") from error
    return instances


def _is_shareable(scop: Scop, statement: Statement, instances: isl.Map, inner: int) -> bool:
    """Whether one copy of an operand serves all blocks of the ``inner`` innermost loops: none of them computes what it
    holds."""
    groups = instances.project_out(isl.dim_type.in_, instances.dim(isl.dim_type.in_) - inner, inner)
    found = solved(lambda: conflicts(scop, statement, groups).is_empty(), OPERATIONS)
    return bool(found)


def _only_statement(scop: Scop, dependences: Dependences, found: BandProperties) -> Statement:
    if len(found.statements) != 1:
        raise RefusedError(f"{len(found.statements)} statements share its loops")
    if len(found.members) not in (LOOPS, LOOPS + 2) or not found.permutable:
        raise RefusedError("it takes three permutable loops")
    statement = scop.statement(found.statements[0])
    require_simple(scop, dependences, statement)
    return statement


def require_simple(scop: Scop, dependences: Dependences, statement: Statement) -> None:
    """Refuse a statement that does more than update one cell that is known exactly."""
    handed_over = {found.array for found in dependences.privatizations if found.last is not None}
    if any(access.array in handed_over for access in statement.accesses):
        raise RefusedError("it computes the last value of a temporary")
    if not statement.exact:
        raise RefusedError("some accesses are not known exactly")
    if sum(access.kind == "write" for access in statement.accesses) != 1:
        raise RefusedError("it updates several cells")


def block_instances(scop: Scop, tree: isl.Schedule, path: Path, statement: Statement) -> isl.Map:
    """The instances in each block, from the values of the loops around it; a convex set for every block."""
    prefix = band_at(tree, path).get_prefix_schedule_multi_union_pw_aff()
    blocks = isl.UnionMap.from_multi_union_pw_aff(prefix).reverse()
    domain = statement.domain.intersect_params(scop.context)
    times = (
        scop.context.get_space().set_from_params().add_dims(isl.dim_type.set, prefix.dim(isl.dim_type.out))
    )
    space = isl.Space.map_from_domain_and_range(times, domain.get_space())
    relation = blocks.intersect_range(isl.UnionSet.from_set(domain)).extract_map(space).coalesce()
    simple = (
        relation.gist_domain(relation.domain()).gist_params(scop.context).coalesce().remove_redundancies()
    )
    if simple.n_basic_map() != 1 or simple.get_basic_map_list().get_at(0).dim(isl.dim_type.div):
        raise RefusedError("its iterations are no convex set")
    return relation


def _coordinate_names(
    tree: isl.Schedule, path: Path, statement: Statement, tiled: Mapping[int, int]
) -> tuple[str, ...]:
    prefix = band_at(tree, path).get_prefix_schedule_multi_union_pw_aff()
    around = [
        statement.iterators[iterator_of(prefix.get_at(position), statement)]
        for position in range(prefix.dim(isl.dim_type.out))
    ]
    names = {position: statement.iterators[position] for position in tiled}
    return (*around, *(name if tiled[position] == 1 else f"{name}_tile" for position, name in names.items()))


def conflicts(scop: Scop, statement: Statement, instances: isl.Map) -> isl.Set:
    """The blocks that read, as an operand, what they have computed themselves before."""
    time = scop.schedule.get_map().intersect_domain(isl.UnionSet.from_set(statement.domain))
    before = time.lex_lt_union_map(time)
    into = isl.UnionMap.from_map(instances)
    [write] = [access for access in statement.accesses if access.kind == "write"]
    found = isl.UnionSet.empty(instances.domain().get_space().params())
    for access in statement.accesses:
        if access.kind == "write" or access.array != write.array or access.relation.is_equal(write.relation):
            continue
        flow = isl.UnionMap.from_map(write.relation.apply_range(access.relation.reverse())).intersect(before)
        found = found.union(blocks_with(flow, into, into))
    return found.extract_set(instances.domain().get_space()).intersect_params(scop.context)


def blocks_with(pairs: isl.UnionMap, sources: isl.UnionMap, sinks: isl.UnionMap) -> isl.UnionSet:
    """The blocks that hold both instances of some pair; ``sources`` and ``sinks`` map blocks to their instances."""
    between = sources.apply_range(pairs).intersect(sinks)
    return between.domain()


def _kibibytes(elements: int) -> str:
    return f"{elements * _DOUBLE // 1024} KiB"


def _listed(operands: Sequence[Expression]) -> str:
    return " and ".join(", ".join(sorted(arrays_of(operand))) for operand in operands)
