"""Full tiles apart: the same instances as without, and loops of constant length where the tile is full."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl
import pytest

import polyviz as pv
from polyviz.codegen.full_tiles import separate_full_tiles
from polyviz.codegen.loops import For, If, TileBody, descendants
from polyviz.codegen.scan import scan_schedule
from polyviz.model.expression import Call, walk
from tests.codegen.programs import SOURCES
from tests.codegen.test_scan import visits
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.codegen.loops import LoopNode
    from polyviz.model.plan import Plan

TILED = ("gemm", "jacobi_2d", "lu", "names")
ROW_MAXIMUM = """
def row_maximum(A, E, n):
    for i in range(n):
        E[i] = 0.0
        for j in range(i, n):
            E[i] = max(E[i], A[j, i])
"""
"""Some full tiles hold an iteration of the statement beside the sum."""
ELIMINATION = """
def elimination(A, n):
    for k in range(n):
        for i in range(n):
            A[i, k] = A[i, k] * 0.5
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                A[i, j] = A[i, k] * A[k, j]
"""
"""One statement at even times, one at odd ones: isl writes one loop for both."""


def kernel(name: str) -> pv.Kernel:
    return pv.compile(function_of(SOURCES[name]), target="c", tile=(2, 3), register_tile=False)


def separated(scop: pv.Scop, plan: Plan) -> LoopNode:
    return separate_full_tiles(scop, plan, scan_schedule(plan.tree, scop.context))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("size", [0, 1, 4, 7])
@pytest.mark.parametrize("name", TILED)
def test_the_same_instances_in_the_same_order(name: str, size: int) -> None:
    made = kernel(name)
    values = {parameter.name: size for parameter in made.scop.parameters}
    with_full = list(visits(separated(made.scop, made.plan), values))
    without = list(visits(separated(made.scop, replace(made.plan, full_tiles=())), values))
    # Inside a full tile the statements keep their order, so the whole sequence is the same.
    assert with_full == without
    domain = made.scop.domain.intersect_params(_sizes(made.scop, size))
    assert len(with_full) == len(set(with_full)) == _count(domain)


@pytest.mark.parametrize(
    ("source", "schedule", "tile"), [(ROW_MAXIMUM, "isl", (5, 3)), (ELIMINATION, "feautrier", (2,))]
)
def test_what_isl_does_not_write_like_the_other_tiles(source: str, schedule: str, tile: tuple[int, ...]) -> None:
    made = pv.compile(function_of(source), schedule=schedule, target="c", tile=tile, register_tile=False)
    assert made.plan.full_tiles
    for size in (4, 13):
        with_full = list(visits(separated(made.scop, made.plan), {"n": size}))
        assert with_full == list(visits(separated(made.scop, replace(made.plan, full_tiles=())), {"n": size}))


def _sizes(scop: pv.Scop, size: int) -> isl.Set:
    result = isl.Set.universe(scop.context.get_space())
    for position in range(result.dim(isl.dim_type.param)):
        result = result.fix_val(isl.dim_type.param, position, isl.Val(size))
    return result


def _count(domain: isl.UnionSet) -> int:
    found: list[isl.Point] = []
    domain.foreach_point(found.append)
    return len(found)


@pytest.mark.parametrize("name", TILED)
def test_no_tile_body_is_left(name: str) -> None:
    made = kernel(name)
    scan = scan_schedule(made.plan.tree, made.scop.context)
    assert any(isinstance(node, TileBody) for node in descendants(scan)) is bool(made.plan.full_tiles)
    assert not any(isinstance(node, TileBody) for node in descendants(separated(made.scop, made.plan)))


def test_loops_of_a_full_tile_have_no_minima() -> None:
    made = kernel("gemm")
    branches = [node for node in descendants(separated(made.scop, made.plan)) if isinstance(node, If)]
    assert branches
    loops = [node for branch in branches for node in descendants(branch.then) if isinstance(node, For)]
    assert len(loops) == 5  # two around the scaling, three around the product
    for node in loops:
        assert not any(isinstance(part, Call) for bound in (node.start, node.stop) for part in walk(bound))
