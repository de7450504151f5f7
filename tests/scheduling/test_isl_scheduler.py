"""The scheduler of isl: its options reach it, its limit holds, the context is left as it was."""

from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import given, settings

from polyviz.analysis import check, dependences
from polyviz.scheduling import isl_scheduler, schedule
from tests.analysis.programs import Program, programs
from tests.scheduling import kernels


def test_bands_of_the_matrix_product() -> None:
    (band,) = schedule(kernels.matmul(), "isl").bands
    assert [member.rows["R"] for member in band.members] == ["i", "j", "k"]
    assert [member.coincident for member in band.members] == [True, True, False]


def test_serialize_fuses_nothing() -> None:
    assert len(schedule(kernels.pointwise_chain(), "isl").bands) == 1
    assert len(schedule(kernels.pointwise_chain(), "isl", serialize=True).bands) == 3


def test_outer_coincidence_wants_a_parallel_outermost_row() -> None:
    skewable = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("1 <= i, j < n", reads="A[i-1, j] A[i, j-1]", writes="A[i, j]"),
    )
    plain = schedule(skewable, "isl")
    assert not plain.bands[0].members[0].coincident
    assert len(plain.bands[0].members) == 2
    coincident = schedule(skewable, "isl", outer_coincidence=True)
    assert [len(band.members) for band in coincident.bands] == [1, 1]
    assert coincident.bands[1].members[0].coincident


def test_without_proximity_and_coincidence_only_legality_is_left() -> None:
    result = schedule(kernels.jacobi_1d(), "isl", proximity=False, coincidence=False)
    assert check(kernels.jacobi_1d(), result)
    assert result.decisions[0].text == "isl computed the order, asked for nothing but legality."


def test_the_limit_falls_back_to_the_source_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_scheduler, "QUICK_OPERATIONS", 10)
    part = kernels.heat_3d()
    result = schedule(part, "isl", time_limit=0.01)
    assert result.map.is_equal(schedule(part, "original").map)
    assert result.decisions[0].step == "fallback"
    assert result.decisions[0].text == (
        "Not isl but the order of the source was used: isl found no schedule within 0.01 s."
    )


def test_what_takes_longer_is_computed_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = schedule(kernels.pointwise_chain(), "isl", serialize=True)
    monkeypatch.setattr(isl_scheduler, "QUICK_OPERATIONS", 10)
    result = schedule(kernels.pointwise_chain(), "isl", serialize=True)
    assert result.decisions[0].step == "isl"
    assert result.map.is_equal(expected.map)


@pytest.mark.parametrize("operations", [10, 60_000])
def test_the_context_is_left_as_it_was(operations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_scheduler, "QUICK_OPERATIONS", operations)
    context = isl.DEFAULT_CONTEXT
    before = context.get_schedule_serialize_sccs(), context.get_max_operations()
    schedule(kernels.matmul(), "isl", serialize=True)
    assert (context.get_schedule_serialize_sccs(), context.get_max_operations()) == before


@settings(max_examples=30)
@given(programs())
def test_random_programs_are_scheduled_legally(program: Program) -> None:
    part = program.scop()
    known = dependences(part)
    assert check(part, schedule(part, "isl", dependences=known).map, known=known), str(program)
