"""The search on recorded times: what it accepts, when it stops, and what an interrupt leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from polyviz.errors import OptionError
from polyviz.runtime.worker import CancelledError
from polyviz.tuning.candidates import Candidate, Dimension, Space
from polyviz.tuning.executors import Simulated
from polyviz.tuning.search import INTERRUPTED, NOTHING_BETTER, Search
from polyviz.tuning.strategies import make_strategy, strategies

if TYPE_CHECKING:
    from polyviz.model.tuning import Trial

SPACE = Space((Dimension("pack", (True, False), True),), tile=(32,))
HILL = {"the defaults": 8.0, "tile 64": 4.0, "tile 128": 2.0, "tile 256": 3.0, "without pack": 7.0}


def search(times: dict[str, float], seconds: float = 1000.0, **changes: Any) -> tuple[Search, list[Trial]]:
    simulated = changes.pop("executor", None) or Simulated(times, **changes.pop("simulated", {}))
    learned: list[Trial] = []
    found = Search(
        space=changes.pop("space", SPACE),
        strategy=make_strategy(changes.pop("strategy", "climb")),
        executor=simulated,
        seconds=seconds,
        progress=changes.pop("progress", lambda *_: None),
        learned=learned.append,
        clock=simulated.clock,
        **changes,
    )
    return found, learned


def _searched(times: dict[str, float], strategy: str) -> list[Trial]:
    found, _ = search(times, strategy=strategy)
    found.run()
    return found.trials


def accepted(found: Search) -> list[str]:
    return [trial.name for trial in found.trials if trial.status == "accepted"]


def test_climbing_goes_up_until_no_neighbour_is_better() -> None:
    found, learned = search(HILL)
    assert found.run() == NOTHING_BETTER
    assert accepted(found) == ["the defaults", "tile 64", "tile 128"]
    assert [trial.name for trial in learned] == ["tile 64", "tile 128"]
    assert found.trials[-1].name != "tile 128"
    best = next(trial for trial in found.trials if trial.name == "tile 128")
    assert (best.speedup, best.seconds, best.options) == (4.0, 2.0, {"tile": (128,)})


def test_nothing_is_tried_twice() -> None:
    for strategy in strategies():
        found, _ = search(HILL, strategy=strategy)
        found.run()
        names = [trial.name for trial in found.trials]
        assert len(names) == len(set(names))


def test_sampling_finds_what_pays_only_together_and_is_patient_for_a_while() -> None:
    times = {"the defaults": 8.0, "without pack, tile 64": 1.0}
    climbing, _ = search(times)
    climbing.run()
    assert accepted(climbing) == ["the defaults"]
    sampling, _ = search(times, strategy="sample")
    assert sampling.run() == NOTHING_BETTER
    assert accepted(sampling) == ["the defaults", "without pack, tile 64"]


def test_a_search_can_be_repeated() -> None:
    runs = [search(HILL, strategy="sample")[0] for _ in range(2)]
    for run in runs:
        run.run()
    assert runs[0].trials == runs[1].trials


def test_the_time_is_kept() -> None:
    found, _ = search(HILL, seconds=3.0)
    assert found.run() == "the 3 seconds were up"
    assert [trial.elapsed for trial in found.trials] == [1.0, 2.0, 3.0]


def test_no_candidate_is_begun_that_would_mostly_run_beyond_the_time() -> None:
    for seconds, tried in ((9.5, 3), (11.0, 4)):
        found, _ = search(HILL, seconds=seconds, simulated={"cost": 3.0})
        assert found.run() == f"the {seconds:g} seconds were up"
        assert len(found.trials) == tried


def test_what_earlier_searches_tried_comes_last() -> None:
    known = frozenset({Candidate.of({"tile": (64,)}), Candidate.of({"tile": False})})
    flat = dict.fromkeys(("the defaults", "tile 64", "without tile", "tile 16", "without pack"), 1.0)
    for strategy in strategies():
        found, _ = search(flat, strategy=strategy, space=replace(SPACE, known=known))
        found.run()
        names = [trial.name for trial in found.trials]
        assert {"tile 64", "without tile"} <= set(names[3:]), strategy
    assert names != [trial.name for trial in _searched(flat, "sample")]


def test_what_computes_something_else_never_counts() -> None:
    found, learned = search(HILL, simulated={"wrong": frozenset({"tile 64"})})
    found.run()
    wrong = next(trial for trial in found.trials if trial.name == "tile 64")
    assert (wrong.status, wrong.verified) == ("wrong", False)
    assert "tile 64" not in [trial.name for trial in learned]


def test_luck_is_not_confirmed() -> None:
    found, _ = search({"the defaults": 8.0, "tile 64": 4.0}, simulated={"lucky": frozenset({"tile 64"})})
    found.run()
    assert accepted(found) == ["the defaults"]
    lucky = next(trial for trial in found.trials if trial.name == "tile 64")
    assert lucky.note == "not confirmed: in a last race against the defaults it was not clearly faster"


@pytest.mark.parametrize("error", [KeyboardInterrupt, CancelledError("stopped")])
def test_an_interrupt_keeps_what_was_learned(error: Any) -> None:
    def stop(name: str) -> None:
        if name == "tile 128":
            raise error

    found, learned = search(HILL, simulated={"before": stop})
    assert found.run() == INTERRUPTED
    assert accepted(found) == ["the defaults", "tile 64"]
    assert [trial.name for trial in learned] == ["tile 64"]


def test_what_was_found_before_is_tried_first() -> None:
    found, _ = search(HILL, first=(Candidate.of({"tile": (128,)}),))
    found.run()
    assert [trial.name for trial in found.trials[:2]] == ["the defaults", "tile 128"]


def test_progress_says_what_is_tried() -> None:
    told: list[str] = []
    found, _ = search(HILL, progress=lambda stage, *_: told.append(stage))
    found.run()
    assert told[:3] == [
        "tuning: verifying and timing the defaults",
        "tuning: 1 tried, best 1.00x, now tile 64",
        "tuning: 2 tried, best 2.00x, now tile 128",
    ]
    assert told[-1] == "tuning: confirming tile 128"


def test_an_unknown_strategy_is_one_line() -> None:
    with pytest.raises(OptionError) as caught:
        make_strategy("climp")
    assert str(caught.value) == "Unknown strategy 'climp' (did you mean `climb`?)."
