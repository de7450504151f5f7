from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from polyviz.benchmark.records import SCHEMA_VERSION, Results, ratio
from tests.benchmark.samples import GCC, NUMBA, PLUTO, RESULTS, WRONG

NUMBER = (int, float)
MAYBE_NUMBER = (int, float, type(None))

VARIANT_SCHEMA = {
    "side": str,
    "peer": str,
    "label": str,
    "flags": str,
    "status": str,
    "verified": (bool, type(None)),
    "first_seconds": MAYBE_NUMBER,
    "samples": list,
    "compile_seconds": MAYBE_NUMBER,
    "generate_seconds": MAYBE_NUMBER,
    "note": str,
    "decisions": list,
    "obstacles": list,
    "median": MAYBE_NUMBER,
    "interval": (list, type(None)),
    "ratio_to_best_peer": MAYBE_NUMBER,
    "ratio_interval": (list, type(None)),
}
KERNEL_SCHEMA = {
    "kernel": str,
    "sizes": dict,
    "variants": list,
    "analysis_seconds": MAYBE_NUMBER,
    "wall_seconds": NUMBER,
    "notes": list,
    "work": (dict, type(None)),
    "best_peer": (str, type(None)),
}
SCHEMA = {
    "schema": int,
    "settings": dict,
    "versions": dict,
    "peers": list,
    "kernels": list,
    "peaks": (dict, type(None)),
}


def written() -> dict[str, Any]:
    return json.loads(json.dumps(RESULTS.to_json(), allow_nan=False))


def check(schema: dict[str, Any], value: dict[str, Any]) -> None:
    assert value.keys() == schema.keys()
    for name, kind in schema.items():
        assert isinstance(value[name], kind), name


def test_what_is_written_keeps_its_schema() -> None:
    document = written()
    check(SCHEMA, document)
    for kernel in document["kernels"]:
        check(KERNEL_SCHEMA, kernel)
        for variant in kernel["variants"]:
            check(VARIANT_SCHEMA, variant)


def test_what_is_written_comes_back_equal() -> None:
    assert Results.from_json(written()) == RESULTS


def test_derived_figures_are_spelled_out() -> None:
    gemm = written()["kernels"][1]
    assert gemm["best_peer"] == "gcc"
    pluto = gemm["variants"][4]
    assert (pluto["median"], pluto["ratio_to_best_peer"]) == (1.0, 2.0)
    assert gemm["variants"][0]["median"] is None


@pytest.mark.parametrize(
    ("change", "value"),
    [("schema", SCHEMA_VERSION + 1), ("settings", {}), ("kernels", [{"kernel": "gemm"}]), ("peers", 3)],
)
def test_another_document_is_refused(change: str, value: object) -> None:
    document = {**deepcopy(written()), change: value}
    with pytest.raises((ValueError, KeyError, TypeError)):
        Results.from_json(document)


def test_an_unknown_status_is_refused() -> None:
    document = written()
    document["kernels"][1]["variants"][0]["status"] = "great"
    with pytest.raises(ValueError, match="unknown status 'great'"):
        Results.from_json(document)


def test_no_ratio_between_different_rounds() -> None:
    assert ratio(GCC, replace(PLUTO, samples=(1.0, 1.0))) is None
    assert ratio(NUMBA, PLUTO) is None
    assert ratio(GCC, WRONG) is None


def test_a_single_round_has_no_interval() -> None:
    found = ratio(replace(GCC, samples=(2.0,)), replace(PLUTO, samples=(1.0,)))
    assert found is not None
    assert (found.value, found.interval) == (2.0, None)


def test_a_file_from_before_the_limits_were_measured_is_read() -> None:
    document = written()
    del document["peaks"]
    for kernel in document["kernels"]:
        del kernel["work"]
        for variant in kernel["variants"]:
            del variant["obstacles"]
    assert Results.from_json(document) == RESULTS
