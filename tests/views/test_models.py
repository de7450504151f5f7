from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from polyviz.errors import Span
from polyviz.model.dependences import Legality, LoopParallelism
from polyviz.model.measurement import VariantRow
from polyviz.model.program import Program, SourceLine
from polyviz.views import models, timing_models
from polyviz.views.fit import LIMIT, omitted, size
from polyviz.views.pictures import dependence_rows, pictures
from polyviz.views.schema import MODELS, VERSION, json_schema
from tests.builders import loop, scop, statement
from tests.views.samples import SAMPLES, comparison, gemm, jacobi, measured, named, tiled
from tests.views.test_text import VIOLATION


def valid(model):
    jsonschema.validate(model, json_schema(model["kind"]))
    assert model["v"] == VERSION
    assert size(model) < LIMIT
    assert json.loads(json.dumps(model, allow_nan=False)) == model
    return model


def program(text="def f():\n    pass\n"):
    lines = {1: SourceLine("S0", Span(4, 1, 4, 9))}
    return Program("python", "f", text, (), {}, lines, notes=("No vector loop.",))


@pytest.mark.parametrize("name", SAMPLES)
def test_scop_and_dependences(name):
    part, found = SAMPLES[name]()
    shown = pictures(part, found)
    model = valid(models.scop_model(part, shown))
    assert [pane["statement"] for pane in model["panes"]] == [one.name for one in part.statements]
    assert model["shortened"] == []
    rows = dependence_rows(found, part, shown.values)
    relations = valid(models.dependences_model(found, rows, shown.values, shown.panes))["relations"]
    assert [row["count"] for row in relations] == [row.count for row in rows]


def test_arrows_are_grouped_by_kind_array_and_ends():
    part, found = jacobi()
    shown = pictures(part, found)
    (timeline,) = models.scop_model(part, shown)["timelines"]
    groups = [(group["kind"], group["array"], group["source"], group["sink"]) for group in timeline["arrows"]]
    assert groups == [("flow", "B", "S0", "S1"), ("flow", "A", "S1", "S0")]
    assert sum(len(group["pairs"]) for group in timeline["arrows"]) == len(shown.timelines[0].arrows)
    assert all(len(pair) == 4 for group in timeline["arrows"] for pair in group["pairs"])


def test_access_relations_are_readable():
    part, found = gemm()
    accesses = models.scop_model(part, pictures(part, found))["statements"][1]["accesses"]
    assert {access["relation"] for access in accesses} == {
        "S1[i, k, j] → C[i, j]",
        "S1[i, k, j] → A[i, k]",
        "S1[i, k, j] → B[k, j]",
    }


def test_schedule():
    model = valid(models.schedule_model(tiled()))
    assert model["tree"]["children"][0]["kind"] == "sequence"
    assert [decision["step"] for decision in model["decisions"]] == ["components", "tile"]


def test_verdicts_on_order_and_loops():
    assert valid(models.legality_model(Legality()))["legal"] is True
    model = valid(models.legality_model(Legality((VIOLATION,))))
    assert model["violations"][0]["source_instance"] == [1, 2]
    loops = (
        LoopParallelism("i", 0, ("S0",), False, True, VIOLATION, "why"),
        LoopParallelism("j", 1, (), True, False, None, ""),
    )
    assert [loop["witness"] is None for loop in valid(models.parallelism_model(loops))["loops"]] == [
        False,
        True,
    ]


def test_comparison_holds_no_infinity():
    row = VariantRow(
        "s", "c", "ok", True, measured(float("inf")), float("nan"), (1.0, float("inf")), float("inf")
    )
    model = valid(timing_models.comparison_model(replace(comparison(), rows=(row, *comparison().rows))))
    assert model["rows"][0]["median"] is None and model["rows"][0]["interval"] is None
    assert model["rows"][0]["samples"] == []
    assert model["verdict"].startswith("fastest: pluto/c")


def test_program_and_combination():
    made = valid(models.program_model(program()))
    assert made["lines"] == {"1": ["S0", 4]}
    combined = valid(models.combined_model("all", [("Program", True, made), ("Note", False, None)]))
    assert [section["model"] and section["model"]["kind"] for section in combined["sections"]] == [
        "program",
        None,
    ]
    valid(omitted(made))


def test_many_sections_fit_together():
    large = models.program_model(program("x = 1\n" * 20_000))
    assert size(large) < LIMIT
    combined = valid(
        models.combined_model("all", [(f"Variant {place}", False, large) for place in range(30)])
    )
    assert len(combined["sections"]) == 30
    assert any(record["path"].endswith("model.text") for record in combined["shortened"])


def test_a_part_with_very_many_statements_stays_small():
    names = {f"S{place}": statement("0 <= i < n", writes=f"a{place}[i]") for place in range(400)}
    part = scop("n", loop("i", *names), **names)
    part = named(part, "long", **{name: f"a[i] = {'x' * 500}" for name in names})
    model = valid(models.scop_model(part, pictures(part)))
    assert {record["path"].split(".")[0] for record in model["shortened"]} <= {
        "statements",
        "text",
        "panes",
        "arrays",
    }
    assert model["shortened"]


@pytest.mark.parametrize("kind", MODELS)
def test_schemas_are_schemas(kind):
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert all(definition["description"] for definition in schema["$defs"].values())


def test_schemas_refuse_what_does_not_fit():
    model = models.legality_model(Legality((VIOLATION,)))
    for broken in (
        {**model, "v": 2},
        {**model, "kind": "scop"},
        {**model, "legal": "yes"},
        {**model, "violations": [{}]},
        {key: value for key, value in model.items() if key != "shortened"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, json_schema("legality"))
