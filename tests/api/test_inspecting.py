"""inspect: what is known of a loop nest, for the sizes of the arguments where there are any."""

from __future__ import annotations

import json

import numpy as np
import pytest

import polyviz as pv
from polyviz.api.workbench import Workbench
from polyviz.errors import ArgumentError
from polyviz.views.schema import MIME

TRIANGLE = """
def triangle(A, n):
    for i in range(n):
        for j in range(i + 1):
            A[i, j] = A[i, j] + 1.0
"""


def test_small_sizes_of_the_arguments_are_drawn() -> None:
    inspector = pv.inspect(TRIANGLE, np.zeros((9, 9)), 9)
    assert dict(inspector.sizes) == {"n": 9}
    assert dict(inspector.counts) == {"S0": 45}
    text, html = (inspector._repr_mimebundle_()[kind] for kind in ("text/plain", "text/html"))
    assert "For n = 9: S0 runs 45 times." in text
    assert "n = 9" in html
    assert "Drawn for small values" not in html


def test_large_sizes_are_counted_and_the_picture_says_what_it_shows() -> None:
    inspector = pv.inspect(TRIANGLE, np.zeros((1000, 1000)), 1000)
    shown = inspector._repr_mimebundle_()
    assert "For n = 1000: S0 runs 500,500 times." in shown["text/plain"]
    assert "Drawn for small values" in shown["text/html"]


def test_without_arguments_no_size_is_claimed() -> None:
    inspector = pv.inspect(TRIANGLE)
    assert (dict(inspector.sizes), dict(inspector.counts)) == ({}, {})
    assert "runs" not in repr(inspector).split("==")[1]


def test_wrong_arguments_are_said() -> None:
    with pytest.raises(ArgumentError, match="missing a required argument: 'n'"):
        pv.inspect(TRIANGLE, np.zeros((3, 3)))


def test_schedules_of_ones_own_and_refusals() -> None:
    running = "def running(A):\n    for i in range(1, len(A)):\n        A[i] = A[i - 1]"
    inspector = pv.inspect(running, schedules={"same": "{ S0[i] -> [i] }", "backwards": "{ S0[i] -> [-i] }"})
    assert list(inspector.schedules) == ["same"]
    assert list(inspector.refusals) == ["backwards"]


def test_a_subscript_beyond_the_array_is_told_before_anything_runs() -> None:
    text = "def f(x, A, n):\n    for i in range(n + 1):\n        x[i] = A[0, i]"
    found = pv.inspect(text, np.zeros(7), np.zeros((2, 9)), 7, schedules=("original",))
    told = "For these sizes S0 goes beyond the end of `x`: its subscript reaches 7, and the last one is 6 (line 3)."
    assert found.warnings == (told,)
    assert Workbench(found).model()["warnings"] == [told]
    assert told.replace("`", "") in str(found).replace("`", "")
    fitting = pv.inspect(text, np.zeros(8), np.zeros((2, 9)), 7, schedules=("original",))
    assert fitting.warnings == ()


def test_a_saved_inspector_is_a_file_for_the_live_views(tmp_path) -> None:
    inspector = pv.inspect(TRIANGLE, np.zeros((9, 9)), 9, schedules=("original",))
    inspector.save(tmp_path / "triangle.polyviz.json")
    saved = json.loads((tmp_path / "triangle.polyviz.json").read_text())
    assert saved == json.loads(json.dumps(inspector._repr_mimebundle_()[MIME]))
