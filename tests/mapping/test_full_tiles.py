"""Full tiles: exactly those whose every point runs; the program asks for no more than it has to."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping.bands import permuted, tiled, wavefront
from polyviz.mapping.full_tiles import find_full_tiles
from polyviz.transform.tree import bands, members, row_texts
from tests.running import TARGETS, agree, function_of

RECTANGLE = """
def f(A, n, m):
    for i in range(n):
        for j in range(m):
            A[i, j] = A[i, j] + i + j
"""
TRIANGLE = RECTANGLE.replace("range(m)", "range(i, n)").replace(", m)", ")")


def full_tiles(text: str, sizes: tuple[int, int]) -> isl.Set:
    scop = pv.extract(function_of(text))
    tree = pv.schedule(scop, "isl").tree
    ((path, _),) = bands(tree)
    tree = tiled(tree, path, sizes, scaled=True)
    found = find_full_tiles(scop, tree, (*path, 0), sizes)
    assert found is not None
    return found


def test_full_tiles_of_a_rectangle() -> None:
    found = full_tiles(RECTANGLE, (4, 8))
    expected = isl.Set("[n, m] -> { [i, j] : 0 <= i <= n - 4 and 0 <= j <= m - 8 and i mod 4 = 0 and j mod 8 = 0 }")
    here = found.intersect(isl.Set("{ [i, j] : i mod 4 = 0 and j mod 8 = 0 }"))
    assert here.is_equal(expected.align_params(here.get_space()))


def test_full_tiles_of_a_triangle() -> None:
    found = full_tiles(TRIANGLE, (4, 4)).intersect(isl.Set("{ [i, j] : i mod 4 = 0 and j mod 4 = 0 }"))
    expected = isl.Set("[n] -> { [i, j] : 0 <= i and i + 3 <= j <= n - 4 and i mod 4 = 0 and j mod 4 = 0 }")
    assert found.is_equal(expected)


@pytest.mark.parametrize("size", [0, 3, 4, 5, 8, 17])
@pytest.mark.parametrize("text", [RECTANGLE, TRIANGLE], ids=["rectangle", "triangle"])
@pytest.mark.parametrize("target", TARGETS)
def test_full_and_partial_tiles_together_are_everything(target: str, text: str, size: int) -> None:
    sizes = (size, size + 3) if text is RECTANGLE else (size,)
    agree(text, np.zeros((20, 20)), *sizes, target=target, tile=(4, 8))


def test_reversed_and_skewed_orders_have_full_tiles_too() -> None:
    function = function_of(RECTANGLE)
    for schedule in ("{ S0[i, j] -> [j, -i] }", "{ S0[i, j] -> [i, i + j] }", "{ S0[i, j] -> [-i - j, j] }"):
        kernel = pv.compile(function, schedule=schedule, target="c", tile=(4, 4))
        array, expected = np.zeros((11, 9)), np.zeros((11, 9))
        kernel(array, 11, 9)
        function(expected, 11, 9)
        np.testing.assert_array_equal(array, expected)


def test_orders_made_of_pieces_have_none() -> None:
    function = function_of(RECTANGLE)
    schedule = "[n, m] -> { S0[i, j] -> [i, j] : j < 3; S0[i, j] -> [i, m + 3 - j] : j >= 3 }"
    kernel = pv.compile(function, schedule=schedule, target="c", tile=(4, 4))
    array, expected = np.zeros((11, 9)), np.zeros((11, 9))
    kernel(array, 11, 9)
    function(expected, 11, 9)
    np.testing.assert_array_equal(array, expected)


def rows(tree: isl.Schedule) -> list[list[str]]:
    return [[text for row in members(band) for text in row_texts(row).values()] for _, band in bands(tree)]


BAND = '{ domain: "[n] -> { S[i, j] : 0 <= i, j < n }", child: { schedule: "[n] -> [{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", permutable: 1, coincident: [ 0, 1 ] } }'  # noqa: E501


def test_members_change_places_with_their_flags() -> None:
    tree = permuted(isl.Schedule(BAND), (0,), (1, 0))
    ((_, band),) = bands(tree)
    assert rows(tree) == [["j", "i"]]
    assert [bool(band.band_member_get_coincident(position)) for position in (0, 1)] == [True, False]


def test_tile_loops_count_elements_or_tiles() -> None:
    scaled = tiled(isl.Schedule(BAND), (0,), (4, 8), scaled=True)
    counted = tiled(isl.Schedule(BAND), (0,), (4, 8), scaled=False)
    assert rows(scaled)[1] == rows(counted)[1] == ["i", "j"]
    assert rows(scaled)[0][0].startswith("i - (i) mod 4")
    assert "floor" in rows(counted)[0][0]
    context = isl.DEFAULT_CONTEXT
    assert (context.get_tile_scale_tile_loops(), context.get_tile_shift_point_loops()) == (1, 1)


def test_a_wavefront_adds_the_second_row_to_the_first() -> None:
    tree = wavefront(isl.Schedule(BAND), (0,))
    ((_, band),) = bands(tree)
    assert rows(tree) == [["i + j", "j"]]
    assert [bool(band.band_member_get_coincident(position)) for position in (0, 1)] == [False, True]
