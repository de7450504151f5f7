"""The history of a search as a table, and the sentence that sums it up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.model.tuning import Trial, Tuning
from polyviz.views.tuning import tuning_html, tuning_text
from tests.views.markup import pictures_in, texts

if TYPE_CHECKING:
    from collections.abc import Callable

TRIALS = (
    Trial({}, "the defaults", "accepted", True, 0.02, 1.0, elapsed=1.0),
    Trial({"tile": (16,)}, "tile 16", "accepted", True, 0.01, 2.0, elapsed=2.0),
    Trial({"pack": False}, "without pack", "wrong", False, note="A[0] is 1.0, not 2.0", elapsed=3.0),
    Trial({"threads": 1}, "threads 1", "same", note="the same program as the defaults", elapsed=3.1),
)
TUNING = Tuning(
    "gemm",
    "pluto",
    "c",
    {"n": 500},
    "climb",
    TRIALS,
    "the 3 seconds were up",
    3.1,
    remembered="cache/tuning/x.json",
)


def test_the_table(golden: Callable[..., None]) -> None:
    golden(tuning_text(TUNING))


def test_the_best_is_the_last_that_was_accepted() -> None:
    assert TUNING.best is TRIALS[1]
    assert TUNING.options == {"tile": (16,)}
    assert TUNING.speedup == 2.0


def test_nothing_better_and_nothing_at_all() -> None:
    assert "The defaults are the best of what was tried" in tuning_text(replace(TUNING, trials=TRIALS[:1]))
    nothing = replace(TUNING, trials=(), ended="it was interrupted")
    assert "Nothing was measured: it was interrupted." in tuning_text(nothing)
    assert (nothing.best, nothing.options, nothing.speedup) == (None, {}, 1.0)


def test_html_is_a_table_that_needs_no_script() -> None:
    html = tuning_html(TUNING)
    assert html.count("<tr>") == 5
    assert "<script" not in html
    assert "tile 16 ★" in html


def test_what_was_timed_is_drawn() -> None:
    [svg] = pictures_in(tuning_html(TUNING))
    shown = texts(svg)
    assert shown[:2] == ["Tuning of gemm for n = 500", "4 candidates, 2 timed"]
    assert {"the defaults", "tile 16 ★", "10.0 ms   2.00×"} <= set(shown)
    assert "without pack" not in shown
    nothing = tuning_html(replace(TUNING, trials=TRIALS[2:]))
    assert "<img" not in nothing


def test_of_many_candidates_the_fastest_and_the_defaults_are_drawn() -> None:
    slow = [Trial({"tile": (n,)}, f"tile {n}", "slower", True, n / 100, 0.1) for n in range(3, 60)]
    [svg] = pictures_in(tuning_html(replace(TUNING, trials=(TRIALS[0], *slow))))
    shown = texts(svg)
    assert "the defaults ★" in shown
    assert "tile 17" in shown
    assert "tile 18" not in shown
    assert "58 candidates, 58 timed, the 15 fastest of them and the defaults drawn" in shown
