"""Who runs each drawn instance: blocks of which several fit, along the rows of the kernels themselves."""

from __future__ import annotations

import jsonschema
import pytest

import polyviz as pv
from polyviz.api.workbench import Workbench
from polyviz.gallery import kernel
from polyviz.views.linked_blocks import blocks_model
from polyviz.views.schema import json_schema

FILL = "def f(A, n: int):\n    for i in range(n):\n        for j in range(n):\n            A[i, j] = 1"


def shown(name, schedule, values=None):
    source = FILL if name == "fill" else kernel(name).function
    bench = Workbench(pv.inspect(source, schedules=(schedule,)), values)
    bench.map_to_device(schedule)
    model = bench.model()
    jsonschema.validate(model, json_schema("inspector"))
    return bench, model, model["variants"][0]["device"]["blocks"]


@pytest.mark.parametrize(("name", "schedule"), [("gemm", "superposition"), ("lu", "isl")])
def test_every_instance_has_a_block_and_a_thread_and_several_blocks_are_seen(name, schedule):
    _, model, blocks = shown(name, schedule)
    for statement in model["statements"]:
        own = blocks["at"][statement["name"]]
        assert len(own) == len(statement["points"])
        assert len({block for block, _ in own}) > 1
        assert max(thread for _, thread in own) < len(blocks["threads"])


def test_smaller_blocks_are_told_with_what_they_stand_for():
    _, model, blocks = shown("gemm", "superposition")
    [note] = blocks["notes"]
    assert "a block spans 64 × 128 (x × y) and has 16 × 16 threads; drawn are blocks of 4 × 4 with 2 × 2" in note
    by_place = dict(zip(map(tuple, model["statements"][0]["points"]), blocks["at"]["S0"], strict=True))
    # Along x the blocks follow j, along y they follow i; a thread takes every second cell.
    assert blocks["blocks"][by_place[0, 4][0]] == [0, 1, 0, 0]
    assert blocks["blocks"][by_place[4, 0][0]] == [0, 0, 1, 0]
    assert by_place[0, 1][1] == by_place[0, 3][1] == by_place[2, 3][1] != by_place[1, 3][1]


def test_blocks_of_which_several_fit_are_drawn_as_they_are():
    _, model, blocks = shown("fill", "isl", {"n": 20})
    assert blocks["notes"][0] == "Kernel 0: a block spans 16 × 16 (x × y) and has 16 × 16 threads."
    [own] = model["statements"]
    for point, (block, thread) in zip(own["points"], blocks["at"]["S0"], strict=True):
        i, j = point
        assert blocks["blocks"][block][1:] == [j // 16, i // 16, 0]
        assert blocks["threads"][thread] == [j % 16, i % 16, 0]


def test_instances_that_no_rule_covers_have_no_blocks():
    bench, _, _ = shown("gemm", "isl")
    rules = bench._variants["isl"].device.places
    assert blocks_model(rules[:1], bench.inspector.scop.context, bench._sketch.shown) is None
