"""From a plan to loops ready for a printer: scanned, cleaned and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.full_tiles import separate_full_tiles
from polyviz.codegen.naming import inline_single_iterations, name_loops
from polyviz.codegen.scan import scan_schedule
from polyviz.model.expression import Loop, walk

if TYPE_CHECKING:
    from polyviz.codegen.loops import LoopNode
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


def lower(scop: Scop, plan: Plan, reserved: frozenset[str]) -> LoopNode:
    """The loop IR of ``plan``; loop variables avoid ``reserved`` and every name of the part."""
    whole = scan_schedule(plan.tree, scop.context)
    loops = inline_single_iterations(separate_full_tiles(scop, plan, whole))
    iterators = {statement.name: statement.iterators for statement in scop.statements}
    return name_loops(loops, iterators, reserved | _names(scop))


def _names(scop: Scop) -> frozenset[str]:
    """Names a loop variable must not hide: arrays, parameters and the variables of loops inside whole statements."""
    inner = {
        node.iterator
        for statement in scop.statements
        for instruction in statement.body
        for node in walk(instruction)
        if isinstance(node, Loop)
    }
    return frozenset(
        {array.name for array in scop.arrays} | {parameter.name for parameter in scop.parameters} | inner
    )
