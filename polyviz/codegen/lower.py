"""From a plan to loops ready for a printer: scanned, cleaned and named."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from polyviz.codegen.full_tiles import separate_full_tiles
from polyviz.codegen.naming import inline_single_iterations, name_loops
from polyviz.codegen.scan import scan_schedule
from polyviz.codegen.unroll import unrolled
from polyviz.codegen.unskew import unskew

if TYPE_CHECKING:
    from polyviz.codegen.loops import LoopNode
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


_scanned: WeakKeyDictionary[Plan, LoopNode] = WeakKeyDictionary()
"""Loops do not depend on types, and isl can take a second to write them: each plan is scanned once."""


def lower(scop: Scop, plan: Plan, reserved: frozenset[str]) -> LoopNode:
    """The loop IR of ``plan``; no loop variable is called like anything in ``reserved``."""
    if plan not in _scanned:
        whole = scan_schedule(plan.tree, scop.context)
        _scanned[plan] = unrolled(unskew(inline_single_iterations(separate_full_tiles(scop, plan, whole))))
    loops = _scanned[plan]
    iterators = {statement.name: statement.iterators for statement in scop.statements}
    return name_loops(loops, iterators, reserved)
