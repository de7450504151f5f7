from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from polyviz.benchmark import limits
from polyviz.benchmark.contest import Contest, _kept
from polyviz.benchmark.entrants import Entrant, Entry
from polyviz.benchmark.records import VariantRecord
from polyviz.benchmark.subject import Data
from polyviz.benchmark.workers import Workers
from tests.benchmark.fakes import STALL, FakePeer, InlineWorkers, entrant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.benchmark.records import KernelRecord
    from polyviz.benchmark.subject import Subject
    from tests.benchmark.fakes import Behaviour

MVT = Data("mvt", "mini", "float64")


def contest(*behaviours: Behaviour, budget: float = 60.0, repeats: int = 2) -> KernelRecord:
    """The record of fakes of those behaviours as peers, and one right variant of polyviz."""

    def gather(_: object, subject: Subject) -> Sequence[Entrant]:
        return [
            *(entrant(subject, behaviour) for behaviour in behaviours),
            entrant(subject, "right", "polyviz"),
        ]

    return Contest(InlineWorkers(), gather, repeats, budget, lambda _: None).run(MVT)


def row_of(record: KernelRecord, label: str):
    return next(variant for variant in record.variants if variant.label == label)


def test_right_variants_are_verified_and_timed_in_the_same_rounds() -> None:
    record = contest("right", "slow")
    assert [variant.verified for variant in record.variants] == [True, True, True]
    assert [len(variant.samples) for variant in record.variants] == [2, 2, 2]
    assert record.best_peer is not None
    assert record.best_peer.label == "right"
    assert record.sizes == {"n": 40}


def test_a_wrong_result_is_a_row_without_times() -> None:
    row = row_of(contest("wrong"), "wrong")
    assert (row.status, row.verified, row.samples) == ("wrong", False, ())
    assert row.note.startswith("x2[3] is ")


def test_a_result_that_is_right_only_at_first_is_wrong() -> None:
    row = row_of(contest("wavers"), "wavers")
    assert (row.status, row.verified, row.samples) == ("wrong", False, ())
    assert row.note.startswith("right in its first run, wrong in the last one: x2[3] is ")


def test_an_argument_that_must_not_change_is_compared_too() -> None:
    row = row_of(contest("meddles"), "meddles")
    assert (row.status, row.verified, row.note) == ("wrong", False, "it changed A")


def test_a_wrong_peer_is_never_the_best_one() -> None:
    record = contest("wrong", "slow")
    assert record.best_peer is not None
    assert record.best_peer.label == "slow"


def test_what_raises_is_a_row_with_its_reason() -> None:
    record = contest("raises", "fails to compile")
    assert row_of(record, "raises").note == "division by zero"
    assert row_of(record, "fails to compile").note == "no such type"
    assert {row_of(record, label).status for label in ("raises", "fails to compile")} == {"failed"}


def test_the_rest_is_compared_when_one_fails() -> None:
    record = contest("raises")
    assert row_of(record, "right/polyviz").verified


def test_when_the_time_is_used_up_both_sides_still_have_somebody() -> None:
    record = contest("raises", "right", "slow", budget=-1.0)
    assert [variant.status for variant in record.variants] == ["failed", "ok", "cancelled", "ok"]
    assert row_of(record, "slow").note == "not run, since the time for this kernel was used up"


def test_what_does_not_fit_into_the_budget_is_run_once() -> None:
    record = contest("right", "slow", budget=0.5)
    assert [len(variant.samples) for variant in record.variants] == [2, 0, 2]
    slow = row_of(record, "slow")
    assert slow.verified
    assert slow.first_seconds is not None
    assert slow.note == "run once only, too slow for the rounds"


@pytest.mark.slow
def test_a_first_run_during_which_the_machine_stood_still_keeps_nobody_out() -> None:
    record = contest("right", "stalls")
    assert [len(variant.samples) for variant in record.variants] == [2, 2, 2]
    stalled = row_of(record, "stalls")
    assert stalled.first_seconds is not None
    assert stalled.first_seconds > STALL


def test_the_two_closest_of_each_side_are_timed_whatever_the_budget() -> None:
    rows = [
        VariantRecord("peer", "", label, "", "ok", True, seconds)
        for label, seconds in (("a", 1.0), ("b", 1.4), ("c", 1.45))
    ]
    rows.append(VariantRecord("polyviz", "", "d", "", "ok", True, 9.0))
    rows.append(VariantRecord("polyviz", "", "e", "", "ok", True, 20.0))
    seconds = {row.label: row.first_seconds or 0.0 for row in rows}
    assert _kept(rows, seconds) == {"a", "b", "d"}
    assert _kept(rows, {}) == set()


def test_a_kernel_that_cannot_be_analysed_is_a_note() -> None:
    def gather(_: object, subject: Subject) -> Sequence[Entrant]:
        raise RuntimeError("no entrants today")

    record = Contest(InlineWorkers(), gather, 2, 1.0, lambda _: None).run(MVT)
    assert record.variants == ()
    assert record.notes == ("nothing was run: no entrants today",)


@pytest.mark.slow
def test_crash_and_hang_and_absence_are_rows(
    cache_directory: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHORTEST_LIMIT", 2.0)
    peers = (
        FakePeer("good", ("right",)),
        FakePeer("bad", ("crashes", "hangs")),
        FakePeer("gone", missing="it is not installed"),
    )
    with Workers() as workers:
        entry = Entry(peers, ("original", "pluto"), ("numba",))
        record = Contest(workers, entry, 2, 10.0, lambda _: None).run(MVT)
    found = {variant.label: (variant.status, variant.verified) for variant in record.variants}
    assert found == {
        "good": ("ok", True),
        "crashes": ("crashed", None),
        "hangs": ("timeout", None),
        "gone": ("unavailable", None),
        "original/numba": ("ok", True),
        "pluto/numba": ("ok", True),
    }
    assert row_of(record, "gone").note == "it is not installed"
    assert "SIGSEGV" in row_of(record, "crashes").note
    assert row_of(record, "pluto/numba").decisions
    assert row_of(record, "pluto/numba").generate_seconds is not None
