"""Parts, dependences, schedules and comparisons to look at, made without front end or analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.errors import Span
from polyviz.model.dependences import Dependence, DependenceKind, Dependences
from polyviz.model.measurement import ComparisonData, Measurement, VariantRow
from polyviz.model.schedule import Band, BandMember, Decision, Schedule
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from polyviz.model.scop import Scop


def named(part: Scop, name: str, **sources: str) -> Scop:
    """``part`` with a name and source texts, one line each from line 4 on."""
    statements = tuple(
        replace(one, source=sources[one.name], span=Span(line, 9, line, 9 + len(sources[one.name])))
        for line, one in enumerate(part.statements, start=4)
    )
    return replace(part, name=name, statements=statements)


def dependences_of(parameters: str, *rows: tuple[DependenceKind, str, str]) -> Dependences:
    """One relation per row: kind, array and isl text."""
    found = []
    for kind, array, text in rows:
        relation = isl.Map(f"[{parameters}] -> {{ {text} }}")
        ends = (relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out))
        found.append(Dependence(kind, array, *ends, relation))
    none = isl.UnionMap(f"[{parameters}] -> {{ }}")
    return Dependences("value", tuple(found), (), none, none, none, tuple(found))


def gemm() -> tuple[Scop, Dependences]:
    part = scop(
        "ni, nj, nk",
        loop("i", loop("j", "S0"), loop("k", loop("j", "S1"))),
        context="ni > 0 and nj > 0 and nk > 0",
        extents={"A": "ni, nk", "B": "nk, nj", "C": "ni, nj"},
        S0=statement("0 <= i < ni and 0 <= j < nj", reads="C[i, j]", writes="C[i, j]"),
        S1=statement(
            "0 <= i < ni and 0 <= k < nk and 0 <= j < nj", reads="C[i, j] A[i, k] B[k, j]", writes="C[i, j]"
        ),
    )
    inside = "0 <= i < ni and 0 <= j < nj"
    steps = f"S1[i, k, j] -> S1[i, k + 1, j] : {inside} and 0 <= k < nk - 1"
    found = dependences_of(
        "ni, nj, nk",
        ("flow", "C", f"S0[i, j] -> S1[i, 0, j] : {inside} and nk > 0"),
        ("flow", "C", steps),
        ("input", "A", "S1[i, k, j] -> S1[i, k, j + 1] : 0 <= i < ni and 0 <= j < nj - 1 and 0 <= k < nk"),
        ("reduction", "C", steps),
    )
    return named(part, "gemm", S0="C[i, j] *= beta", S1="C[i, j] += alpha * A[i, k] * B[k, j]"), found


def jacobi() -> tuple[Scop, Dependences]:
    """One-dimensional, two statements per time step."""
    inside = "0 <= t < tsteps and 1 <= i < n - 1"
    part = scop(
        "tsteps, n",
        loop("t", loop("i", "S0"), loop("i", "S1")),
        context="tsteps > 0 and n > 2",
        S0=statement(inside, reads="A[i - 1] A[i] A[i + 1]", writes="B[i]"),
        S1=statement(inside, reads="B[i - 1] B[i] B[i + 1]", writes="A[i]"),
    )
    near = "1 <= i < n - 1 and 1 <= j < n - 1 and -1 <= i - j <= 1"
    found = dependences_of(
        "tsteps, n",
        ("flow", "B", f"S0[t, i] -> S1[t, j] : 0 <= t < tsteps and {near}"),
        ("flow", "A", f"S1[t, i] -> S0[t + 1, j] : 0 <= t < tsteps - 1 and {near}"),
        ("anti", "A", f"S0[t, i] -> S1[t, j] : 0 <= t < tsteps and {near}"),
        ("output", "B", "S0[t, i] -> S0[t + 1, i] : 0 <= t < tsteps - 1 and 1 <= i < n - 1"),
    )
    texts = {
        "S0": "B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3.0",
        "S1": "A[i] = (B[i - 1] + B[i] + B[i + 1]) / 3.0",
    }
    return named(part, "jacobi", **texts), found


def triangle() -> tuple[Scop, Dependences]:
    part = scop("n", loop("i", loop("j", "S0")), S0=statement("0 <= i < n and 0 <= j <= i", writes="x[i]"))
    found = dependences_of(
        "n",
        ("flow", "x", "S0[i, j] -> S0[i, j + 1] : 0 <= j < i < n"),
        ("anti", "x", "S0[i, j] -> S0[i + 1, j + 1] : 0 <= j <= i < n - 1"),
        ("output", "x", "S0[i, j] -> S0[i, j + 2] : 0 <= j and j + 2 <= i < n"),
    )
    return named(part, "triangle", S0="x[i] += L[i, j] * x[j]"), found


def scan() -> tuple[Scop, Dependences]:
    part = scop("n", loop("i", "S0"), S0=statement("1 <= i < n", reads="x[i - 1]", writes="x[i]"))
    found = dependences_of("n", ("flow", "x", "S0[i] -> S0[i + 1] : 1 <= i < n - 1"))
    return named(part, "scan", S0="x[i] += x[i - 1]"), found


def seidel() -> tuple[Scop, Dependences]:
    """Three dimensions and more arrows than can be read."""
    box = "0 <= t < tsteps and 1 <= i < n - 1 and 1 <= j < n - 1"
    part = scop("tsteps, n", loop("t", loop("i", loop("j", "S0"))), S0=statement(box, writes="A[i, j]"))
    after = "0 <= t2 < tsteps and 1 <= i2 < n - 1 and 1 <= j2 < n - 1"
    same = "t2 = t and ((i2 = i + 1 and -1 <= j2 - j <= 1) or (i2 = i and j2 = j + 1))"
    later = "t2 = t + 1 and ((i2 = i and -1 <= j2 - j <= 0) or (i2 = i - 1 and -1 <= j2 - j <= 1))"
    text = f"S0[t, i, j] -> S0[t2, i2, j2] : {box} and {after} and (({same}) or ({later}))"
    found = dependences_of("tsteps, n", ("flow", "A", text))
    return named(part, "seidel", S0="A[i, j] = (A[i - 1, j] + … + A[i + 1, j]) / 9.0"), found


SAMPLES = {"gemm": gemm, "jacobi": jacobi, "triangle": triangle, "scan": scan, "seidel": seidel}


def tiled() -> Schedule:
    """gemm's second statement, its outer two loops tiled, with a mark."""
    domain = "[n] -> { S1[i, k, j] : 0 <= i < n and 0 <= k < n and 0 <= j < n; S0[i, j] : 0 <= i < n and 0 <= j < n }"
    outer = "[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]"
    tiles = "[{ S1[i, k, j] -> [(floor((i)/32))] }, { S1[i, k, j] -> [(floor((k)/32))] }]"
    points = "[{ S1[i, k, j] -> [(i)] }, { S1[i, k, j] -> [(k)] }]"
    inside = f'schedule: "{points}", permutable: 1, child: {{ schedule: "[{{ S1[i, k, j] -> [(1 + j)] }}]" }}'
    tree = isl.Schedule(
        f"""{{ domain: "{domain}", child: {{ sequence: [
        {{ filter: "[n] -> {{ S0[i, j] }}",
           child: {{ schedule: "{outer}", permutable: 1, coincident: [1, 1] }} }},
        {{ filter: "[n] -> {{ S1[i, k, j] }}", child: {{ mark: "parallel",
           child: {{ schedule: "{tiles}", permutable: 1, child: {{ {inside} }} }} }} }} ] }} }}"""
    )
    whole = Band(
        (BandMember({"S0": "i"}, True, False), BandMember({"S0": "j"}, True, False)), True, ("S0",), 0
    )
    tile = Band(
        (
            BandMember({"S1": "floor(i/32)"}, True, False, "tile"),
            BandMember({"S1": "floor(k/32)"}, False, True, "tile"),
        ),
        True,
        ("S1",),
        0,
    )
    point = Band(
        (BandMember({"S1": "i"}, True, False, "point"), BandMember({"S1": "k"}, False, True, "point")),
        True,
        ("S1",),
        2,
    )
    inner = Band((BandMember({"S1": "1 + j"}, True, False),), False, ("S1",), 4)
    decisions = (
        Decision(
            "components", "The two statements depend on each other one way, so they are scheduled apart."
        ),
        Decision("tile", "Both loops are cut into blocks of 32.", ("S1",)),
    )
    return Schedule("pluto", tree, tree.get_map(), (whole, tile, point, inner), decisions)


def measured(median: float, spread: float = 0.02) -> Measurement:
    return Measurement(
        (median * (1 - spread), median, median * (1 + spread)),
        median,
        (median * (1 - spread), median * (1 + spread)),
    )


def comparison(best: str | None = "pluto/c") -> ComparisonData:
    rows = (
        VariantRow("original", "numba", "ok", True, measured(0.8), 1.0, (1.0, 1.0), 0.9, is_baseline=True),
        VariantRow("original", "c", "ok", True, measured(0.5), 1.6, (1.55, 1.64), 0.3),
        VariantRow(
            "pluto",
            "c",
            "ok",
            True,
            measured(0.021),
            38.1,
            (37.2, 39.3),
            0.31,
            source="for (i = 0; i < n; i++)",
        ),
        VariantRow("isl", "numba", "wrong", False, note="C[3, 4] is 1.0 instead of 2.0"),
        VariantRow("pluto", "cuda", "unavailable", None, note="no CUDA device"),
    )
    sizes = {"ni": 1000, "nj": 1100, "nk": 1200}
    return ComparisonData(
        "gemm", rows, "original/numba", best, "a machine with 16 threads", sizes, ("Cold caches.",)
    )
