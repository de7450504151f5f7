"""Why loops and statements are tiled, fused, vectorised and promoted, or not."""

import json

import jsonschema
import pytest

import polyviz as pv
from polyviz import gallery
from polyviz.api import shown
from polyviz.api.reasons import reasons_of
from polyviz.api.shown import inspector_bundle
from polyviz.api.workbench import Workbench
from polyviz.editing import start_edit
from polyviz.editing.script import START
from polyviz.mapping.cpu import make_plan
from polyviz.views.linked_reasons import LEFT_OUT
from polyviz.views.schema import MIME, json_schema
from tests.blocked import WIDE

KERNELS = {entry.name: entry for entry in gallery.polybench()}
SWEEP = """
def sweep(A, B, x, n):
    for i in range(1, n):
        for j in range(n - 1):
            A[i, j] = A[i - 1, j + 1] + 1.0
    for i in range(n):
        t = B[i, 0]
        for j in range(n):
            x[i] += t * A[i, j]
"""
FEW = """
def few(A, B, n):
    for t in range(10):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = A[i - 1, j] + A[i, j + 1]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.5 * B[i, j]
"""


TINY = """
def tiny(A, B, C, n):
    for b in range(n):
        for i in range(4):
            for j in range(4):
                for k in range(4):
                    C[b, i, j] += A[b, i, k] * B[b, k, j]
"""


def workbench(source, *schedules):
    return Workbench(pv.inspect(source, schedules=schedules))


def told(source, name):
    """The reasons of a program for a machine that is always the same."""
    part = pv.extract(source)
    found, schedule = pv.dependences(part), pv.schedule(part, name)
    plan = make_plan(part, found, schedule, "c", processor=WIDE)
    return "\n".join(
        f"{one.topic}, {one.loop or ', '.join(one.statements)}: {one.text}{' [pair]' if one.pair else ''}"
        for one in reasons_of(start_edit(part, schedule, {START: name}, found), plan)
    )


def test_an_order_that_has_tiles_already_says_so():
    bench = workbench(SWEEP, "original")
    bench.apply("original", "skew", "S0.j", {"by": "S0.i"})
    bench.apply("by hand", "tile", "S0.i", {"sizes": (32, 16)})
    bench.explain("by hand")
    found = {
        one["address"]: one["text"]
        for one in bench.model()["variants"][-1]["reasons"]
        if one["topic"] == "tiles" and "S0" in one["statements"]
    }
    assert set(found) == {"i_tile", "j_tile", "S0.i", "S0.j"}
    assert set(found.values()) == {
        "This order has tiles: loops i_tile and j_tile go from tile to tile, loops S0.i and S0.j run inside one. "
        "The loops i, i + j are tiled by 32 × 16."
    }


def test_loops_around_strips_are_still_judged():
    bench = workbench(SWEEP, "original")
    bench.apply("original", "skew", "S0.j", {"by": "S0.i"})
    bench.apply("by hand", "strip-mine", "S0.j", {"size": 8})
    bench.explain("by hand")
    texts = [
        (one["address"], one["text"])
        for one in bench.model()["variants"][-1]["reasons"]
        if one["topic"] == "tiles" and "S0" in one["statements"]
    ]
    strips = "This order has tiles: loop wave_tile goes from tile to tile, loop S0.j runs inside one."
    assert [address for address, text in texts if text.startswith(strips)] == ["wave_tile", "S0.j"]
    together = "Loops S0.i and wave_tile may be tiled together: tiles of 32 keep every dependence."
    assert ("S0.i", together) in texts


@pytest.mark.parametrize("name", ["original", "pluto"])
def test_of_a_factorisation(name, golden):
    golden(told(KERNELS["lu"].function, name))


def test_of_loops_that_forbid_tiles_and_of_a_private_variable(golden):
    golden(told(SWEEP, "original"))


def test_of_loops_that_only_the_program_parts_and_of_sweeps_that_may_be_few():
    found = told(FEW, "pluto")
    alone = "the innermost loop around S1, t + j, which has only S1 there, runs in vector instructions"
    assert alone in found
    # Ten sweeps of a matrix that leaves the cache gain by tiles; products of tiny matrices do not.
    assert "to reuse data while it is in cache" in found
    assert "has none: tiles are made where long loops sweep a matrix again and again, which these do not." in told(
        TINY, "pluto"
    )
    assert "which has only" not in told(KERNELS["gemm"].function, "pluto")


def test_nobody_asked():
    model = workbench(SWEEP, "original").model()
    assert model["variants"][0]["reasons"] is None
    assert [one["violation"] is None for one in model["variants"][0]["loops"]] == [False, True, True, False]


def test_private_variables_are_no_obstacle():
    sentences = [one["text"] for one in workbench(SWEEP, "original").model()["variants"][0]["loops"]]
    assert sentences[2] == "Loop i is parallel: no dependence ties its iterations, since each has its own copy of t."
    assert not any("of t (" in one for one in sentences)


@pytest.mark.parametrize("kernel", ["gemver", "jacobi-2d", "doitgen", "seidel-2d"])
def test_moves_that_are_said_to_be_legal_can_be_made_and_others_cannot(kernel):
    part = pv.extract(KERNELS[kernel].function)
    edit = start_edit(part, pv.schedule(part, "original"), {START: "original"})
    tiles = [one for one in reasons_of(edit, None) if one.topic == "tiles"]
    assert tiles
    for one in tiles:
        together = one.text.partition(" may be tiled together")[0].removeprefix("Loops ")
        loops = together.replace(" and ", ", ").split(", ") if " may be tiled" in one.text else []
        assert (one.pair is None) == (" may not be tiled" not in one.text)
        if loops:
            assert edit.apply("tile", loops[0], sizes=(32,) * len(loops))
        if one.pair is not None:
            with pytest.raises(pv.LegalityError):
                edit.apply("tile", loops[0] if loops else one.loop, sizes=(32,) * max(2, len(loops) + 1))


def test_of_moves_made_by_hand():
    bench = workbench(SWEEP, "original")
    bench.apply("original", "parallel", "S1.i", {})
    assert "Loop i is parallel" in bench.model()["variants"][1]["loops"][2]["text"]
    bench.explain("by hand")
    assert {one["topic"] for one in bench.model()["variants"][1]["reasons"]} > {"tiles", "promotion", "reduction"}


def test_the_document_is_small_with_all_reasons():
    bench = workbench(KERNELS["lu"].function, "original", "pluto")
    for name in bench.shown():
        bench.explain(name)
    model = bench.model()
    jsonschema.validate(model, json_schema("inspector"))
    assert all(one["reasons"] for one in model["variants"])
    assert len(json.dumps(model)) < 200_000


def test_a_static_view_has_reasons_or_says_that_they_are_left_out(monkeypatch):
    found = pv.inspect("def f(A):\n    for i in range(9):\n        A[i] = A[i] + 1", schedules=("original", "isl"))
    forms = inspector_bundle(found)
    assert all(one["reasons"] for one in forms[MIME]["variants"])
    assert "== Why? isl ==" in forms["text/plain"]
    assert "No loop is directly inside i" in forms["text/html"]
    assert LEFT_OUT not in forms["text/html"]
    monkeypatch.setattr(shown, "REASON_SECONDS", 0.0)
    forms = inspector_bundle(found)
    assert all(one["reasons"] is None for one in forms[MIME]["variants"])
    assert forms["text/plain"].count(LEFT_OUT) == 2
