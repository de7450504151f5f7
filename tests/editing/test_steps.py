"""Automatic schedules as named moves: the same order at the end, for every kernel and scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import polyviz as pv
from polyviz.analysis import dependences
from polyviz.editing.binding import bind
from polyviz.editing.differences import refines, same_order
from polyviz.editing.script import read_script
from polyviz.editing.steps import recover_steps
from polyviz.gallery import polybench
from polyviz.scheduling import adopt, schedule
from polyviz.scheduling.described import common_times
from tests.editing.kernels import GEMM, JACOBI
from tests.running import function_of
from tests.scheduling import kernels
from tests.shared import dependences_of, part_of, schedule_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import islpy as isl

    from polyviz.editing import Steps
    from polyviz.gallery.entry import Kernel

SHOWN = ("gemm", "jacobi-1d", "lu", "seidel-2d", "trisolv", "fdtd-2d")


def replayed(found: Steps) -> isl.Schedule:
    """What the words of the script do to the original tree, legal or not."""
    tree = found.scop.schedule
    for call in list(read_script(found.script()))[1:]:
        arguments = dict(call.arguments)
        at = arguments.pop("at", None)
        bound = bind(tree, call.name, at, arguments, lambda changed: changed)
        tree = bound.move.apply(bound.tree)[0]
    return tree


def reaches_its_target(found: Steps) -> None:
    context = found.scop.context
    target = found.target.map.intersect_params(context)
    for tree in (found.tree, replayed(found)):
        times = common_times(tree).intersect_params(context)
        assert refines(times, target)
        assert same_order(times, target) == found.is_exact


@pytest.mark.thinned(5)
@pytest.mark.parametrize("entry", polybench(), ids=lambda entry: entry.name)
def test_pluto_in_named_moves(entry: Kernel, golden: Callable[..., None]) -> None:
    part, known = part_of(entry.name), dependences_of(entry.name)
    found = recover_steps(part, known, schedule_of(entry.name, "pluto"))
    assert found.residual == ""
    assert found.is_exact
    reaches_its_target(found)
    if entry.name in SHOWN:
        golden(str(found))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "scheduler"),
    [
        pytest.param(entry, scheduler, id=f"{entry.name}-{scheduler}")
        for place, entry in enumerate(polybench())
        for turn, scheduler in enumerate(["isl", "feautrier", "tiled"])
        # Two of the three in turn.
        if place % 3 != turn
    ],
)
def test_others_in_named_moves(entry: Kernel, scheduler: str) -> None:
    part, known = part_of(entry.name), dependences_of(entry.name)
    options = {"tile": (32, 16)} if scheduler == "tiled" else {}
    name = "pluto" if scheduler == "tiled" else scheduler
    found = recover_steps(part, known, schedule(part, name, dependences=known, **options))
    assert found.residual == ""
    reaches_its_target(found)


def test_tiles_and_the_order_inside_them() -> None:
    found = pv.steps(function_of(GEMM), "pluto", tile=(8, 4))
    assert [step.name for step in found.steps].count("tile") == 2
    assert found.residual == ""
    reaches_its_target(found)


def test_legal_steps_are_an_edit() -> None:
    found = pv.steps(function_of(JACOBI))
    assert found.is_legal
    assert [step.name for step in found.steps] == ["skew", "skew", "shift", "fuse"]
    edited = pv.replay(function_of(JACOBI), found.script())
    assert same_order(edited.schedule.map, found.target.map)


def test_orders_in_between_may_be_illegal_and_say_so() -> None:
    part = kernels.seidel_2d()
    known = dependences(part)
    found = recover_steps(part, known, schedule(part, "feautrier", dependences=known))
    assert not found.is_legal
    assert found.steps[-1].legality
    illegal = next(step for step in found.steps if not step.legality)
    assert illegal.legality.violations[0].explanation
    assert f"{illegal}   # not legal yet" in str(found)


@pytest.mark.parametrize(
    "order",
    [
        "{ S[i, j] -> [0, j, i, 0]; R[i, j, k] -> [1, k, -j, 2i] }",
        "{ S[i, j] -> [i, j, 0, 0]; R[i, j, k] -> [i, j, k, 1] }",
        "{ S[i, j] -> [i + j, j, 0]; R[i, j, k] -> [n + i + j + k, j, k] }",
        "{ S[i, j] -> [j, i, -1, 0]; R[i, j, k] -> [j, i, k, 1] }",
    ],
)
def test_orders_of_ones_own(order: str) -> None:
    part = kernels.matmul()
    known = dependences(part)
    found = recover_steps(part, known, adopt(part, order, dependences=known))
    assert found.residual == ""
    reaches_its_target(found)


def test_what_has_no_named_moves_is_set_as_rows() -> None:
    part = kernels.matmul()
    known = dependences(part)
    order = "{ S[i, j] -> [0, i, j, 0]; R[i, j, k] -> [1, i, floor(j/2), k, j] }"
    found = recover_steps(part, known, adopt(part, order, dependences=known))
    assert found.residual == "a row of R is no plain affine function"
    assert found.steps[-1].name == "rows"
    assert "The last move sets rows as they are: a row of R is no plain affine function." in str(found)
    reaches_its_target(found)
