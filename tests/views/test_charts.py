from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from polyviz.model.measurement import ComparisonData, VariantRow
from polyviz.views import charts
from polyviz.views.palette import BLUE, GREEN
from tests.views.markup import SVG, assert_picture, texts
from tests.views.samples import comparison, measured


@pytest.mark.parametrize("best", ["pluto/c", None])
def test_chart(best, golden):
    """Looked at as pictures before they were kept."""
    svg = charts.draw(comparison(best))
    assert_picture(svg)
    golden(svg, "svg")


def bars(svg: str) -> dict[str, float]:
    """Fill colours of the bars and their widths."""
    found = {}
    for path in ElementTree.fromstring(svg).iter(f"{SVG}path"):
        if path.get("fill") not in ("none", None) and path.get("d").count("L") == 3:
            corners = [float(part.split()[0]) for part in path.get("d").strip("MZ").split("L")]
            found.setdefault(path.get("fill"), []).append(max(corners) - min(corners))
    return found


def test_linear_bars_are_as_long_as_the_times():
    rows = (
        VariantRow("original", "numba", "ok", True, measured(0.4), is_baseline=True),
        VariantRow("isl", "c", "ok", True, measured(0.1), 4.0),
    )
    svg = charts.draw(ComparisonData("f", rows, "original/numba", "isl/c", "m", {}))
    widths = bars(svg)
    assert widths[charts.BASELINE][0] / widths[GREEN][0] == pytest.approx(4, rel=0.01)
    assert not any("logarithmic" in text for text in texts(svg))


def test_a_wide_spread_is_logarithmic_and_says_so():
    svg = charts.draw(comparison())
    assert any(text.startswith("logarithmic axis") for text in texts(svg))
    assert len(bars(svg)[BLUE]) == 1


def test_nobody_is_green_without_a_winner():
    assert GREEN not in bars(charts.draw(comparison(None)))


def test_rows_without_a_time_are_words():
    shown = texts(charts.draw(comparison()))
    assert "wrong: C[3, 4] is 1.0 instead of 2.0" in shown
    assert "unavailable: no CUDA device" in shown


def test_a_row_that_was_only_counted_is_no_warning():
    row = VariantRow("s", "emulated", "ok", True, None, None, note="12 transactions")
    shown = charts.draw(replace(comparison(), rows=(row, *comparison().rows)))
    colour = {one.text: one.get("fill") for one in ElementTree.fromstring(shown).iter(f"{SVG}text")}
    assert colour["not timed: 12 transactions"] != colour["unavailable: no CUDA device"]


def test_unverified_bars_are_marked():
    row = VariantRow("s", "c", "ok", None, measured(0.1), 2.0)
    shown = texts(charts.draw(ComparisonData("f", (row,), None, None, "m", {})))
    assert "100 ms   2.00×   not verified" in shown


@pytest.mark.parametrize("seconds", [0.0, float("inf"), float("nan"), 1e-12, 1e9])
def test_odd_times_do_not_break_the_chart(seconds):
    rows = (VariantRow("s", "c", "ok", True, measured(seconds)), *comparison().rows)
    assert_picture(charts.draw(replace(comparison(), rows=rows)))


def test_no_rows_and_hostile_names():
    assert_picture(charts.draw(ComparisonData("f", (), None, None, "", {})))
    hostile = VariantRow("<script>", "&", "failed", None, note="</svg>")
    svg = charts.draw(ComparisonData("</title>", (hostile,), None, None, "<b>", {}))
    assert_picture(svg)
    assert "failed: </svg>" in texts(svg)


def test_figure_has_the_same_bars():
    figure = charts.figure(comparison())
    (bar,) = figure.data
    assert list(bar.x) == [0.8, 0.5, 0.021]
    assert list(bar.y)[2] == "pluto/c ★"
    assert figure.layout.xaxis.type == "log"
    assert "unavailable" in figure.layout.title.subtitle.text


def test_plotly_is_loaded_only_for_a_figure():
    code = "import polyviz.views.bundles, sys; print('plotly' in sys.modules, 'matplotlib' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "False"]


def test_an_axis_over_many_decades_labels_a_few_of_them():
    scale = charts.Scale(1e-8, 2.0, True, 0.0, 350.0)
    assert scale.ticks() == pytest.approx([1e-8, 1e-6, 1e-4, 1e-2, 1.0])
