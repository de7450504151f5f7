from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyviz.views.instances import (
    MOST_ARROWS,
    MOST_POINTS,
    Arrow,
    arrows_between,
    integer_points,
    outstanding,
    pane,
)
from polyviz.views.sizes import binding, choose
from tests.builders import loop, scop, statement
from tests.views.samples import dependences_of, gemm, seidel, triangle


def pane_of(sample, name="S0", **values):
    part, found = sample
    chosen = values or choose([one.domain for one in part.statements], part.context)
    return pane(part.statement(name), found.relations, chosen, binding(chosen))


def test_points_and_arrows_of_a_triangle():
    found = pane_of(triangle(), n=4)
    assert found.points == tuple((i, j) for i in range(4) for j in range(i + 1))
    flow = {(arrow.source, arrow.sink) for arrow in found.arrows if arrow.kind == "flow"}
    assert flow == {((i, j), (i, j + 1)) for i in range(4) for j in range(i)}
    anti = {(arrow.source, arrow.sink) for arrow in found.arrows if arrow.kind == "anti"}
    assert anti == {((i, j), (i + 1, j + 1)) for i in range(3) for j in range(i + 1)}
    assert found.complete and found.notes == ()


def test_reduction_arrows_stand_for_the_flow_below_them():
    found = pane_of(gemm(), "S1", ni=3, nj=3, nk=3)
    assert {arrow.kind for arrow in found.arrows} == {"reduction"}
    assert len(found.arrows) == 3 * 3 * 2
    assert found.notes == ()


def test_a_covered_kind_is_named():
    part, _ = triangle()
    text = "S0[i, j] -> S0[i, j + 1] : 0 <= j < i < n"
    twice = dependences_of("n", ("output", "x", text), ("flow", "x", text), ("anti", "x", text))
    found = pane_of((part, twice), n=4)
    assert {arrow.kind for arrow in found.arrows} == {"flow"}
    assert found.notes == ("not drawn: anti and output arrows that lie under flow arrows",)
    assert found.complete


def test_read_after_read_is_not_drawn():
    part, _ = triangle()
    reads = dependences_of("n", ("input", "x", "S0[i, j] -> S0[i, j + 1] : 0 <= j < i < n"))
    assert pane_of((part, reads), n=4).arrows == ()


def four_deep():
    part = scop(
        "T, n",
        loop("t", loop("i", loop("j", loop("k", "S0")))),
        S0=statement("0 <= t < T and 0 <= i < n and 0 <= j < n and 0 <= k < n", writes="A[i, j, k]"),
    )
    near = "0 <= t < T - 1 and 0 <= i < n and 0 <= j < n and 0 <= k < n and 0 <= k2 < n and -1 <= k - k2 <= 1"
    return part, dependences_of("T, n", ("flow", "A", f"S0[t, i, j, k] -> S0[t + 1, i, j, k2] : {near}"))


def test_the_slice_keeps_the_dimensions_along_which_dependences_run():
    found = pane_of(four_deep(), T=5, n=5)
    assert found.iterators == ("t", "j", "k")
    assert found.notes == ("the slice i = 2",)
    assert not found.complete
    assert len(found.points) == 5**3
    moves = {tuple(b - a for a, b in zip(arrow.source, arrow.sink, strict=True)) for arrow in found.arrows}
    assert moves == {(1, 0, -1), (1, 0, 0), (1, 0, 1)}


def test_a_slice_through_a_hole_is_moved_to_where_points_are():
    text = "0 <= i < 9 and i mod 8 = 0 and 0 <= j < 3 and 0 <= k < 3 and 0 <= l < 3"
    part = scop("n", loop("i", loop("j", loop("k", loop("l", "S0")))), S0=statement(text, writes="x"))
    found = pane(part.statements[0], (), {"n": 3}, binding({"n": 3}))
    assert found.notes == ("the slice i = 0",)
    assert len(found.points) == 27


def test_many_pairs_are_reduced_to_the_nearest_sinks():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < 10000", writes="x"))
    every = dependences_of("n", ("output", "x", "S0[i] -> S0[i2] : 0 <= i < i2 < 10000"))
    notes: list[str] = []
    domain = isl.Set("[n] -> { S0[i] : 0 <= i < 100 and n = 1 }")
    arrows, _ = arrows_between(every.relations, {"S0": domain}, notes)
    assert len(arrows) == 99
    assert all(arrow.sink[0] == arrow.source[0] + 1 for arrow in arrows)
    assert notes == ["99 of 4950 output arrows through x: the nearest sinks"]
    # A window keeps even the whole part small.
    found = pane(part.statements[0], every.relations, {"n": 1}, binding({"n": 1}))
    assert len(found.points) <= 40 and len(found.arrows) <= MOST_ARROWS


def test_points_are_thinned_evenly():
    points, total = integer_points(isl.Set("{ [i, j] : 0 <= i < 100 and 0 <= j < 100 }"))
    assert total == 10_000
    assert len(points) == MOST_POINTS
    assert points[0] == (0, 0) and points[-1][0] == 99


def test_a_set_too_large_to_enumerate_is_refused():
    with pytest.raises(ValueError, match="clip the set first"):
        integer_points(isl.Set("{ [i, j] : 0 <= i < 1000 and 0 <= j < 1000 }"))


@given(st.sets(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), max_size=12))
def test_every_point_of_a_finite_set_is_found(points):
    text = " or ".join(f"(i = {i} and j = {j})" for i, j in points) or "1 = 0"
    assert integer_points(isl.Set(f"{{ S[i, j] : {text} }}")) == (sorted(points), len(points))


def test_the_outstanding_instance_is_busy_and_near_the_middle():
    found = pane_of(seidel(), tsteps=5, n=7)
    assert outstanding(found.arrows, len(found.arrows) + 1) is None
    assert outstanding(found.arrows, len(found.arrows)) == ("S0", (2, 3, 3))


def test_ends_name_statement_and_instance():
    assert Arrow("flow", "x", "S", (1,), "T", (2, 3)).ends == (("S", (1,)), ("T", (2, 3)))
