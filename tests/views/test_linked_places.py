"""When the drawn instances run on a device: every dependence goes forward, and a thread does one thing at a time."""

from __future__ import annotations

import jsonschema
import pytest

import polyviz as pv
from polyviz.api.workbench import Workbench
from polyviz.gallery import kernel
from polyviz.views.linked_places import places_model
from polyviz.views.schema import json_schema


def shown(name, schedule):
    bench = Workbench(pv.inspect(kernel(name).function, schedules=(schedule,)))
    bench.map_to_device(schedule)
    model = bench.model()
    return model, model["variants"][0]["device"]["places"]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("name", "schedule"), [("gemm", "superposition"), ("jacobi-2d-alt", "isl"), ("lu", "superposition")]
)
def test_every_instance_has_a_step_and_a_lane_of_its_own(name, schedule):
    model, places = shown(name, schedule)
    jsonschema.validate(model, json_schema("inspector"))
    for statement in model["statements"]:
        own = places["at"][statement["name"]]
        assert len(own) == len(statement["points"])
        assert len({tuple(one) for one in own}) == len(own)
        assert all(0 <= lane < 32 and 0 <= step < len(places["steps"]) for step, lane in own)


@pytest.mark.parametrize(
    ("name", "schedule"), [("jacobi-2d-alt", "superposition"), ("lu", "isl")]
)
def test_what_depends_on_an_instance_of_the_same_block_comes_later(name, schedule):
    model, places = shown(name, schedule)
    for relation in model["relations"]:
        if relation["kind"] == "input":
            continue
        sources, sinks = places["at"][relation["source"]], places["at"][relation["sink"]]
        for source, sink in relation["pairs"]:
            assert sources[source][0] < sinks[sink][0], (relation["kind"], relation["relation"], source, sink)


def test_threads_side_by_side_run_together():
    model, places = shown("jacobi-2d-alt", "superposition")
    points, own = model["statements"][0]["points"], places["at"]["S0"]
    by_step = {}
    for point, (step, lane) in zip(points, own, strict=True):
        by_step.setdefault(step, []).append((lane, point))
    columns = {point[2] for point in points}
    for together in by_step.values():
        assert {point[2] for _, point in together} == columns
        assert len({(point[0], point[1]) for _, point in together}) == 1
        assert all(point[2] % 32 == lane for lane, point in together)


def test_instances_that_no_rule_covers_have_no_steps():
    bench = Workbench(pv.inspect(kernel("gemm").function, schedules=("isl",)))
    bench.map_to_device("isl")
    bench.model()
    rules = bench._variants["isl"].device.places
    assert len(rules) == 2
    assert places_model(rules[:1], bench.inspector.scop.context, bench._sketch.shown) is None
