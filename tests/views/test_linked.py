from __future__ import annotations

import json

import islpy as isl
import jsonschema
import pytest

from polyviz.model.dependences import Dependences
from polyviz.model.schedule import Schedule
from polyviz.scheduling.described import common_times
from polyviz.views import linked
from polyviz.views.fit import LIMIT, size
from polyviz.views.linked import Subject, Variant, inspector_model
from polyviz.views.linked_points import carrying_dimensions, instances_of
from polyviz.views.schema import json_schema
from polyviz.views.sizes import binding
from tests.builders import loop, scop, statement
from tests.views.samples import SAMPLES, gemm, jacobi


def model_of(part, found, values=None):
    schedule = Schedule("as written", part.schedule, common_times(part.schedule), ())
    model = inspector_model(Subject(part, found, (), (Variant("as written", schedule),)), values)
    jsonschema.validate(model, json_schema("inspector"))
    assert size(model) < LIMIT
    assert json.loads(json.dumps(model, allow_nan=False)) == model
    return model


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_has_a_valid_model(name):
    part, found = SAMPLES[name]()
    model = model_of(part, found)
    assert model["shortened"] == []
    assert [one["name"] for one in model["statements"]] == [one.name for one in part.statements]
    [variant] = model["variants"]
    for one in model["statements"]:
        assert len(variant["times"][one["name"]]) == len(one["points"])
        assert {len(time) for time in variant["times"][one["name"]]} <= {
            len(variant["times"][one["name"]][0])
        }


def test_pairs_are_numbers_of_instances_in_the_dependence():
    part, found = jacobi()
    model = model_of(part, found)
    points = {one["name"]: one["points"] for one in model["statements"]}
    flow = next(
        one for one in model["relations"] if (one["kind"], one["source"], one["sink"]) == ("flow", "S0", "S1")
    )
    [relation] = [
        one.relation for one in found.relations if (one.kind, one.source, one.sink) == ("flow", "S0", "S1")
    ]
    values = {one["name"]: one["value"] for one in model["parameters"]}
    bound = relation.intersect_params(binding(values))
    assert len(flow["pairs"]) == flow["count"] == bound.wrap().count_val().to_python()
    for source, sink in flow["pairs"]:
        ends = f"{{ S0{points['S0'][source]} -> S1{points['S1'][sink]} }}"
        assert isl.Map(ends).is_subset(
            bound.project_out(isl.dim_type.param, 0, bound.dim(isl.dim_type.param))
        )


def test_time_dimensions_of_loops_are_those_of_the_times():
    part, found = gemm()
    model = model_of(part, found)
    [variant] = model["variants"]

    def loops(node, around=()):
        around = (*around, *((member["time"], member["rows"]) for member in node["members"]))
        below = [found for child in node["children"] for found in loops(child, around)]
        return below or [(node["statements"], around)]

    for names, around in loops(variant["tree"]):
        for name in names:
            [one] = [one for one in model["statements"] if one["name"] == name]
            for point, time in zip(one["points"], variant["times"][name], strict=True):
                where = dict(zip(one["iterators"], point, strict=True))
                assert [eval(rows[name], {}, where) for _, rows in around] == [
                    time[axis] for axis, _ in around
                ]


def test_what_carries_a_dependence_changes_with_the_schedule():
    order = {"S": isl.Map("{ S[i, j] -> [i, j] }")}
    skewed = {"S": isl.Map("{ S[i, j] -> [i + j, i] }")}
    down = isl.Map("{ S[i, j] -> S[i + 1, j - 1] }")
    assert carrying_dimensions(down, order, "S", "S") == [0]
    assert carrying_dimensions(down, skewed, "S", "S") == [1]
    both = isl.Map("{ S[i, j] -> S[i + 1, j]; S[i, j] -> S[i, j + 1] }")
    assert carrying_dimensions(both, order, "S", "S") == [0, 1]
    assert carrying_dimensions(down, {}, "S", "S") == []


def test_a_huge_domain_is_sampled_and_says_so():
    part = scop(
        "", loop("i", loop("j", loop("k", loop("l", "S0")))), S0=statement("0 <= i, j, k, l < 1000000")
    )
    instances = instances_of(part.statements[0], binding({}), 500)
    assert 100 <= len(instances.points) <= 500
    assert instances.total == 10**24
    assert instances.notes


def test_a_loop_that_is_cut_again_is_told_once():
    part = scop(
        "", loop("i", loop("j", loop("k", loop("l", "S0")))), S0=statement("0 <= i, j < 1000 and 0 <= k, l < 4")
    )
    instances = instances_of(part.statements[0], binding({}), 100)
    assert instances.notes == ("only j up to 2", "only i up to 2", "only l up to 1")


def test_an_unbounded_domain_is_cut():
    part = scop("", loop("i", "S0"), S0=statement("i >= 0"))
    instances = instances_of(part.statements[0], binding({}), 500)
    assert instances.total is None
    assert instances.notes == ("first 12 values of i, which has no upper bound",)


@pytest.mark.parametrize("target", [4_000, 8_000, 12_000, 20_000, 60_000])
def test_counting_pairs_finds_the_same_drawing_as_making_each(target, monkeypatch):
    part, found = jacobi()
    monkeypatch.setattr(linked, "_TARGET", target)
    fitting = model_of(part, found)
    monkeypatch.setattr(linked, "_LEAST_PAIR", 0)
    assert model_of(part, found) == fitting


def test_asked_for_sizes_are_drawn():
    part, found = jacobi()
    names = [one.name for one in part.parameters]
    small, large = (model_of(part, found, dict.fromkeys(names, value)) for value in (5, 9))
    assert len(large["statements"][0]["points"]) > len(small["statements"][0]["points"])
    assert {one["value"] for one in large["parameters"]} == {9}
    assert all(one["low"] <= one["value"] <= one["high"] for one in large["parameters"])


def test_very_many_statements_stay_below_the_limit():
    names = [f"S{number}" for number in range(120)]
    part = scop("", loop("i", loop("j", *names)), **{name: statement("0 <= i, j < 20") for name in names})
    none = isl.UnionMap("{ }")
    model = model_of(part, Dependences("value", (), (), none, none, none, ()))
    assert len(model["statements"]) == 120


def test_dependences_between_reads_come_last_with_their_pairs():
    part, found = gemm()
    model = model_of(part, found)
    kinds = [one["kind"] for one in model["relations"]]
    assert kinds.count("input") == 1
    assert kinds[-1] == "input"
    assert len(model["relations"][-1]["pairs"]) == model["relations"][-1]["count"] > 0
    assert len(model["variants"][0]["carried"]) == len(kinds)
