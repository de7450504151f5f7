"""Candidates tried for real: built, verified and raced in the worker, every fault an outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.calling import written_arrays
from polyviz.errors import CodegenError
from polyviz.runtime.race import Race
from polyviz.runtime.statistics import Samples
from polyviz.runtime.variants import Baseline
from polyviz.runtime.worker import shared_worker
from polyviz.tuning.candidates import Candidate
from polyviz.tuning.live import Live
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.model.program import Program

COPY = "def copy(A, B):\n    for i in range(len(A)):\n        A[i] = B[i] + 1.0\n"
DEFAULTS, FASTER, WRONG, REFUSED, EQUAL = (
    Candidate.of({} if name == "defaults" else {"name": name})
    for name in ("defaults", "faster", "wrong", "refused", "equal")
)


@pytest.fixture(scope="module")
def kernel() -> pv.Kernel:
    return pv.compile(function_of(COPY), target="python", schedule="original")


def live(kernel: pv.Kernel) -> Live:
    edits = {DEFAULTS: "1.0", EQUAL: "1.0", FASTER: "1.00", WRONG: "2.0"}

    def build(candidate: Candidate) -> Program:
        if candidate == REFUSED:
            raise CodegenError("No such loops.")
        return replace(kernel.program, text=kernel.program.text.replace("1.0", edits[candidate]))

    given = {"A": np.zeros(4), "B": np.arange(4.0)}
    race = Race(given, {"A_shape_0": 4}, written_arrays(kernel.scop), (), 1, 30.0)
    return Live(race, shared_worker(), Baseline(kernel.original, "python"), build)


def test_every_candidate_is_verified_and_every_fault_is_an_outcome(kernel: pv.Kernel) -> None:
    tried = live(kernel)
    first = tried.try_first(DEFAULTS)
    assert (first.status, first.verified) == ("accepted", True)
    wrong = tried.challenge(WRONG, DEFAULTS)
    assert (wrong.status, wrong.verified, wrong.note) == (
        "wrong",
        False,
        "A[0] is 2.0, the original loop gives 1.0",
    )
    assert tried.challenge(REFUSED, DEFAULTS).note == "No such loops."
    assert tried.challenge(EQUAL, DEFAULTS).note == "the same program as the defaults"


def test_one_text_may_be_compiled_and_run_in_different_ways(kernel: pv.Kernel) -> None:
    first = kernel.program
    assert first.runs_as(replace(first, notes=("another",)))
    for changed in ({"threads": 1}, {"scalar": True}, {"floating_point": "strict"}, {"target": "numba"}):
        assert not first.runs_as(replace(first, **changed))
    assert first.runs_as(replace(first, exact=True)) == (first.floating_point == "strict")


@pytest.mark.parametrize(
    ("seconds", "status", "races"),
    [(0.5, "accepted", 3), (0.99, "level", 2), (1.1, "slower", 2), (1.5, "slower", 1)],
)
def test_clearly_slower_candidates_are_dropped_early_and_faster_ones_raced_twice(
    kernel: pv.Kernel, monkeypatch: pytest.MonkeyPatch, seconds: float, status: str, races: int
) -> None:
    asked: list[int] = []

    def times(
        _race: Race, _worker: Any, variants: Any, repeats: int, _progress: Any = None
    ) -> dict[str, Samples]:
        asked.append(repeats)
        known = {"champion": 1.0, "candidate": seconds}
        return {label: Samples((known[label],) * repeats) for label in variants}

    tried = live(kernel)
    monkeypatch.setattr(Race, "times", times)
    tried.try_first(DEFAULTS)
    asked.clear()
    outcome = tried.challenge(FASTER, DEFAULTS)
    assert (outcome.status, outcome.ratio) == (status, 1.0 / seconds)
    assert len(asked) == races


def test_defaults_that_compute_something_else_cannot_be_tuned(kernel: pv.Kernel) -> None:
    with pytest.raises(
        pv.VerificationError, match="The defaults compute something else than the loop as written"
    ):
        live(kernel).try_first(WRONG)
