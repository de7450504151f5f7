"""What the mapping makes of a schedule: still legal, parallel only where proved, and said."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

import polyviz as pv
from polyviz import gallery
from polyviz.analysis import band_properties, parallelism
from polyviz.mapping import make_plan
from polyviz.model.plan import (
    COLLAPSED,
    END,
    INTERLEAVE,
    JAM,
    PARALLEL,
    PIPELINE,
    REDUCED,
    UNROLL_JAM,
    VECTOR,
    WAITING,
    Plan,
)
from polyviz.transform.tree import bands, kind_of, path_of, walk
from tests.codegen.programs import SOURCES
from tests.mapping.pipelines import assert_pipelines_wait_enough
from tests.running import function_of
from tests.shared import dependences_of, part_of, schedule_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import islpy as isl

    from polyviz.transform.tree import Path

SCHEDULERS = ("original", "isl", "feautrier", "pluto", "spatial")
TILES = {"automatic": None, "small": (3, 5), "none": False}


def plan_of(name: str, schedule: str = "pluto", **options: object) -> tuple[pv.Scop, pv.Dependences, Plan]:
    scop = pv.extract(function_of(SOURCES[name]))
    dependences = pv.dependences(scop)
    chosen = pv.schedule(scop, schedule, dependences=dependences)
    return scop, dependences, make_plan(scop, dependences, chosen, "c", **options)  # type: ignore[arg-type]


def marked(plan: Plan, kind: str) -> list[Path]:
    """The bands under marks of this kind, and under marks below these."""
    return [
        _band_below(node)
        for node in walk(plan.tree)
        if kind_of(node) == "mark" and node.mark_get_id().get_name().partition(":")[0] == kind
    ]


def _band_below(node: isl.ScheduleNode) -> Path:
    while kind_of(node) == "mark":
        node = node.child(0)
    return path_of(node)


def assert_sound(scop: pv.Scop, dependences: pv.Dependences, plan: Plan) -> None:
    """The order is legal, and what is marked parallel or vector is one member that the analysis proves parallel."""
    assert pv.check(scop, plan.tree, known=dependences)
    assert (
        plan.tree.get_domain()
        .intersect_params(scop.context)
        .is_equal(scop.domain.intersect_params(scop.context))
    )
    properties = band_properties(scop, dependences, plan.tree)
    found = {path: band for (path, _), band in zip(bands(plan.tree), properties, strict=True)}
    alone = {path for kind in (PARALLEL, VECTOR, INTERLEAVE, JAM, COLLAPSED) for path in marked(plan, kind)}
    for path in alone:
        assert len(found[path].members) == 1
        assert found[path].members[0].parallel
    places = [path for path, band in bands(plan.tree) for _ in range(band.band_n_member())]
    loops = dict(zip(places, parallelism(scop, dependences, plan.tree), strict=True))
    sums = {(found.statement, found.statement, found.array) for found in plan.array_sums}
    scattered = any(found.extent is None for found in plan.array_sums)
    for path in marked(plan, REDUCED):
        assert len(found[path].members) == 1
        # Which cell a sum adds to may depend on data: then its steps alone tie the iterations, as far as anybody knows.
        only_sums = {(one.source, one.sink, one.array) for one in loops[path].carries} <= sums
        assert found[path].members[0].parallel_as_reduction or (scattered and only_sums)
    below = [
        node for node in walk(plan.tree) if kind_of(node) == "mark" and node.mark_get_id().get_name() == END
    ]
    ended = [path for kind in (REDUCED, PIPELINE, WAITING, UNROLL_JAM) for path in marked(plan, kind)]
    assert len(below) == len(alone) + len(ended)
    assert_pipelines_wait_enough(dependences, plan)


def gallery_cases() -> list[tuple[str, str]]:
    """PolyBench under Pluto and half of the others; the examples, many of them alike, under one scheduler in turn."""
    others = [scheduler for scheduler in SCHEDULERS if scheduler != "pluto"]
    names = [kernel.name for kernel in gallery.polybench()]
    polybench = [
        (name, scheduler)
        for place, name in enumerate(names)
        for scheduler in ("pluto", others[place % 4], others[(place + 1 + place // 4 % 2) % 4])
    ]
    examples = [kernel.name for kernel in gallery.kernels() if kernel.name not in names]
    return polybench + list(zip(examples, itertools.cycle(("pluto", *others)), strict=False))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scheduler"), gallery_cases())
def test_the_gallery_stays_legal(name: str, scheduler: str) -> None:
    scop, dependences, schedule = part_of(name), dependences_of(name), schedule_of(name, scheduler)
    for tile in (None, (4,)) if scheduler == "pluto" else (None,):
        assert_sound(scop, dependences, make_plan(scop, dependences, schedule, "c", tile=tile))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("name", SOURCES)
def test_programs_stay_legal(name: str, tile: str) -> None:
    assert_sound(*plan_of(name, tile=TILES[tile]))


@pytest.mark.parametrize("name", SOURCES)
def test_decisions(name: str, golden: Callable[..., None]) -> None:
    decisions = plan_of(name)[2].decisions
    golden(
        "\n".join(
            f"{decision.step} {', '.join(decision.statements)}: {decision.text}" for decision in decisions
        )
    )


@pytest.mark.parametrize("name", SOURCES)
def test_the_original_order_is_left_alone(name: str) -> None:
    scop, _, plan = plan_of(name, "original")
    assert not marked(plan, PARALLEL)
    assert not marked(plan, VECTOR)
    assert not plan.full_tiles
    assert plan.tree.get_map().is_equal(scop.schedule.get_map())


def test_no_tiles_when_switched_off() -> None:
    assert {decision.step for decision in plan_of("gemm")[2].decisions} >= {"tile", "parallel"}
    assert "tile" not in {decision.step for decision in plan_of("gemm", tile=False)[2].decisions}


def test_sizes_of_tiles_are_positive() -> None:
    with pytest.raises(pv.OptionError, match="Tile sizes are positive numbers, not 0, 4"):
        plan_of("gemm", tile=(0, 4))


def test_diamonds_have_equal_sides_and_their_points_run_in_the_order_of_time() -> None:
    scop = pv.extract(function_of(SOURCES["jacobi_2d"]))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences, concurrent_start=True)
    plan = make_plan(scop, dependences, schedule, "c")
    assert_sound(scop, dependences, plan)
    assert plan.decisions[0].text.startswith("the band is tiled by 64 x 64 x 256")
    assert "all tiles on a front can start at once" in plan.decisions[1].text
    assert len(marked(plan, VECTOR)) == 1


def test_without_tiles_the_loops_inside_the_time_are_parallel() -> None:
    scop = pv.extract(function_of(SOURCES["jacobi_2d"]))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences, concurrent_start=True)
    plan = make_plan(scop, dependences, schedule, "c", tile=False)
    assert_sound(scop, dependences, plan)
    assert len(marked(plan, PARALLEL)) == len(marked(plan, VECTOR)) == 1


@pytest.mark.parametrize("target", ["python", pytest.param("c", marks=pytest.mark.slow)])
@pytest.mark.parametrize("tiles", [(4, 4, 3), False])
@pytest.mark.parametrize("kernel", ["jacobi-1d", "jacobi-2d"])
def test_diamonds_compute_the_same(kernel: str, tiles: tuple[int, ...] | Literal[False], target: str) -> None:
    entry = gallery.kernel(kernel)
    tile = tiles and tiles[: 2 + (kernel == "jacobi-2d")]
    compiled = pv.compile(entry.function, schedule="pluto", target=target, tile=tile, concurrent_start=True)
    whole = "the loops inside it are parallel" if target == "c" else "written out for reading"
    text = "all tiles on a front" if tiles else whole
    assert any(text in decision.text for decision in compiled.plan.decisions)
    arrays = [np.random.default_rng(3).random((14,) * (1 + (kernel == "jacobi-2d"))) for _ in range(2)]
    expected = [array.copy() for array in arrays]
    compiled(7, *arrays)
    entry.function(7, *expected)
    np.testing.assert_allclose(arrays, expected)


def test_a_loop_that_carries_its_dependence_is_not_parallel() -> None:
    plan = plan_of("scan")[2]
    assert not marked(plan, PARALLEL)
    assert not marked(plan, VECTOR)
