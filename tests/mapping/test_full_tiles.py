"""Full tiles: exactly those whose every point runs; the program asks for no more than it has to."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping.full_tiles import find_full_tiles
from polyviz.transform.tile import split_into_tiles
from polyviz.transform.tree import bands
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
    tree = split_into_tiles(tree, path, sizes, scaled=True)
    found = find_full_tiles(scop, tree, (*path, 0), sizes)
    assert found is not None
    return found


def test_full_tiles_of_a_rectangle() -> None:
    found = full_tiles(RECTANGLE, (4, 8))
    expected = isl.Set(
        "[n, m] -> { [i, j] : 0 <= i <= n - 4 and 0 <= j <= m - 8 and i mod 4 = 0 and j mod 8 = 0 }"
    )
    here = found.intersect(isl.Set("{ [i, j] : i mod 4 = 0 and j mod 8 = 0 }"))
    assert here.is_equal(expected.align_params(here.get_space()))


def test_full_tiles_of_a_triangle() -> None:
    found = full_tiles(TRIANGLE, (4, 4)).intersect(isl.Set("{ [i, j] : i mod 4 = 0 and j mod 4 = 0 }"))
    expected = isl.Set("[n] -> { [i, j] : 0 <= i and i + 3 <= j <= n - 4 and i mod 4 = 0 and j mod 4 = 0 }")
    assert found.is_equal(expected)


@pytest.mark.thinned(11)
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
