"""The scheduler of isl: its options reach it, its limit holds, the context is left as it was."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import islpy as isl
import pytest
from hypothesis import given, settings

from polyviz.analysis import check, dependences
from polyviz.frontend import extract
from polyviz.scheduling import SchedulingProblem, isl_process, isl_scheduler, schedule
from polyviz.scheduling.isl_scheduler import IslScheduler
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


def test_for_a_device_rows_are_parallel_rather_than_close() -> None:
    """One skewed band suits a processor; a grid is made of the cells of one time step."""
    plain, device = (schedule(kernels.jacobi_1d(), "isl", target=place) for place in ("cpu", "gpu"))
    assert [member.coincident for band in plain.bands for member in band.members] == [False, False]
    time, *cells = device.bands
    assert [member.rows for member in time.members] == [{"R": "t", "S": "t"}]
    assert [[member.coincident for member in band.members] for band in cells] == [[True], [True]]
    assert "a parallel outermost row" in device.decisions[0].text
    assert "a parallel outermost row" not in plain.decisions[0].text


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


def test_large_distances_are_left_to_a_process_that_can_be_stopped() -> None:
    """A single operation on these dependences has no end: no limit of isl's own strikes."""
    text = "for i in range(n):\n  for j in range(m):\n    A[i * 100 + j] = A[i * 100 + j] + B[j * 100 + i]"
    part = extract(f"def f(n, m, A, B):\n{textwrap.indent(text, ' ')}")
    assert check(part, schedule(part, "isl", time_limit=0.5).tree)


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


TEMPORARIES = kernels.scop(
    "n, m",
    kernels.loop("r", kernels.loop("p", "S", kernels.loop("s", "R")), kernels.loop("p", "T")),
    S=kernels.statement("0 <= r < n and 0 <= p < m", writes="sum[p]"),
    R=kernels.statement("0 <= r < n and 0 <= p, s < m", reads="sum[p] A[r, s] C[s, p]", writes="sum[p]"),
    T=kernels.statement("0 <= r < n and 0 <= p < m", reads="sum[p]", writes="A[r, p]"),
)
"""A row of temporaries that every iteration of r fills and uses again."""


def test_live_ranges_in_another_order_are_used_only_where_the_exact_dependences_allow_it() -> None:
    refused = schedule(TEMPORARIES, "isl", reorder_live_ranges=True)
    fallback, found = refused.decisions[:2]
    assert fallback.step == "fallback"
    assert "memory that is used again could not be proved private" in fallback.text
    assert found.step == "isl"
    assert "live ranges" not in found.text
    assert refused.map.is_equal(schedule(TEMPORARIES, "isl").map)


def test_live_ranges_may_keep_their_order() -> None:
    result = schedule(kernels.jacobi_1d(), "isl", reorder_live_ranges=True)
    assert result.decisions[0].text.endswith("live ranges in any order.")
    assert check(kernels.jacobi_1d(), result)


def test_only_dependences_that_pass_no_value_become_conditional() -> None:
    part = kernels.jacobi_1d()
    problem = SchedulingProblem(part, dependences(part))
    constraints = IslScheduler(reorder_live_ranges=True)._constraints(problem)
    assert constraints.get_validity().is_equal(problem.dependences.flow)
    memory = problem.dependences.anti.union(problem.dependences.output)
    assert constraints.get_conditional_validity().is_equal(memory)
    assert constraints.get_conditional_validity_condition().is_equal(problem.dependences.flow)


def test_isl_is_given_pieces_that_it_digests() -> None:
    part = kernels.heat_3d()
    known = dependences(part)
    constraints = IslScheduler()._constraints(SchedulingProblem(part, known))
    given, wanted = constraints.get_validity(), known.validity
    assert given.is_equal(wanted)
    assert max(piece.n_constraint() for piece in isl_scheduler._pieces(given)) <= 16
    assert max(piece.n_constraint() for piece in isl_scheduler._pieces(wanted)) > 16


def test_band_depth_is_an_option_that_reaches_isl() -> None:
    assert IslScheduler(maximize_band_depth=True)._options()["schedule_maximize_band_depth"] == 1
    assert IslScheduler(outer_coincidence=True, serialize=True)._options() == {
        "schedule_outer_coincidence": 1,
        "schedule_serialize_sccs": 1,
        "schedule_maximize_band_depth": 0,
    }


@pytest.mark.parametrize("limit", ["QUICK_CONSTRAINTS", "QUICK_PIECES"])
def test_relations_of_much_text_are_left_to_the_process(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(isl_scheduler, limit, 1)
    monkeypatch.setattr(isl_scheduler, "schedule_within", lambda *arguments: asked.append(arguments[-1]))
    result = schedule(kernels.matmul(), "isl", time_limit=7.0)
    assert asked == [7.0]
    assert result.decisions[0].step == "fallback"


def test_the_process_ends_at_its_limit_though_nobody_waits_for_it() -> None:
    """Its parent was killed, say: the request is there, but no one stops the process from outside."""
    part = kernels.heat_3d()
    constraints = IslScheduler()._constraints(SchedulingProblem(part, dependences(part)))
    request = json.dumps({"constraints": str(constraints), "options": {}, "seconds": 0.001})
    ended = subprocess.run(
        [sys.executable, isl_process.__file__],
        input=request,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stdout == ended.stderr == ""
