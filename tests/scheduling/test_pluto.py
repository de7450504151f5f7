"""Pluto: schedules that the literature prints, fusion, and legality on programs nobody chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from polyviz.analysis import check, dependences
from polyviz.frontend import extract
from polyviz.scheduling import schedule
from polyviz.scheduling.closeness import NOT_SKEWED
from tests.analysis.programs import Program, programs
from tests.scheduling import kernels
from tests.scheduling.bands import bands_text

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_known_schedules(kernel: str, golden: Callable[[str], None]) -> None:
    result = schedule(kernels.KERNELS[kernel](), "pluto")
    decisions = [f"{decision.step}: {decision.text}" for decision in result.decisions]
    golden("\n".join([*bands_text(result), "", *decisions]))


def test_seidel_is_skewed_as_in_the_literature() -> None:
    (band,) = schedule(kernels.seidel_2d(), "pluto").bands
    assert [member.rows["S"] for member in band.members] == ["t", "t + i", "2t + i + j"]
    assert band.permutable
    assert not any(member.coincident for member in band.members)


def test_reads_of_the_edge_make_no_longer_sums() -> None:
    """No step writes the edge of the grid: its reads would be closer along ``2t + i + j``, as nothing else would be."""
    text = """
    def f(A, B, T, n, m):
        for t in range(T):
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    A[i, j] = 0.25 * (B[i - 1, j] + B[i + 1, j] + B[i, j - 1] + B[i, j + 1])
    """
    result = schedule(extract(text), "pluto")
    (band,) = result.bands
    assert [member.rows["S0"] for member in band.members] == ["t", "2t + i", "2t + j"]
    assert any(NOT_SKEWED[1:] in decision.text for decision in result.decisions)


@pytest.mark.parametrize(
    ("kernel", "depth"), [("jacobi_1d", 2), ("jacobi_2d", 3), ("heat_3d", 4), ("fdtd_2d", 3)]
)
def test_stencils_can_be_tiled_over_time(kernel: str, depth: int) -> None:
    (band,) = schedule(kernels.KERNELS[kernel](), "pluto").bands
    assert band.permutable
    assert len(band.members) == depth


def test_mvt_keeps_the_parallel_loop_outside() -> None:
    first, second = schedule(kernels.mvt(), "pluto").bands
    assert first.members[0].rows == {"S": "i"}
    assert second.members[0].rows == {"R": "i"}
    assert first.members[0].coincident
    assert second.members[0].coincident


def test_without_parallel_first_bounds_alone_decide() -> None:
    """Every row of mvt has distance one when reuse of inputs counts: the order of the source is all that is left."""
    transposed = kernels.scop(
        "n",
        kernels.loop("j", kernels.loop("i", "R")),
        R=kernels.statement("0 <= j, i < n", reads="x[i] A[j, i] y[j]", writes="x[i]"),
    )
    (band,) = schedule(transposed, "pluto").bands
    assert [member.rows["R"] for member in band.members] == ["i", "j"]
    (band,) = schedule(transposed, "pluto", parallel_first=False).bands
    assert [member.rows["R"] for member in band.members] == ["j", "i"]


def test_fusion_none_keeps_every_component_apart() -> None:
    assert len(schedule(kernels.pointwise_chain(), "pluto", fusion="none").bands) == 3


def test_smart_fusion_refuses_to_lose_parallel_loops_and_max_does_not() -> None:
    smart = schedule(kernels.two_products(), "pluto", fusion="smart")
    assert not any({"S2", "S4"} <= set(band.statements) for band in smart.bands)
    reasons = [decision.text for decision in smart.decisions if decision.step == "fusion"]
    assert "S2 and S4 stay apart: only 1 of 2 parallel rows would remain (lost: j of S2)." in reasons
    greedy = schedule(kernels.two_products(), "pluto", fusion="max")
    assert any({"S2", "S4"} <= set(band.statements) for band in greedy.bands)


def test_fusion_takes_along_what_lies_between() -> None:
    """S1 feeds S3 directly and through S2: the first and the last cannot share a loop without the middle one."""
    between = kernels.scop(
        "n",
        kernels.loop("i", "S1"),
        kernels.loop("i", "S2"),
        kernels.loop("i", "S3"),
        S1=kernels.statement("0 <= i < n", reads="A[i]", writes="B[i]"),
        S2=kernels.statement("0 <= i < n", reads="B[n-1-i]", writes="C[i]"),
        S3=kernels.statement("0 <= i < n", reads="B[i] C[n-1-i]", writes="D[i]"),
    )
    result = schedule(between, "pluto")
    (band,) = result.bands
    assert band.statements == ("S1", "S2", "S3")
    assert band.members[0].rows == {"S1": "i", "S2": "-1 + n - i", "S3": "i"}
    assert band.members[0].coincident


def test_a_row_that_carries_helps_where_no_row_fits_all() -> None:
    """Neither i nor j nor a mixture respects a transposition in place; carrying rows in bands of one do."""
    awkward = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("0 <= i, j < n", reads="A[n-1-i, j] A[i, n-1-j]", writes="A[i, j]"),
    )
    result = schedule(awkward, "pluto")
    assert check(awkward, result)


def test_loops_that_run_backwards() -> None:
    """The distance of the inner loop is negative: the row gets a negative coefficient instead of a skew."""
    backwards = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("1 <= i < n and 0 <= j < n - 1", reads="A[i-1, j+1] A[i-1, j]", writes="A[i, j]"),
    )
    (band,) = schedule(backwards, "pluto").bands
    assert [member.rows["S"] for member in band.members] == ["i", "-j"]
    assert band.permutable


def test_a_statement_without_loops() -> None:
    single = kernels.scop("n", "S", S=kernels.statement("n >= 0", writes="A[0]"))
    assert schedule(single, "pluto").bands == ()


def test_an_empty_domain_is_scheduled() -> None:
    empty = kernels.scop(
        "n", kernels.loop("i", "S"), S=kernels.statement("0 <= i < n and n < 0", writes="A[i]")
    )
    assert check(empty, schedule(empty, "pluto"))


@pytest.mark.slow
@settings(max_examples=40)
@given(programs())
def test_random_programs_are_scheduled_legally(program: Program) -> None:
    part = program.scop()
    known = dependences(part)
    for options in ({}, {"fusion": "max"}, {"fusion": "none", "parallel_first": False}, {"tile": 4}):
        result = schedule(part, "pluto", dependences=known, **options)
        assert check(part, result.map, known=known), f"{options} {program}"


def test_rows_are_not_skewed_for_reads_of_one_cell_alone() -> None:
    """Copies of windows: sums of iterators would bring equal cells together, and cut the loops short."""
    windows = kernels.scop(
        "n, m",
        kernels.loop("c", kernels.loop("r", kernels.loop("y", "S"))),
        S=kernels.statement("0 <= c < n and 0 <= r < m and 0 <= y < n", reads="X[c, y + r]", writes="Y[c, r, y]"),
    )
    found = schedule(windows, "pluto")
    (band,) = found.bands
    assert [member.rows["S"] for member in band.members] == ["c", "r", "y"]
    assert all(member.coincident for member in band.members)
    assert any("nothing closer but reads" in decision.text for decision in found.decisions)


def test_rows_that_a_dependence_skews_stay_skewed() -> None:
    """Cells that are added to along the diagonals are read again there, too: their row is parallel for that reason."""
    diagonals = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("0 <= i, j < n", reads="D[i + j] A[i, j]", writes="D[i + j]"),
    )
    (band,) = schedule(diagonals, "pluto").bands
    assert band.members[0].rows["S"] == "i + j"
    assert band.members[0].coincident


def test_rows_that_would_leave_gaps_end_the_band() -> None:
    """What happens in the middle of the space fits no skewed row but one over every second value."""
    source = extract(
        "def f(h, e, steps):\n    n = len(e)\n    for t in range(steps):\n"
        "        for i in range(n - 1):\n            h[i] += e[i + 1] - e[i]\n"
        "        for i in range(1, n - 1):\n            e[i] += h[i] - h[i - 1]\n"
        "        e[n // 2] += 1.0"
    )
    found = schedule(source, "pluto")
    assert [[member.rows for member in band.members] for band in found.bands] == [
        [{"S0": "t", "S1": "t", "S2": "t"}], [{"S0": "i"}], [{"S1": "i"}],
    ]  # fmt: skip
    assert [member.coincident for band in found.bands for member in band.members] == [False, True, True]
    (told,) = (decision for decision in found.decisions if decision.step == "fallback")
    assert told.text.startswith("Not the row S0: 3t + 2i, S1: 3t + 2i, S2: 3t + n but a band that ends before it")


@pytest.mark.slow
def test_a_filter_that_sorts_a_small_array_is_scheduled_without_a_long_search() -> None:
    text = """
def median(img, out):
    w = np.empty(9)
    for y in range(1, img.shape[0] - 1):
        for x in range(1, img.shape[1] - 1):
            k = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    w[k] = img[y + dy, x + dx]
                    k += 1
            for a in range(9):
                for b in range(8 - a):
                    if w[b] > w[b + 1]:
                        t = w[b]
                        w[b] = w[b + 1]
                        w[b + 1] = t
            out[y, x] = w[4]
"""
    found = schedule(extract(text))
    assert "stopped" not in str(found.decisions)
    assert bands_text(found)[1] == "  S0: y, S1: y, S2: y"
