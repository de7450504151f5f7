"""The order below a node, against the exact check of the whole tree."""

from __future__ import annotations

import islpy as isl
import pytest

import polyviz as pv
from polyviz import gallery
from polyviz.analysis.order_below import keeps_order_below
from polyviz.transform.tree import band_at, bands, isolate_member, node_at
from tests.running import function_of

SHIFTED = """
    def shifted(A, B, C, n):
        for i in range(1, n - 1):
            A[i] = B[i]
            C[i] = A[i {offset}]
"""


def fused(offset: str) -> tuple[pv.Scop, isl.Schedule]:
    scop = pv.extract(function_of(SHIFTED.replace("{offset}", offset)))
    return scop, scop.schedule


@pytest.mark.parametrize(("offset", "legal"), [("- 1", True), ("", True), ("+ 1", False)])
def test_a_loop_for_each_of_two_statements(offset: str, legal: bool) -> None:
    scop, tree = fused(offset)
    ((path, _),) = bands(tree)
    sunk = band_at(tree, path).band_sink().get_schedule()
    assert keeps_order_below(scop, pv.dependences(scop), sunk, path) is legal
    assert bool(pv.check(scop, sunk)) is legal


def test_branches_of_a_set_come_in_any_order() -> None:
    scop, tree = fused("- 1")
    ((path, _),) = bands(tree)
    text = str(band_at(tree, path).band_sink().get_schedule()).replace("sequence:", "set:")
    assert not keeps_order_below(scop, pv.dependences(scop), isl.Schedule(text), path)


def test_a_loop_that_runs_backwards() -> None:
    scop = pv.extract(function_of("def running(A, n):\n    for i in range(1, n):\n        A[i] += A[i - 1]\n"))
    text = str(scop.schedule).replace("-> [(i)]", "-> [(-i)]")
    assert text != str(scop.schedule)
    assert not keeps_order_below(scop, pv.dependences(scop), isl.Schedule(text), (0,))


@pytest.mark.parametrize("name", ["jacobi-2d", "fdtd-2d", "correlation", "trmm"])
def test_the_same_answer_as_of_the_whole_tree(name: str) -> None:
    (function,) = (kernel.function for kernel in gallery.polybench() if kernel.name == name)
    scop = pv.extract(function)
    found = pv.dependences(scop)
    asked = 0
    for path, band in bands(scop.schedule):
        tree, alone = isolate_member(scop.schedule, path, band.band_n_member() - 1)
        if node_at(tree, (*alone, 0)).n_children() > 1:
            sunk = band_at(tree, alone).band_sink().get_schedule()
            assert keeps_order_below(scop, found, sunk, alone) == bool(pv.check(scop, sunk, known=found))
            asked += 1
    assert asked
