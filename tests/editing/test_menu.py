"""The menu of one loop: moves with arguments that can be made as they stand, and reasons for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import polyviz as pv
from polyviz.notebook.schedules import read_schedules
from tests.editing.kernels import GEMM, JACOBI, edit

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(("text", "at"), [(GEMM, "i"), (GEMM, "k"), (GEMM, "S0.j"), (JACOBI, "S0.i")])
def test_choices(text: str, at: str, golden: Callable[..., None]) -> None:
    golden("\n".join(map(str, edit(text).choices(at))))


def test_a_legal_choice_can_be_made_and_an_illegal_one_not() -> None:
    start = edit(JACOBI, "pluto")
    for loop in start.loops:
        for choice in start.choices(loop):
            refused = start.why_not(choice.name, choice.at, **choice.arguments)
            assert bool(refused) != choice.is_legal
            assert choice.reason in refused


def test_a_loop_that_is_not_there() -> None:
    with pytest.raises(pv.OptionError, match="There is no loop `q`"):
        edit(GEMM).choices("q")


def test_the_magic_takes_an_edit_by_its_name() -> None:
    tuned = edit(GEMM).apply("distribute", "i")
    (found,) = read_schedules("tuned", {"tuned": tuned}).values()
    assert isinstance(found, pv.Schedule)
    assert found.by_hand


def test_tiles_are_offered_for_loops_over_tiles_and_for_loops_inside_them_but_not_for_all_at_once() -> None:
    """Six loops of two kinds are two nests of three."""
    nest = "def f(A):\n    for i in range(9):\n        for j in range(9):\n            A[i, j] += 1"
    tiled = pv.edit(nest).apply("tile", "i", sizes=(4, 4))
    sizes = {at: [one.arguments["sizes"] for one in tiled.choices(at) if one.name == "tile"] for at in tiled.loops}
    assert sizes == {"i_tile": [(32, 32), (4, 4)], "j_tile": [(32,), (4,)], "i": [(32, 32), (4, 4)], "j": [(32,), (4,)]}
