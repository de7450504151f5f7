"""Tile sizes follow the caches and the number of cores, and results stay those of the loops as written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numba
import numpy as np
import pytest

import polyviz as pv
from polyviz.gallery import kernel
from polyviz.mapping import make_plan
from polyviz.mapping.tile_sizes import TileSizes
from polyviz.model.processor import Processor
from polyviz.runtime.machine import Machine

if TYPE_CHECKING:
    from polyviz.model.plan import Plan

KIBIBYTE = 1024
COMMON = Processor(32, 16, 32 * KIBIBYTE, 512 * KIBIBYTE, 2)
LARGE = Processor(64, 32, 48 * KIBIBYTE, 2048 * KIBIBYTE, 2)
SMALL = Processor(32, 16, 16 * KIBIBYTE, 128 * KIBIBYTE, 2)
MANY = replace(COMMON, cores=64)
ORDER = (0, 1, 2)


def plan_of(name: str, processor: Processor) -> Plan:
    scop = pv.extract(kernel(name).function)
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    return make_plan(scop, dependences, schedule, "c", processor=processor)


def said(plan: Plan) -> str:
    (text,) = (decision.text for decision in plan.decisions if decision.step == "tile")
    return text.partition(",")[0]


def test_a_square_stays_in_the_first_cache() -> None:
    for processor in (SMALL, COMMON, LARGE):
        side = TileSizes(None, processor).side
        assert side**2 * 8 <= processor.l1_data < (2 * side) ** 2 * 8 or side == 64


def test_smaller_caches_make_smaller_tiles() -> None:
    assert TileSizes(None, COMMON).wavefront == (32, 64, 256)
    assert TileSizes(None, SMALL).wavefront == (16, 32, 128)
    assert TileSizes(None, SMALL).of_stencil((0, 1, 2, 3), chains=False) == (16, 8, 8, 1024)
    assert TileSizes(None, SMALL).concurrent((1, 1)) == (128, 128)


def test_larger_caches_leave_enough_tiles_to_the_threads() -> None:
    assert TileSizes(None, LARGE).wavefront == TileSizes(None, COMMON).wavefront


def test_more_cores_find_more_tiles() -> None:
    few, many = TileSizes(None, COMMON), TileSizes(None, MANY)
    assert few.of_stencil(ORDER, chains=False, together=True) == (16, 32, 256)
    assert many.of_stencil(ORDER, chains=False, together=True) == (8, 16, 256)
    assert few.of_stencil((0, 1, 2, 3), chains=False, together=True) == (8, 16, 24, 1024)
    assert many.of_stencil((0, 1, 2, 3), chains=False, together=True) == (2, 4, 24, 1024)
    assert (few.of_line((0, 1)), many.of_line((0, 1))) == ((48, 256), (24, 256))


def test_sizes_that_were_given_stay() -> None:
    tiles = TileSizes((8, 16), SMALL)
    assert tiles.concurrent((8, 16, 16)) == (8, 16, 16)
    assert TileSizes(False, SMALL).of_band(None, None, ORDER) == ()  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_report_has_the_sizes_of_the_processor() -> None:
    assert said(plan_of("jacobi-2d", COMMON)) == "the band is tiled by 16 x 32 x 256"
    assert said(plan_of("jacobi-2d", SMALL)) == "the band is tiled by 16 x 16 x 128"
    assert said(plan_of("heat-3d", MANY)) == "the band is tiled by 2 x 4 x 24 x 1024"


@pytest.mark.parametrize("name", ["jacobi-1d", "seidel-2d", "fdtd-2d", "heat-3d"])
def test_results_are_those_of_the_loops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "processor", replace(SMALL, cores=200))
    entry = kernel(name)
    expected, actual = entry.arguments("small"), entry.arguments("small")
    numba.njit(entry.function)(*expected)
    pv.compile(entry.function, target="c", contract="strict")(*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(one, other)
