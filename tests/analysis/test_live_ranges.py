"""Scalars that stand for unrelated values."""

from __future__ import annotations

from hypothesis import given, settings

from polyviz.analysis import dependences, separate_live_ranges
from polyviz.model.expression import Assign, Element, Name
from tests.analysis.programs import Program, programs
from tests.builders import loop, scop, statement

W = Element("w")
TWO_NESTS = {
    "S0": statement("0 <= i < n", reads="A[i]", writes="w", body=(Assign(W, Element("A", (Name("i"),))),)),
    "S1": statement("0 <= i < n", reads="w", writes="B[i]", body=(Assign(Element("B", (Name("i"),)), W),)),
    "S2": statement("0 <= i < n", writes="w"),
    "S3": statement("0 <= i < n", reads="w", writes="C[i]"),
}


def two_nests(live_out: str):
    return scop("n", loop("i", "S0", "S1"), loop("i", "S2", "S3"), live_out=live_out, **TWO_NESTS)


def test_two_nests_get_two_names_and_two_copies():
    part = separate_live_ranges(two_nests("B C"))
    assert [array.name for array in part.arrays] == ["A", "B", "C", "w", "w_2"]
    assert [access.array for name in ("S1", "S3") for access in part.statement(name).accesses] == [
        "w",
        "B",
        "w_2",
        "C",
    ]
    assert part.statement("S1").body == TWO_NESTS["S1"].body
    assert part.notes == ("The name `w` stands for 2 unrelated values; the others are called `w_2`.",)
    assert dependences(two_nests("B C")).privatizations == ()
    assert [(found.array, found.depth) for found in dependences(part).privatizations] == [
        ("w", 1),
        ("w_2", 1),
    ]


def test_the_value_seen_afterwards_keeps_the_name():
    part = separate_live_ranges(two_nests("B C w"))
    assert [access.array for name in ("S1", "S3") for access in part.statement(name).accesses] == [
        "w_2",
        "B",
        "w",
        "C",
    ]
    assert part.statement("S1").body == (Assign(Element("B", (Name("i"),)), Element("w_2")),)
    assert not part.array("w_2").live_out


def test_a_value_from_before_keeps_the_name():
    part = scop(
        "n",
        loop("i", "S0", "S1", "S2"),
        live_out="A B",
        S0=statement("0 <= i < n and i = 0", reads="x", writes="A[i]"),
        S1=statement("0 <= i < n", writes="x"),
        S2=statement("0 <= i < n", reads="x", writes="B[i]"),
    )
    split = separate_live_ranges(part)
    assert [split.statement(name).accesses[0].array for name in ("S0", "S1", "S2")] == ["x", "x_2", "x_2"]


def test_writers_that_may_be_last_stay_together():
    part = scop(
        "n, m",
        loop("i", "S0"),
        loop("j", "S1"),
        S0=statement("0 <= i < n", writes="x"),
        S1=statement("0 <= j < m", writes="x"),
    )
    assert separate_live_ranges(part) is part


def test_a_name_that_is_taken_is_not_used():
    nest = {**TWO_NESTS, "S1": statement("0 <= i < n", reads="w w_2[i]", writes="B[i]")}
    part = scop("n", loop("i", "S0", "S1"), loop("i", "S2", "S3"), live_out="B C", **nest)
    assert "w_3" in [array.name for array in separate_live_ranges(part).arrays]


@given(programs(arrays=("A", "s", "s")))
@settings(max_examples=60)
def test_the_flow_of_values_is_unchanged(program: Program):
    part = program.scop()
    split = separate_live_ranges(part)
    before, after = dependences(part), dependences(split)
    assert after.flow.is_equal(before.flow)
    # Every pair that the shared name alone ordered is gone, everything else is still there.
    for kind in ("anti", "output"):
        assert getattr(after, kind).is_subset(dependences(part, kind="memory")._union(kind))
