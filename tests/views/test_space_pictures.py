"""The domain in tiles and in blocks as static pictures: an outline for each, and the same groups as in the JSON."""

from __future__ import annotations

import base64
import re

import pytest

import polyviz as pv
from polyviz.api.shown import inspector_bundle
from polyviz.api.workbench import Workbench
from polyviz.gallery import kernel
from polyviz.views.cells import COLOURS
from polyviz.views.space_pictures import block_forms, tile_forms

LOOPS = """
def f(A):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += 1
"""


def pictures(html):
    return [base64.b64decode(found).decode() for found in re.findall(r"svg\+xml;base64,([^\"]+)", html)]


def tiled(*sizes):
    bench = Workbench(pv.inspect(LOOPS, schedules=("original",)), {"A_shape_0": 7, "A_shape_1": 7})
    bench.values = dict.fromkeys((one.name for one in bench.inspector.scop.parameters), 7)
    bench.apply("original", "tile", "i", {"sizes": sizes})
    model = bench.model()
    return bench, model, tile_forms(model, model["variants"][-1])


def test_a_tile_has_an_outline_a_name_and_another_colour_than_its_neighbour():
    _, _, (html, text) = tiled(4, 4)
    assert text == "S0: 49 instances in 4 tiles"
    [svg] = pictures(html)
    for name in ("tile (0, 0)", "tile (1, 1)"):
        assert name in svg
    outlines = re.findall(r'Z" fill="none" stroke="(#\w+)" stroke-width="1.6"', svg)
    assert sorted(outlines) == sorted([COLOURS[0], COLOURS[1], COLOURS[1], COLOURS[0]])


def test_one_tile_needs_no_picture():
    _, _, forms = tiled(32, 32)
    assert forms is None


def test_blocks_say_what_they_stand_for_and_threads_differ_in_strength():
    bench = Workbench(pv.inspect(kernel("gemm").function, schedules=("superposition",)))
    bench.map_to_device("superposition")
    model = bench.model()
    html, text = block_forms(model, model["variants"][0])
    assert "S0: 25 instances in 4 blocks" in text
    assert "a block spans 64 × 128" in text
    first, _ = pictures(html)
    assert "block (1, 0)" in first
    assert len(set(re.findall(r'opacity="(0\.\d+)"', first))) >= 3
    device = {**model["variants"][0]["device"], "blocks": None}
    assert block_forms(model, {**model["variants"][0], "device": device}) is None


@pytest.mark.parametrize("rank", [4])
def test_of_more_than_three_dimensions_a_slice_is_drawn_and_named(rank):
    names = "ijkl"[:rank]
    text = "def f(A):\n"
    for depth, name in enumerate(names):
        text += "    " * (depth + 1) + f"for {name} in range(4):\n"
    text += "    " * (rank + 1) + f"A[{', '.join(names)}] = 0"
    bench = Workbench(pv.inspect(text, schedules=("original",)))
    bench.apply("original", "tile", "j", {"sizes": (2,)})
    model = bench.model()
    html, _ = tile_forms(model, model["variants"][-1])
    [svg] = pictures(html)
    assert "the slice i = 1" in svg


def test_the_page_has_the_order_by_hand_and_its_tiles():
    bench, model, _ = tiled(4, 4)
    page = inspector_bundle(bench.inspector, model)["text/html"]
    assert "Schedule by hand" in page
    assert "Tiles: by hand" in page
