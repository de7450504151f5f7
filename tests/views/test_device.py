"""Kernels of blocks and threads as text, tables, pictures and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import jsonschema
import numpy as np
import pytest

import polyviz as pv
from polyviz.gallery import kernel as entry_of
from polyviz.mapping.thread_pictures import LONGEST
from polyviz.model.device_view import DeviceRun, PlacedIteration, ResourceRow
from polyviz.views.device_picture import draw, sentences
from polyviz.views.fit import LIMIT, size
from polyviz.views.schema import MIME, json_schema


@cache
def view_of(name, schedule="superposition", elements=None):
    device = {"elements": elements}
    return pv.compile(
        entry_of(name).function, schedule=schedule, target="emulated", device=device
    ).device_view()


def picture_of(view, statement):
    return next(picture for picture in view.pictures if picture.statement == statement)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["superposition", "isl"])
def test_text_of_a_view(golden, schedule):
    golden(repr(view_of("doitgen-expanded", schedule)))


def test_a_processor_has_no_blocks():
    assert pv.compile(entry_of("gemm").function, target="python").device_view() is None


def test_accesses_that_a_run_did_not_make_are_told_from_those_of_no_run():
    view = view_of("doitgen-expanded")
    assert "did not run" not in view._repr_mimebundle_()["text/html"]
    counted = replace(view, run=DeviceRun({"n": 4}, 1, 2, 10, 20, 400, 3))
    shown = counted._repr_mimebundle_()
    assert "did not run" in shown["text/html"]
    assert "20 transactions for 10 requests of global memory (2.00 per request)" in shown["text/html"]
    assert "Counted in the emulator: n = 4: 1 launch, 2 barriers passed" in shown["text/plain"]
    assert shown[MIME]["run"]["moved"] == 2560
    jsonschema.validate(shown[MIME], json_schema("device"))


def test_every_iteration_is_drawn_once_with_its_block_and_thread():
    view = view_of("gemm")
    picture = picture_of(view, "S0")
    assert picture.iterators == ("i", "j")
    ni, nj = picture.values["ni"], picture.values["nj"]
    tile = {loop.row: loop.tile for loop in view.trees.shared if "S0" in loop.statements}
    assert ni > tile["i"]
    assert nj > tile["j"]
    x, y, _ = picture.block
    wanted = [
        PlacedIteration((i, j), (j // tile["j"], i // tile["i"], 0), (j % x, i % y, 0))
        for i in range(min(ni, LONGEST[2]))
        for j in range(min(nj, LONGEST[2]))
    ]
    assert list(picture.points) == wanted


def test_cells_of_one_thread_are_as_far_apart_as_there_are_threads():
    for one in picture_of(view_of("gemm"), "S0").points:
        i, j = one.iteration
        assert (one.block, one.thread) == ((j // 64, i // 128, 0), (j % 16, i % 16, 0))


def test_iterations_dealt_to_the_threads_of_a_tile_come_round():
    picture = picture_of(view_of("jacobi-2d-alt"), "S0")
    assert (picture.iterators, picture.fixed) == (("i", "j"), {"t": 0})
    for one in picture.points:
        assert one.block == (one.iteration[0] // 32, 0, 0)
        assert one.thread == (one.iteration[1] % 32, one.iteration[0] % 32, 0)


def test_a_shared_sum_is_dealt_to_all_threads():
    view = view_of("gesummv")
    picture = picture_of(view, "S2")
    assert {one.thread[0] for one in picture.points} == set(range(32))
    assert any("a share of the sum" in rule for rule in picture.rules)


def test_a_statement_without_iterations_for_small_sizes_says_so():
    def late(A, n):
        for i in range(5000, n):
            A[i] = 0.0

    view = pv.compile(late, schedule="isl", target="emulated").device_view()
    assert view.pictures[0].points == ()
    assert sentences(view.pictures[0])[-1] == "no iteration for small sizes"
    assert "no iteration for small sizes" in view._repr_mimebundle_()["text/html"]


def test_a_large_tile_is_drawn_in_part_and_says_so():
    view = pv.compile(entry_of("gemm").function, schedule="isl", target="emulated", tile=128).device_view()
    picture = picture_of(view, "S0")
    assert len(picture.points) == LONGEST[2] ** 2
    assert picture.note == "only the first 70 values of i and j"


def test_loops_of_both_levels():
    trees = view_of("jacobi-2d-alt").trees
    assert not trees.same
    assert [loop.text for loop in trees.shared] == [
        "i: blocks along x in tiles of 32, threads along y inside a tile"
    ]
    assert view_of("doitgen-expanded", "isl").trees.same


@pytest.mark.parametrize("name", ["doitgen-expanded", "gemm", "gesummv", "mri-q"])
def test_the_model_is_valid_and_small(name):
    shown = view_of(name)._repr_mimebundle_()
    model = shown[MIME]
    jsonschema.validate(model, json_schema("device"))
    assert size(model) < LIMIT
    assert json.loads(json.dumps(model, allow_nan=False)) == model
    assert len(model["kernels"]) == len(view_of(name).cards)
    for forbidden in ("<script", "<style", "<svg", "onclick"):
        assert forbidden not in shown["text/html"]
    assert shown["text/html"].count("data:image/svg+xml;base64,") == len(model["pictures"])


def test_the_picture_has_a_colour_per_block_and_a_ring_per_thread(golden):
    golden(draw(picture_of(view_of("doitgen-expanded"), "S2")), "svg")


def test_counts_of_the_emulator_stand_in_the_table():
    made = pv.compile(entry_of("doitgen-expanded").function, schedule="isl", target="emulated")
    made(*(np.ones(shape, np.float32) for shape in ((16, 16, 32), (32, 32), (16, 16, 32))))
    shown = made.device_view()._repr_mimebundle_()
    assert "32.00 in" in shown["text/html"]
    assert "32.00 counted in" in shown["text/plain"]


def test_a_kernel_shows_its_blocks_and_threads():
    made = pv.compile(entry_of("gemm").function, schedule="superposition", target="emulated")
    shown = made._repr_mimebundle_()
    assert "Blocks and threads" in shown["text/html"]
    assert "device" in [section["model"]["kind"] for section in shown[MIME]["sections"] if section["model"]]


def test_what_the_compiler_reports_stands_below_where_it_was_asked_for():
    view = view_of("gemm")
    assert "What the compiler reports" not in view._repr_mimebundle_()["text/plain"]
    rows = (ResourceRow("kernel_gemm_0", "sm_90", 172, 24576, 16, 0.25),)
    shown = replace(view, resources=rows, compiler="NVRTC 13.5")._repr_mimebundle_()
    assert shown["text/plain"].endswith(
        "What the compiler reports without a device; occupancy is estimated (NVRTC 13.5):\n"
        "  kernel_gemm_0 on sm_90: 172 registers, 24576 bytes of shared memory, 16 bytes spilled, occupancy 25 %"
    )
    assert "24.0 KiB" in shown["text/html"]
    jsonschema.validate(shown[MIME], json_schema("device"))
    assert shown[MIME]["resources"][0]["registers"] == 172


@pytest.mark.slow
def test_a_missing_compiler_is_said_instead():
    shown = replace(view_of("gemm"), compiler="CuPy is not installed")._repr_mimebundle_()
    assert "occupancy is estimated (CuPy is not installed)" in shown["text/html"]
