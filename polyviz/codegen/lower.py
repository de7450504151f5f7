"""From a plan to loops ready for a printer: scanned, cleaned and named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import islpy as isl

from polyviz.codegen.full_tiles import separate_full_tiles
from polyviz.codegen.grouping import keeps_fronts_whole
from polyviz.codegen.loops import For, rewrite
from polyviz.codegen.naming import inline_single_iterations, name_loops
from polyviz.codegen.scan import scan_schedule
from polyviz.codegen.unroll import unrolled
from polyviz.codegen.unskew import unskew
from polyviz.transform.tree import kind_of, walk

if TYPE_CHECKING:
    from polyviz.codegen.loops import LoopNode
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


_scanned: WeakKeyDictionary[Plan, dict[frozenset[str], LoopNode]] = WeakKeyDictionary()
"""Loops hardly depend on types, and isl can take a second to write them: each plan is scanned once per choice."""


def lower(
    scop: Scop, plan: Plan, reserved: frozenset[str], blocks: frozenset[str] = frozenset()
) -> LoopNode:
    """The loop IR of ``plan``; no loop variable is called like anything in ``reserved``.

    ``blocks`` are marks of register tiles: what is below them becomes one ``Instance`` called like the mark.
    """
    known = _scanned.setdefault(plan, {})
    if blocks not in known:
        grouped = replace(plan, tree=_grouped(plan.tree, blocks))
        whole = scan_schedule(grouped.tree, scop.context, whole_fronts=keeps_fronts_whole(plan))
        apart = separate_full_tiles(scop, grouped, whole, blocks)
        loops = unrolled(unskew(inline_single_iterations(apart)))
        known[blocks] = rewrite(loops, _one_by_one) if plan.scalar else loops
    iterators = {statement.name: statement.iterators for statement in scop.statements}
    iterators |= {tile.mark: tile.coordinates for tile in plan.register_tiles}
    return name_loops(known[blocks], iterators, reserved)


def _one_by_one(node: LoopNode) -> LoopNode:
    """A loop that runs in no vector lanes."""
    return replace(node, vector=False) if isinstance(node, For) else node


def _grouped(tree: isl.Schedule, blocks: frozenset[str]) -> isl.Schedule:
    """``tree`` with each block as one instance of a statement called like its mark."""
    for mark in sorted(blocks):
        for node in walk(tree):
            if kind_of(node) == "mark" and node.mark_get_id().get_name() == mark:
                tree = node.group(isl.Id(mark)).parent().cut().get_schedule()
                break
    return tree
