"""What all domain pictures share."""

import re

import pytest

from polyviz.views.drawing import axis
from polyviz.views.svg import Canvas


@pytest.mark.parametrize(
    ("name", "width", "middle"),
    [("i", 400.0, 160.0), ("time_step", 400.0, 190.4), ("time_step", 200.0, 163.8), ("time_step", 100.0, 160.0)],
)
def test_a_long_name_begins_behind_the_head_of_its_axis_where_it_fits(name, width, middle):
    canvas = Canvas(width, 60.0, "a picture")
    axis(canvas, (20.0, 30.0), (150.0, 30.0), name, (160.0, 35.0))
    found = re.search(r'<text x="([\d.]+)"', canvas.render())
    assert found
    assert float(found[1]) == pytest.approx(middle)


def test_the_name_of_an_upright_axis_stays_above_it():
    canvas = Canvas(400.0, 200.0, "a picture")
    axis(canvas, (20.0, 150.0), (20.0, 30.0), "column_index", (60.0, 24.0))
    assert '<text x="60"' in canvas.render()
