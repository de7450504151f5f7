from __future__ import annotations

import math
from dataclasses import replace

from polyviz.model.measurement import ComparisonData, Measurement, VariantRow
from polyviz.views.verdict import cells, median_text, speedup_text, verdict
from tests.views.samples import comparison, measured


def test_verdicts():
    data = comparison()
    assert verdict(data) == "fastest: pluto/c, 21.0 ms (20.6–21.4 ms), 38.1× (37.2–39.3) against original/numba"
    assert verdict(replace(data, best="original/numba")) == "fastest: original/numba, 800 ms (784–816 ms)"
    assert verdict(replace(data, best=None)) == "no winner: the fastest two cannot be told apart"
    alone = replace(data, best=None, rows=data.rows[:1])
    assert verdict(alone) == "no winner: nothing but the loop as written was timed"
    assert verdict(replace(data, rows=data.rows[3:])) == "no winner: nothing was timed and verified"


def test_an_unverified_row_never_wins():
    row = VariantRow("pluto", "c", "ok", None, measured(0.001), 100.0)
    assert (
        verdict(ComparisonData("f", (row,), None, "pluto/c", "", {}))
        == "no winner: nothing was timed and verified"
    )


def test_missing_numbers_are_dashes():
    data = comparison()
    assert cells(data.rows[4], data)[2:6] == ["–", "–", "–", "–"]
    assert cells(data.rows[3], data)[2] == "✗"
    row = VariantRow("s", "c", "ok", True, measured(1.0), 2.0)
    assert speedup_text(row) == "2.00×"
    assert median_text(row) == "1.00 s (980 ms–1.02 s)"
    once = Measurement((1.0,), 1.0, (-math.inf, math.inf))
    assert median_text(replace(row, measurement=once)) == "1.00 s"
