"""Who runs which iteration, in runs that unfold to every iteration again."""

from __future__ import annotations

import jsonschema

import polyviz as pv
from polyviz.api.building import build_kernel
from polyviz.api.workbench import Workbench
from polyviz.model.device_view import PlacedIteration
from polyviz.views.linked_device import linked_device_model, runs_of
from polyviz.views.schema import json_schema

PRODUCT = """
def product(A, B, C, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]
"""


def unfolded(runs, dimensions):
    for run in runs:
        *first, count = run
        start, block = first[:dimensions], first[dimensions : dimensions + 3]
        thread, step = first[dimensions + 3 : dimensions + 6], first[dimensions + 6 :]
        for turn in range(count):
            place = (*start[:-1], start[-1] + turn)
            yield place, tuple(block), tuple(one + turn * by for one, by in zip(thread, step, strict=True))


def test_runs_unfold_to_every_iteration():
    bench = Workbench(pv.inspect(PRODUCT, schedules=("superposition",)))
    found = bench.inspector
    kernel = build_kernel(
        found.scop,
        found.dependences,
        found.scop,
        schedule=found.schedules["superposition"],
        target="emulated",
    )
    view = kernel.device_view()
    [picture] = view.pictures
    runs = runs_of(picture.points)
    assert len(runs) < len(picture.points) / 5
    assert list(unfolded(runs, 2)) == [(one.iteration, one.block, one.thread) for one in picture.points]
    [model] = linked_device_model(view)["pictures"]
    assert model["runs"] == runs


def test_a_run_ends_with_its_block_and_where_the_threads_turn_back():
    points = [PlacedIteration((j,), (j // 6, 0, 0), (j % 3, 0, 0)) for j in range(8)]
    assert [run[-1] for run in runs_of(points)] == [3, 3, 2]
    other_block = [PlacedIteration((j,), (j // 4, 0, 0), (j, 0, 0)) for j in range(8)]
    assert [run[-1] for run in runs_of(other_block)] == [4, 4]


def test_no_coordinates_at_all():
    assert runs_of([PlacedIteration((), (0, 0, 0), (0, 0, 0))]) == [[*[0] * 9, 1]]


def test_the_kernels_are_in_the_model_once_they_were_asked_for():
    bench = Workbench(pv.inspect(PRODUCT, schedules=("superposition", "pluto")))
    assert [one["device"] for one in bench.model()["variants"]] == [None, None]
    bench.map_to_device("pluto")
    model = bench.model()
    jsonschema.validate(model, json_schema("inspector"))
    device = model["variants"][1]["device"]
    assert model["variants"][0]["device"] is None
    assert device["kernels"][0]["promotions"]
    assert device["kernels"][0]["accesses"][0]["strides"]
    assert device["pictures"][0]["iterators"] == ["i", "j"]
    assert all(loop.startswith("kernel ") for loop in device["shared"])


def test_the_tiles_are_those_of_the_mapping():
    bench = Workbench(pv.inspect(PRODUCT, schedules=("superposition",)))
    bench.map_to_device("superposition")
    shared = bench.model()["variants"][0]["device"]["shared"]
    assert any("i: blocks along y in tiles of" in loop for loop in shared)
