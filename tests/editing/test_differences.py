"""Two schedules node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import pytest

import polyviz as pv
from polyviz.editing.differences import refines, same_order
from tests.editing.kernels import GEMM, JACOBI, edit
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable


def test_nothing_is_different() -> None:
    one = pv.schedule(pv.extract(function_of(GEMM)), "pluto")
    found = pv.difference(one, one)
    assert not found
    assert found.same_order
    assert {row.change for row in found.rows} == {"same"}


@pytest.mark.parametrize("case", ["distribute", "tile", "skew", "fuse"])
def test_differences_are_marked(case: str, golden: Callable[..., None]) -> None:
    left = edit(JACOBI if case in ("skew", "fuse") else GEMM)
    skewed = left.apply("skew", "S0.i", by="t", factor=2) if case in ("skew", "fuse") else left
    right = {
        "distribute": lambda: left.apply("distribute", "i"),
        "tile": lambda: left.apply("tile", "k", sizes=(4, 4)),
        "skew": lambda: skewed,
        "fuse": lambda: (
            skewed.apply("skew", "S1.i", by="t", factor=2)
            .apply("shift", "S1.i", amount=1)
            .apply("fuse", children=("S0", "S1"))
        ),
    }[case]()
    found = pv.difference(left.schedule, right.schedule)
    assert found
    golden(str(found))


def test_a_changed_row_is_one_changed_line() -> None:
    left = edit(GEMM)
    found = pv.difference(left.schedule, left.apply("reversal", "S0.j").schedule)
    assert [str(row) for row in found.rows if row.change != "same"] == ["~       loop -j   (was loop j)"]
    assert not found.same_order


def test_every_line_of_both_trees_is_there_once() -> None:
    part = pv.extract(function_of(GEMM))
    one, other = pv.schedule(part, "original"), pv.schedule(part, "pluto", tile=4)
    rows = pv.difference(one, other).rows
    for side, tree in (("left", one), ("right", other)):
        lines = [getattr(row, side) for row in rows if getattr(row, side) is not None]
        alone = pv.difference(tree, tree).rows
        assert [line.text for line in lines] == [row.left.text for row in alone if row.left is not None]


def test_orders() -> None:
    loops, tiled = (
        isl.UnionMap("{ S[i] -> [i] : 0 <= i < 9 }"),
        isl.UnionMap("{ S[i] -> [o, i] : 0 <= i < 9 and 3o <= i < 3o + 3 }"),
    )
    assert same_order(loops, tiled)
    assert not same_order(loops, isl.UnionMap("{ S[i] -> [-i] : 0 <= i < 9 }"))
    unordered = isl.UnionMap("{ S[i] -> [0] : 0 <= i < 9 }")
    assert refines(loops, unordered)
    assert not refines(unordered, loops)
    assert not same_order(loops, isl.UnionMap("{ T[i] -> [i] : 0 <= i < 9 }"))


def test_only_what_has_a_schedule_is_compared() -> None:
    one = pv.schedule(pv.extract(function_of(GEMM)), "original")
    with pytest.raises(pv.OptionError, match="not a value of type str"):
        pv.difference(one, "pluto")


def test_edits_and_kernels_stand_for_their_schedules() -> None:
    started = edit(GEMM)
    moved = started.apply("distribute", at="i")
    assert pv.difference(started, moved) == pv.difference(started.schedule, moved.schedule)
    kernel = pv.compile(function_of(GEMM), schedule=moved, target="python")
    assert not pv.difference(moved, kernel)


FILL = "def fill(A, n):\n    for i in range({bounds}):\n        A[i] = 1.0"


def test_schedules_of_different_programs_have_no_difference() -> None:
    gemm = pv.schedule(pv.extract(function_of(GEMM)), "original")
    whole, inner = (
        pv.schedule(pv.extract(FILL.format(bounds=bounds)), "original") for bounds in ("n", "1, n")
    )
    with pytest.raises(pv.OptionError, match="one orders S0, S1, the other S0"):
        pv.difference(gemm, whole)
    with pytest.raises(pv.OptionError, match="their statements have different iterations"):
        pv.difference(whole, inner)


def test_known_sizes_of_one_side_make_no_other_program() -> None:
    text = FILL.format(bounds="n")
    free, known = (pv.schedule(pv.extract(text, sizes=sizes), "isl") for sizes in (None, {"n": 9}))
    assert pv.difference(free, known).same_order
