"""Diamonds: which rows they get, which bands have none, and that their tiles really start at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import pytest
from hypothesis import given, settings

from polyviz.analysis import check, dependences
from polyviz.model.plan import CONCURRENT
from polyviz.scheduling import schedule
from polyviz.transform.tree import bands, kind_of, walk
from tests.analysis.programs import Program, programs
from tests.scheduling import kernels

if TYPE_CHECKING:
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop

DIAMONDS = {
    "jacobi_1d": [{"R": "1 + 2t - i", "S": "2t - i"}, {"R": "1 + 2t + i", "S": "2t + i"}],
    "jacobi_2d": [
        {"R": "1 + 2t - i", "S": "2t - i"},
        {"R": "1 + 2t + i", "S": "2t + i"},
        {"R": "1 + 2t + j", "S": "2t + j"},
    ],
    "heat_3d": [
        {"R": "1 + 2t - i", "S": "2t - i"},
        {"R": "1 + 2t + i", "S": "2t + i"},
        {"R": "1 + 2t + j", "S": "2t + j"},
        {"R": "1 + 2t + k", "S": "2t + k"},
    ],
    "fdtd_2d": [
        {"S1": "t", "S2": "t - i", "S3": "-1 + t - i", "S4": "t - i"},
        {"S1": "t", "S2": "t + i", "S3": "1 + t + i", "S4": "1 + t + i"},
        {"S1": "t + j", "S2": "t + j", "S3": "t + j", "S4": "1 + t + j"},
    ],
}


def diamonds(part: Scop) -> Schedule:
    return schedule(part, "pluto", concurrent_start=True)


def reason(result: Schedule) -> str:
    (decision,) = [found for found in result.decisions if found.step == "concurrent start"]
    return decision.text


@pytest.mark.parametrize("kernel", DIAMONDS)
def test_rows_of_stencils(kernel: str) -> None:
    result = diamonds(kernels.KERNELS[kernel]())
    assert [dict(member.rows) for member in result.bands[0].members] == DIAMONDS[kernel]
    assert result.bands[0].permutable
    assert [kind_of(node) for node in walk(result.tree)][1] == "mark"


def test_the_log_tells_the_time() -> None:
    result = diamonds(kernels.jacobi_1d())
    assert reason(result) == (
        "Tiles of the first two rows start at the same time: together they are 2 times S: 2t, R: 2t + 1, which carries "
        "every dependence and starts on a face of the iteration space."
    )
    (decision,) = [found for found in result.decisions if found.step == "concurrent start"]
    assert decision.details == {
        "found": True,
        "time": {"S": "2t", "R": "2t + 1"},
        "factor": 2,
        "reason": "",
    }


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ("seidel_2d", "where 4t + 2i + j is smallest, S has a corner, not a face to start from"),
        ("lu", "where j + k is smallest, S1 has a corner, not a face to start from"),
        ("matmul", "the band has a parallel row, whose tiles start at the same time anyway"),
    ],
)
def test_what_has_no_diamonds_keeps_its_rows_and_says_why(kernel: str, words: str) -> None:
    part = kernels.KERNELS[kernel]()
    result = diamonds(part)
    assert result.map.is_equal(schedule(part, "pluto").map)
    reasons = [found.text for found in result.decisions if found.step == "concurrent start"]
    assert any(words in text for text in reasons)
    assert not any(
        kind_of(node) == "mark" and node.mark_get_id().get_name() == CONCURRENT for node in walk(result.tree)
    )


def tiles_that_start(result: Schedule, size: int) -> int:
    """How many tiles of the first two rows wait for no other tile, for T = 40 and n = 200."""
    band = next(node for _, node in bands(result.tree))
    rows = band.band_get_partial_schedule()
    numbers = [rows.get_at(place).scale_down_val(isl.Val(size)).floor() for place in (0, 1)]
    listed = isl.UnionPwAffList.alloc(isl.DEFAULT_CONTEXT, 2).add(numbers[0]).add(numbers[1])
    space = band.get_domain().get_space().set_from_params().add_dims(isl.dim_type.set, 2)
    tile_of = isl.UnionMap.from_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff_list(space, listed))
    part = kernels.jacobi_1d()
    sizes = isl.Set("[T, n] -> { : T = 40 and n = 200 }")
    tile_of = tile_of.intersect_domain(part.domain).intersect_params(sizes)
    waiting = dependences(part).validity.apply_domain(tile_of).apply_range(tile_of)
    waiting = waiting.subtract(isl.UnionMap("{ [a, b] -> [a, b] }"))
    ready = tile_of.range().subtract(waiting.intersect_params(sizes).range())
    return isl.Set.from_union_set(ready).count_val().to_python()


def test_tiles_start_all_along_the_face_and_not_one_after_the_other() -> None:
    part = kernels.jacobi_1d()
    assert tiles_that_start(schedule(part, "pluto"), 8) == 1
    # The face has 198 points, two per unit of the second row, 8 units to a tile.
    assert tiles_that_start(diamonds(part), 8) > 20


@settings(max_examples=15)
@given(programs())
def test_random_programs_are_scheduled_legally(program: Program) -> None:
    part = program.scop()
    known = dependences(part)
    result = schedule(part, "pluto", dependences=known, concurrent_start=True, fusion="max")
    assert check(part, result.map, known=known), str(program)
