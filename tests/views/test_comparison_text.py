"""A comparison as plain text."""

from __future__ import annotations

from dataclasses import replace

from polyviz.model.measurement import ComparisonData, VariantRow
from polyviz.model.roofline import Peaks, Roofline, Work
from polyviz.views.comparison_text import comparison_text
from polyviz.views.verdict import cells
from tests.views.samples import comparison

ROOF = Roofline(
    Work(2_000_000_000, 30_000_000, 10_000_000, 40_000_000),
    Peaks({"float64": 200e9}, 20e9, 60e9, 32 << 20, 2),
    "float64",
)


def test_table_with_a_winner(golden):
    golden(comparison_text(comparison()))


def test_table_without_a_winner(golden):
    golden(comparison_text(comparison(best=None)))


def test_the_roofline_stands_in_the_text_too(golden):
    golden(comparison_text(replace(comparison(), roofline=ROOF)))


def test_what_ran_on_a_device_only_has_no_roofline():
    data = comparison()
    rows = tuple(replace(row, target="cuda") for row in data.rows)
    assert comparison_text(replace(data, rows=rows, roofline=ROOF)) == comparison_text(replace(data, rows=rows))


def test_no_rows_at_all():
    assert comparison_text(ComparisonData("f", (), None, None, "", {})) == (
        "Comparison of f\nVerdict: no winner: nothing was timed and verified."
    )


def test_what_was_kept_is_told_apart_from_what_was_compiled() -> None:
    row = VariantRow("pluto", "c", "ok", True)
    data = ComparisonData("f", (row,), None, None, "a machine", {})
    told = [cells(replace(row, compile_seconds=one), data)[5] for one in (None, 0.0, 0.25)]
    assert told == ["–", "kept", "250 ms"]
