"""Full tiles apart from partial ones: inside a full tile every loop has a constant number of iterations.

isl scans the tree twice, once whole and once with the full tiles only. Where the first scan enters the point loops of
a tile, the code asks whether the tile is full and then runs the second scan's loops, whose bounds hold no minima; the
compiler unrolls and vectorises these. (isl's own isolation writes the partial tiles with a guard at every point.)
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.codegen.grouping import keeps_fronts_whole
from polyviz.codegen.loops import Block, If, Instance, LoopNode, TileBody, descendants, rewrite
from polyviz.codegen.naming import substituted
from polyviz.codegen.scan import condition_of_set, scan_schedule
from polyviz.model.expression import Expression, Name
from polyviz.transform.tree import kind_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.model.plan import BlockTiles, Plan
    from polyviz.model.scop import Scop


def separate_full_tiles(
    scop: Scop, plan: Plan, loops: LoopNode, blocks: frozenset[str] = frozenset()
) -> LoopNode:
    """``loops``, the scan of the plan's whole tree, with full tiles apart; no ``TileBody`` is left in it.

    Tiles that run by register tiles are instances of these where ``blocks`` allows them.
    """
    tiles = _innermost_tiles(plan)
    bodies = _full_bodies(scop, plan, tiles) if tiles else {}
    blocked = {tile.mark: tile for tile in plan.block_tiles if blocks.issuperset(tile.blocks)}

    def split(node: LoopNode) -> LoopNode:
        if not isinstance(node, TileBody):
            return node
        body, full = node.body, bodies.get(node.mark)
        if full is not None and _is_complete(node, tiles[node.mark]):
            names: dict[str, Expression] = {
                old: Name(new) for old, new in zip(full.around, node.around, strict=True)
            }
            condition = condition_of_set(_named(tiles[node.mark], node.around), scop.context)
            body = If(condition, substituted(full.body, names), body)
        return _with_blocks(scop, replace(node, body=body), blocked.get(node.mark))

    return rewrite(loops, split)


def _with_blocks(scop: Scop, node: TileBody, tiles: BlockTiles | None) -> LoopNode:
    """The body of the tile, or its blocks where it is one of ``tiles``."""
    if tiles is None or not _is_complete(node, tiles.tiles):
        return node.body
    condition = condition_of_set(_named(tiles.tiles, node.around), scop.context)
    around = tuple(map(Name, node.around))
    return If(condition, Block(tuple(Instance(block, around) for block in tiles.blocks)), node.body)


def _innermost_tiles(plan: Plan) -> Mapping[str, isl.Set]:
    """The full tiles by mark. A tile with tiles inside is left out: whether it is full says nothing of these."""
    tiles = {full.mark: full.tiles for full in plan.full_tiles}
    marked = [node for node in walk(plan.tree) if _mark_of(node) in tiles]
    inside = {_mark_of(node): [_mark_of(below) for below in _below(node)] for node in marked}
    return {mark: kept for mark, kept in tiles.items() if not tiles.keys() & set(inside.get(mark, ()))}


def _mark_of(node: isl.ScheduleNode) -> str:
    return str(node.mark_get_id().get_name()) if kind_of(node) == "mark" else ""


def _below(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    for position in range(node.n_children()):
        yield node.child(position)
        yield from _below(node.child(position))


def _full_bodies(scop: Scop, plan: Plan, tiles: Mapping[str, isl.Set]) -> Mapping[str, TileBody]:
    """The point loops of full tiles by mark, where one text serves them all."""
    found: dict[str, list[TileBody]] = defaultdict(list)
    whole = keeps_fronts_whole(plan)
    for node in descendants(scan_schedule(_only_full(plan, tiles), scop.context, whole_fronts=whole)):
        if isinstance(node, TileBody) and node.mark in tiles:
            found[node.mark].append(node)
    return {
        mark: bodies[0]
        for mark, bodies in found.items()
        if len(bodies) == 1 and _is_complete(bodies[0], tiles[mark])
    }


def _is_complete(node: TileBody, tiles: isl.Set) -> bool:
    """Whether a variable is at hand for each loop: isl writes none for a loop whose value is fixed, and some hold
    other values than the schedule."""
    return len(node.around) == int(tiles.dim(isl.dim_type.set))


def _only_full(plan: Plan, tiles: Mapping[str, isl.Set]) -> isl.Schedule:
    """The tree without the instances in partial tiles."""
    partial = isl.UnionSet.empty(plan.tree.get_domain().get_space())
    for node in walk(plan.tree):
        if _mark_of(node) in tiles:
            partial = partial.union(_outside(node, tiles[_mark_of(node)]))
    return plan.tree.intersect_domain(plan.tree.get_domain().subtract(partial))


def _outside(node: isl.ScheduleNode, tiles: isl.Set) -> isl.UnionSet:
    prefix = node.get_prefix_schedule_union_map()
    inside = prefix.intersect_range(isl.UnionSet.from_set(tiles)).domain()
    return node.get_domain().subtract(inside)


def _named(tiles: isl.Set, names: tuple[str, ...]) -> isl.Set:
    for position, name in enumerate(names):
        tiles = tiles.set_dim_name(isl.dim_type.set, position, name)
    return tiles
