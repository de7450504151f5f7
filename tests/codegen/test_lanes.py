"""How neighbours along x meet memory, as cards say it, against what the emulator counts of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.gallery import kernel as entry

if TYPE_CHECKING:
    from polyviz.runtime.kernel import Kernel

SIZES = {
    "gemm": {"ni": 128, "nj": 128, "nk": 32},
    "doitgen-expanded": {"nr": 8, "nq": 8, "ns": 64},
    "mvt": {"n": 64},
}


def ran(name: str, schedule: str, order: str) -> Kernel:
    """A kernel that ran on arrays whose rows begin at segments, in whole tiles."""
    found = entry(name)
    arguments = [
        np.asarray(one, order=order) if isinstance(one, np.ndarray) else one
        for one in found.arguments(SIZES[name])
    ]
    made = pv.compile(found.function, schedule=schedule, target="emulated")
    made(*arguments)
    return made


@pytest.mark.thinned(5)
@pytest.mark.parametrize(
    ("name", "schedule", "order", "kinds"),
    [
        ("gemm", "superposition", "C", {"contiguous", "contiguous in pieces of 8"}),
        ("gemm", "superposition", "F", {"strided", "strided in pieces of 8"}),
        ("gemm", "isl", "C", {"contiguous", "contiguous in pieces of 8"}),
        ("mvt", "isl", "C", {"contiguous", "contiguous in pieces of 8"}),
        ("doitgen-expanded", "superposition", "C", {"contiguous", "contiguous in pieces of 16"}),
    ],
)
def test_what_is_expected_of_whole_warps_is_counted(
    name: str, schedule: str, order: str, kinds: set[str]
) -> None:
    rows = [
        row
        for card in ran(name, schedule, order).cards
        for row in card.accesses
        if row.memory == "global" and row.lanes == 32
    ]
    assert {row.motion for row in rows} == kinds
    for row in rows:
        assert row.expected is not None, row
        assert row.counted == row.expected, row


def test_tiles_that_threads_fill_across_rows_are_not_called_contiguous() -> None:
    rows = [row for card in ran("gemm", "superposition", "C").cards for row in card.accesses if "_tile" in row.text]
    written = {row.text.partition("[")[0]: row.motion for row in rows if row.mode == "write" and row.requests}
    assert written == {"A_tile": "strided in pieces of 8", "B_tile": "strided in pieces of 16"}
    assert all(row.conflicts == 0 for row in rows if row.motion in ("contiguous", "broadcast"))


def test_a_card_names_the_arrays_that_do_not_lie_in_c_order() -> None:
    (card,) = ran("gemm", "superposition", "F").cards
    assert "C is not in C order: from C[0, 0] it is 1 cell to C[1, 0], 128 cells to C[0, 1]" in card.text()
    (card,) = ran("gemm", "superposition", "C").cards
    assert card.layouts == ()


def test_a_slice_lies_in_c_order_with_gaps() -> None:
    loops = "def f(A):\n    for i in range(A.shape[0]):\n        A[i, 0] = 0.0"
    kernel = pv.compile(loops, schedule="superposition", target="emulated")
    kernel(np.zeros((64, 400))[::2, ::-1])
    [layout] = kernel.cards[0].layouts
    told = "from A[0, 0] it is 800 cells to A[1, 0], 1 cell back to A[0, 1]"
    assert layout == f"A lies in C order with gaps, as a slice does: {told}"


def test_before_a_call_nothing_is_said_of_strides_that_nobody_knows() -> None:
    found = entry("gemm")
    made = pv.compile(found.function, schedule="isl", target="emulated")
    arguments = [
        np.asfortranarray(one) if isinstance(one, np.ndarray) else one for one in found.arguments("mini")
    ]
    view = made.view_of(made.program_for(made.bind(tuple(arguments), {})), None)
    assert "C may lie in any order: what is said of its cells holds for C order" in view.cards[0].layouts
