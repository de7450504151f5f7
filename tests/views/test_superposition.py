"""Superposed schedules as text, HTML and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema

from polyviz.frontend import extract
from polyviz.gallery import kernel
from polyviz.model.display import mime_bundle
from polyviz.scheduling import schedule
from polyviz.scheduling.superposed.made import superpose
from polyviz.views.fit import LIMIT, size
from polyviz.views.schema import MIME, json_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.superposition import Superposition


def planned(name: str) -> Superposition:
    return schedule(extract(kernel(name).function), "superposition").superposition


def refused() -> Superposition:
    part = extract(kernel("jacobi-2d").function)
    outer = dict.fromkeys(("S0", "S1"), "(0, floor(i/32)_x)")
    return superpose(part, outer, {"S0": "(0, t, 0, i_y, j_x, 0)", "S1": "(0, t, 1, i_y, j_x, 0)"})


def test_text_of_a_plan(golden: Callable[..., None]) -> None:
    golden(repr(planned("jacobi-2d-alt")), "one kernel")
    golden(repr(planned("gesummv")), "several kernels")
    golden(repr(planned("jacobi-2d")), "host loop")


def test_text_of_a_refused_one(golden: Callable[[str], None]) -> None:
    golden(repr(refused()))


def test_html_names_every_tested_row() -> None:
    html = mime_bundle(planned("jacobi-2d-alt"))["text/html"]
    for text in ("floor(i/32)_x", "Legal", "tested rows", "Distinct lines", "S0: t, S1: t", "-1 .. 1"):
        assert text in html
    assert "fails: S1[0, 2, 1] writes A[2, 1]" in mime_bundle(refused())["text/html"]


def test_the_model_is_valid_and_complete() -> None:
    value = planned("doitgen-expanded")
    model = mime_bundle(value)[MIME]
    jsonschema.validate(model, json_schema("superposition"))
    assert size(model) < LIMIT
    assert json.loads(json.dumps(model, allow_nan=False)) == model
    (found,) = model["kernels"]
    assert found["tiles"] == {"x": 4, "y": 4}
    assert [barrier["wraps"] for barrier in found["barriers"]] == [False]
    assert model["functions"][1]["text"] == value.notation_of("S1")
    assert [one["holds"] for one in model["conditions"]] == [True] * 6
    assert {verdict["kind"] for verdict in model["verdicts"]} == {"forall", "reduction"}


def test_the_model_of_a_large_plan_stays_small() -> None:
    assert size(mime_bundle(planned("deriche"))[MIME]) < LIMIT
