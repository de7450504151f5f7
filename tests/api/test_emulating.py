"""Schedules of an inspector in the emulator: verified counts on the cards, without touching the arguments."""

from __future__ import annotations

import jsonschema
import numpy as np
import pytest

import polyviz as pv
from polyviz.api import emulating
from polyviz.api.emulating import emulated_view
from polyviz.api.shown import inspector_bundle
from polyviz.api.workbench import Workbench
from polyviz.errors import OptionError, VerificationError
from polyviz.runtime.agreement import Agreement
from polyviz.runtime.worker import Worker
from polyviz.views.schema import json_schema

SCALE = "def scale(A, B):\n    for i in range(A.shape[0]):\n        B[i] = 2.0 * A[i]\n"


@pytest.fixture(scope="module")
def worker():
    with Worker() as one:
        yield one


@pytest.fixture
def inspector():
    return pv.inspect(SCALE, np.arange(100, dtype=np.float32), np.zeros(100, np.float32), schedules=("isl",))


@pytest.mark.slow
def test_the_cards_have_the_counts_and_the_arguments_stay(inspector, worker):
    bench = Workbench(inspector)
    bench.map_to_device("isl")
    assert bench.model()["variants"][0]["device"]["run"] is None
    bench.emulate("isl", worker)
    model = bench.model()
    jsonschema.validate(model, json_schema("inspector"))
    device = model["variants"][0]["device"]
    # 100 numbers of 4 bytes: four requests to read, four to write.
    assert {name: device["run"][name] for name in ("launches", "requests", "asked", "verified", "sizes")} == {
        "launches": 1,
        "requests": 8,
        "asked": 800,
        "verified": True,
        "sizes": {"A_shape_0": 100},
    }
    assert [row["bytes"] for row in device["kernels"][0]["accesses"]] == [400, 400]
    assert [row["expected"] for row in device["kernels"][0]["accesses"]] == [1, 1]
    assert not inspector.arguments[1].any()
    forms = inspector_bundle(inspector)
    assert "Counted in the emulator" in forms["text/html"]
    assert "threads at work" in forms["text/html"]
    assert Workbench(inspector).model()["variants"][0]["device"]["run"] == device["run"]


@pytest.mark.slow
def test_a_wrong_result_is_told_and_counts_nothing(inspector, worker, monkeypatch):
    monkeypatch.setattr(emulating, "compare_values", lambda *_: Agreement(False, 1.0, "B[3] is 5.0"))
    bench = Workbench(inspector)
    with pytest.raises(VerificationError, match="do not compute what the loops do"):
        bench.emulate("isl", worker)
    assert inspector.handiwork.emulated == {}


def test_counts_belong_to_the_order_that_was_run(inspector):
    bench = Workbench(inspector)
    bench.map_to_device("isl")
    view = bench._variants["isl"].device
    inspector.handiwork.emulated["isl"] = (pv.schedule(inspector.scop, "original"), view)
    assert Workbench(inspector).model()["variants"][0]["device"] is None
    inspector.handiwork.emulated["isl"] = (inspector.schedules["isl"], view)
    assert Workbench(inspector).model()["variants"][0]["device"] is not None


def test_without_arguments_there_is_nothing_to_run():
    inspector = pv.inspect(SCALE, schedules=("isl",))
    with pytest.raises(OptionError, match="nothing to run on"):
        emulated_view(inspector, inspector.schedules["isl"], Worker())
