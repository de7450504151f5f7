"""Rooflines and searches as pictures and as JSON."""

from __future__ import annotations

from dataclasses import replace

import jsonschema
import pytest

from polyviz.model.roofline import Peaks, Roofline, Work
from polyviz.views import roofline_chart, tuning_chart
from polyviz.views.bundles import comparison_bundle, tuning_bundle
from polyviz.views.schema import MIME, json_schema
from polyviz.views.timing_models import comparison_model, tuning_model
from tests.views.markup import assert_picture, assert_static, pictures_in, texts
from tests.views.samples import comparison, measured
from tests.views.test_tuning import TRIALS, TUNING

PEAKS = Peaks({"float64": 200e9}, 20e9, 60e9, 32 << 20, 2)
ROOF = Roofline(Work(2_000_000_000, 30_000_000, 10_000_000, 40_000_000), PEAKS, "float64")
MEASURED = replace(comparison(), roofline=ROOF)


def test_every_variant_is_told_as_a_share_of_the_limit():
    assert roofline_chart.rows(MEASURED, ROOF) == [
        ("original/numba (baseline)", "2.50", "1%", "10.0 ms, multiply-add peak"),
        ("original/c", "4.00", "2%", "10.0 ms, multiply-add peak"),
        ("pluto/c ★", "95.2", "48%", "10.0 ms, multiply-add peak"),
    ]


@pytest.mark.parametrize(("traffic", "sentence"), [(30_000_000_000, "stay, from one run"), (10, "was disturbed")])
def test_more_than_the_whole_limit_is_explained(traffic, sentence):
    roof = Roofline(Work(200_000_000_000, traffic, 10_000_000, 40_000_000), PEAKS, "float64")
    data = replace(MEASURED, roofline=roof)
    assert sentence in roofline_chart.comparison_notes(data)[-1]
    assert sentence in comparison_bundle(data)["text/html"]
    assert sentence in comparison_model(data)["notes"][-1]
    assert roofline_chart.comparison_notes(MEASURED) == list(MEASURED.notes)


def test_a_measurement_that_contradicts_itself_is_told():
    slow = replace(MEASURED, roofline=replace(ROOF, peaks=replace(PEAKS, copy=16.5e9, cached_copy=7.3e9)))
    assert "slower than memory, which cannot be" in roofline_chart.comparison_notes(slow)[-1]
    assert "slower than memory, which cannot be" in comparison_bundle(slow)["text/html"]
    noise = replace(MEASURED, roofline=replace(ROOF, peaks=replace(PEAKS, cached_copy=19e9)))
    assert roofline_chart.comparison_notes(noise) == list(noise.notes)


def test_the_roofline_is_a_picture(golden):
    svg = roofline_chart.draw(MEASURED, ROOF)
    assert_picture(svg)
    assert "pluto/c ★ 48%" in texts(svg)
    golden(svg, "svg")


def test_work_that_waits_for_memory_has_another_limit():
    roof = replace(ROOF, work=Work(1_000_000, 30_000_000, 10_000_000, 40_000_000))
    assert "set by the copy bandwidth" in roofline_chart.describe(MEASURED, roof)
    assert_picture(roofline_chart.draw(MEASURED, roof))


def test_what_ran_on_a_device_is_not_below_the_roof_of_the_processor():
    row = replace(MEASURED.rows[2], target="cuda")
    assert roofline_chart.placed(replace(MEASURED, rows=(row,))) == []


@pytest.mark.parametrize("seconds", [1e-9, 1e9])
def test_odd_times_do_not_break_the_roofline(seconds):
    rows = (replace(MEASURED.rows[2], measurement=measured(seconds)),)
    assert_picture(roofline_chart.draw(replace(MEASURED, rows=rows), ROOF))


def test_a_comparison_shows_its_roofline_or_says_how_to_get_one():
    shown = comparison_bundle(MEASURED)["text/html"]
    assert_static(shown)
    assert len(pictures_in(shown)) == 2
    assert "polyviz doctor --measure" in comparison_bundle(comparison())["text/html"]


def test_models_are_valid():
    found = comparison_model(MEASURED)
    jsonschema.validate(found, json_schema("comparison"))
    assert found["roofline"]["limit"] == pytest.approx(0.01)
    search = tuning_model(TUNING)
    jsonschema.validate(search, json_schema("tuning"))
    assert [one["best"] for one in search["trials"]] == [False, True, False, False]


def test_a_search_is_a_picture_with_stairs(golden):
    svg = tuning_chart.draw(TUNING)
    assert_picture(svg)
    assert "★ tile 16" in texts(svg)
    golden(svg, "svg")


def test_a_search_without_a_time_is_a_table_only():
    nothing = replace(TUNING, trials=TRIALS[2:])
    assert pictures_in(tuning_bundle(nothing)["text/html"]) == []
    assert len(pictures_in(tuning_bundle(TUNING)["text/html"])) == 1
    assert tuning_bundle(TUNING)[MIME]["kind"] == "tuning"
