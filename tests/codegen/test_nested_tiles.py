"""Tiles inside tiles: only the innermost ones have full bodies of their own, and no instance gets lost."""

from __future__ import annotations

import pytest

from polyviz.codegen.loops import Block, For, TileBody, descendants
from polyviz.codegen.lower import lower
from polyviz.mapping import make_plan
from tests.editing.kernels import GEMM, edit, runs_like_the_original


@pytest.mark.parametrize("target", ["python", "numba"])
def test_strips_inside_strips(target: str) -> None:
    edited = edit(GEMM).apply("strip-mine", "i", size=2).apply("tile", "k", sizes=(4, 3))
    edited = edited.apply("strip-mine", "S0.j", size=4)
    plan = make_plan(edited.scop, edited.dependences, edited.schedule, target)
    assert len(plan.full_tiles) > 1
    loops = lower(edited.scop, plan, frozenset())
    assert not any(isinstance(node, TileBody) for node in descendants(loops))
    bodies = [node.body for node in descendants(loops) if isinstance(node, For)]
    assert not any(isinstance(body, Block) and not body.children for body in bodies)
    runs_like_the_original(GEMM, edited, target)
