"""Spatial: the schedules that the thesis prints, what it gives up and why, and legality on programs nobody chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

import polyviz as pv
from polyviz import gallery
from polyviz.analysis import check, dependences
from polyviz.errors import OptionError
from polyviz.scheduling import schedule
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.reuse_rows import few_row
from tests.analysis.programs import Program, programs
from tests.running import agree
from tests.scheduling import kernels
from tests.scheduling.bands import bands_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.schedule import Band, Schedule
    from polyviz.model.scop import Scop


def rows_of(band: Band, statement: str) -> list[str]:
    return [member.rows[statement] for member in band.members]


def decisions(result: Schedule, step: str) -> list[str]:
    return [decision.text for decision in result.decisions if decision.step == step]


def details(result: Schedule) -> list[Any]:
    return [decision.details for decision in result.decisions if decision.step == "row"]


def product(*loops: str) -> Scop:
    i, j, k = loops
    return kernels.scop(
        "n",
        kernels.loop(i, kernels.loop(j, kernels.loop(k, "R"))),
        R=kernels.statement("0 <= i, j, k < n", reads="C[i, j] A[i, k] B[k, j]", writes="C[i, j]"),
    )


@pytest.mark.thinned(3)
@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_known_schedules(kernel: str, target: str, golden: Callable[[str], None]) -> None:
    result = schedule(kernels.KERNELS[kernel](), "spatial", target=target)
    own = [decision for decision in result.decisions if decision.step in ("reuse", "row", "fallback")]
    log = [f"{decision.step}: {decision.text}" for decision in own]
    golden("\n".join([*bands_text(result), "", *log]))


@pytest.mark.parametrize("order", ["ijk", "jik", "kij", "ikj", "jki", "kji"])
def test_a_product_is_walked_along_lines_whatever_the_order_of_the_source(order: str) -> None:
    (band,) = schedule(product(*order), "spatial").bands
    assert rows_of(band, "R") == ["i", "k", "j"]
    assert band.members[0].coincident
    assert band.permutable


def test_two_products_share_no_band_but_each_takes_its_first_statement_along() -> None:
    first, second = schedule(kernels.two_products(), "spatial").bands
    assert (rows_of(first, "S1"), rows_of(first, "S2")) == (["i", "0", "j"], ["i", "k", "j"])
    assert (rows_of(second, "S3"), rows_of(second, "S4")) == (["i", "0", "j"], ["i", "k", "j"])


def test_lu_runs_along_its_rows_in_a_band_for_wavefronts() -> None:
    result = schedule(kernels.lu(), "spatial")
    (band,) = result.bands
    assert rows_of(band, "S1") == rows_of(band, "S3") == ["i", "k", "j"]
    assert rows_of(band, "S2") == ["i", "j", "j"]
    assert band.permutable
    assert not any(member.coincident for member in band.members)
    assert details(result)[0]["relaxed"] == (
        "no parallel row exists and the pressure on registers, 11, stays within 28: "
        "the band goes on and its tiles run along wavefronts"
    )


def test_lines_shared_with_other_statements_do_not_shift_rows() -> None:
    """Where one statement ends on a line and the next begins is an accident: cholesky keeps its loops as they are."""
    part = pv.extract(gallery.kernel("cholesky").function)
    (band,) = schedule(part, "spatial").bands
    assert rows_of(band, "S0") == ["i", "j", "k"]
    assert rows_of(band, "S2") == ["i", "i", "k"]


def test_seidel_is_skewed_as_by_pluto() -> None:
    (band,) = schedule(kernels.seidel_2d(), "spatial").bands
    assert rows_of(band, "S") == ["t", "t + i", "2t + i + j"]
    assert band.permutable


def test_spatial_distances_may_be_negative_when_many_groups_are_carried() -> None:
    """Where they must not, jacobi-1d is skewed by nine iterations to carry lines of eight elements."""
    (band,) = schedule(kernels.jacobi_1d(), "spatial").bands
    assert rows_of(band, "S") == ["t", "2t + i"]
    assert rows_of(band, "R") == ["t", "1 + 2t + i"]


def test_fdtd_can_be_tiled_over_time() -> None:
    (band,) = schedule(kernels.fdtd_2d(), "spatial").bands
    assert band.permutable
    assert len(band.members) == 3


@pytest.mark.parametrize(
    ("kernel", "depth", "pressure"),
    [("jacobi_2d", 3, 30), pytest.param("heat_3d", 4, 56, marks=pytest.mark.slow)],
)
def test_crowded_registers_split_the_band(kernel: str, depth: int, pressure: int) -> None:
    part = kernels.KERNELS[kernel]()
    split = schedule(part, "spatial")
    outer, *inner = split.bands
    assert [rows_of(outer, name) for name in ("S", "R")] == [["t"], ["t"]]
    assert all(member.coincident for band in inner for member in band.members)
    (reason,) = decisions(split, "fallback")
    assert f"the pressure on registers, {pressure}, is above 28" in reason
    whole = schedule(part, "spatial", pressure_limit=pressure)
    (band,) = whole.bands
    assert band.permutable
    assert len(band.members) == depth
    assert decisions(whole, "fallback") == []


def test_parallelism_goes_before_strides() -> None:
    """mvt: the second product walks A by columns, but its rows are parallel."""
    _, second = schedule(kernels.mvt(), "spatial").bands
    assert rows_of(second, "R") == ["i", "j"]
    assert second.members[0].coincident
    assert not second.members[1].coincident


def test_inside_tiles_strides_come_first() -> None:
    """Tiles give both: the parallel loop outside among the tiles, the one along lines inside among the points."""
    result = schedule(kernels.mvt(), "spatial", tile=32)
    tiles, points = result.bands[-2:]
    assert rows_of(tiles, "R") == ["floor((i)/32)", "floor((j)/32)"]
    assert rows_of(points, "R") == ["j", "i"]
    assert decisions(result, "reorder")[0].startswith("Loop ")


def test_trmm_keeps_a_parallel_loop_outside() -> None:
    part = pv.extract(gallery.kernel("trmm").function)
    (band,) = schedule(part, "spatial").bands
    assert rows_of(band, "S0") in (["j", "k", "i"], ["j", "i", "k"])
    assert band.members[0].coincident


def test_inner_rows_need_not_be_parallel_unless_asked_for() -> None:
    """Between two barriers the product of mvt walks along lines; with parallel rows it walks by columns."""
    part = kernels.scop(
        "T, n",
        kernels.loop("t", kernels.loop("i", kernels.loop("j", "S")), "R"),
        S=kernels.statement("0 <= t < T and 0 <= i, j < n", reads="x[i] A[j, i] y[j] s[0]", writes="x[i]"),
        R=kernels.statement("0 <= t < T", reads="x[0] s[0]", writes="s[0]"),
    )
    outer, inner = schedule(part, "spatial").bands
    assert rows_of(outer, "S") == ["t"]
    assert rows_of(inner, "S") == ["j", "i"]
    _, inner = schedule(part, "spatial", relax_inner=False).bands
    assert rows_of(inner, "S") == ["i", "j"]
    assert inner.members[0].coincident


def test_rows_of_a_product_on_a_gpu() -> None:
    """The thread axis runs along the lines of C and B; only the first row is looked for in this way."""
    result = schedule(product("i", "j", "k"), "spatial", target="gpu")
    (band,) = result.bands
    assert rows_of(band, "R") == ["j", "i", "k"]
    assert [row["spatial"] for row in details(result)] == [True, False, False]
    assert details(result)[0]["lines"] == ("C[i, j]", "B[k, j]")
    assert [member.coincident for member in band.members] == [True, True, False]


def test_lu_on_a_gpu_carries_outside_and_runs_along_lines_inside() -> None:
    result = schedule(kernels.lu(), "spatial", target="gpu")
    outer, column, inner = result.bands
    assert [rows_of(outer, name) for name in ("S1", "S2", "S3")] == [["k"], ["j"], ["k"]]
    assert rows_of(column, "S2") == ["i"]
    assert rows_of(inner, "S1") == rows_of(inner, "S3") == ["j", "i"]
    tagged = [row["functions"] for row in details(result) if row["spatial"]]
    assert tagged == [{"S1": "j", "S3": "j"}]


def test_a_gpu_falls_back_to_close_rows_where_no_parallel_row_runs_along_lines() -> None:
    part = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("0 <= i < n and 1 <= j < n", reads="A[i, j-1]", writes="A[i, j]"),
    )
    result = schedule(part, "spatial", target="gpu")
    first, *_ = details(result)
    assert first["functions"] == {"S": "i"}
    assert not first["spatial"]
    assert "No parallel row runs along lines" in decisions(result, "row")[0]


def test_fusion_may_lose_parallel_loops_but_not_the_last() -> None:
    """The second sweep reads a neighbour in both dimensions: only columns can be shared without a barrier."""
    sweeps = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        kernels.loop("i", kernels.loop("j", "R")),
        S=kernels.statement("0 <= i, j < n", writes="A[i, j]"),
        R=kernels.statement("1 <= i < n - 1 and 0 <= j < n", reads="A[i-1, j] A[i+1, j]", writes="B[i, j]"),
    )
    (band,) = schedule(sweeps, "spatial").bands
    assert [member.coincident for member in band.members] == [True, False]
    assert rows_of(band, "S")[0] == rows_of(band, "R")[0] == "j"


def test_fusion_that_would_leave_no_parallel_loop_is_refused_for_that() -> None:
    sweeps = kernels.scop(
        "n",
        kernels.loop("i", "S"),
        kernels.loop("i", "R"),
        S=kernels.statement("0 <= i < n", writes="A[i]"),
        R=kernels.statement("1 <= i < n - 1", reads="A[i-1] A[i+1]", writes="B[i]"),
    )
    result = schedule(sweeps, "spatial")
    assert len(result.bands) == 2
    assert decisions(result, "fusion") == ["S and R stay apart: no common row is parallel."]


def test_clusters_that_gain_nothing_stay_out() -> None:
    """R is used by Q at once, S only after all of it: the three have a common order, but S has no place in it."""
    part = kernels.scop(
        "n",
        kernels.loop("i", "S"),
        kernels.loop("i", "R"),
        kernels.loop("i", "Q"),
        S=kernels.statement("0 <= i < n", reads="D[i]", writes="A[i]"),
        R=kernels.statement("0 <= i < n", reads="A[n-1]", writes="B[i]"),
        Q=kernels.statement("0 <= i < n", reads="B[i]", writes="C[i]"),
    )
    assert [band.statements for band in schedule(part, "spatial").bands] == [("S",), ("Q", "R")]


def test_longer_lines_relate_longer_strides() -> None:
    part = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("0 <= i, j < n", reads="A[j, 5i]", writes="B[j, 5i]"),
    )
    inner = {line: rows_of(schedule(part, "spatial", line=line).bands[0], "S")[-1] for line in (4, 8)}
    assert inner == {4: "j", 8: "i"}


def test_a_line_holds_at_least_one_element() -> None:
    with pytest.raises(OptionError, match="a whole number from 1 on, not 0"):
        schedule(kernels.matmul(), "spatial", line=0)


def test_a_search_stopped_at_its_limit_is_not_called_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*arguments: Any, coincident: bool) -> Any:
        if coincident:
            raise SolveLimitError
        return few_row(*arguments, coincident=False)

    monkeypatch.setattr("polyviz.scheduling.spatial.few_row", stopped)
    first, *_ = details(schedule(kernels.lu(), "spatial"))
    assert first["relaxed"].startswith("the search for a parallel row was stopped at its limit")


def test_with_more_groups_than_can_be_tried_one_is_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row runs along the lines of both; without trying either, the more precious group is served."""
    part = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("0 <= i, j < n", reads="A[i, j] A[i, j + 1] B[j, i]", writes="C[i, 0]"),
    )
    monkeypatch.setattr("polyviz.scheduling.reuse_rows.MOST_SETS", 0)
    first, *_ = details(schedule(part, "spatial", target="gpu"))
    assert len(first["lines"]) == 1
    assert (
        "The search was stopped at its limit" in decisions(schedule(part, "spatial", target="gpu"), "row")[0]
    )


def test_reuse_that_is_not_known_is_said() -> None:
    part = kernels.scop(
        "n", kernels.loop("i", "S"), S=kernels.statement("0 <= i < n", reads="?B[*]", writes="A[i]")
    )
    assert decisions(schedule(part, "spatial"), "reuse")[0].startswith("1 of 2 references")


@settings(max_examples=12)
@given(programs())
@pytest.mark.slow
def test_random_programs_are_scheduled_legally(program: Program) -> None:
    part = program.scop()
    known = dependences(part)
    for options in ({}, {"target": "gpu"}, {"pressure_limit": 0}, {"relax_inner": False, "tile": 4}):
        result = schedule(part, "spatial", dependences=known, **options)
        assert check(part, result.map, known=known), f"{options} {program}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["2mm", "lu", "jacobi-2d", "seidel-2d", "fdtd-2d", "symm"])
def test_kernels_compute_the_same(name: str) -> None:
    entry = gallery.kernel(name)
    for target in ("cpu", "gpu"):
        chosen = pv.schedule(pv.extract(entry.function), "spatial", target=target)
        agree(entry.function, *entry.arguments("mini", seed=1), target="c", schedule=chosen)
