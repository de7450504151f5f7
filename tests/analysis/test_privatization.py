"""Privatization: how deep, when not, and which instance leaves the visible value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import check, dependences
from polyviz.analysis.neighbours import Search
from polyviz.frontend import extract
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    import pytest

USE = {
    "S0": statement("0 <= i, j < n", reads="A[i, j]", writes="x"),
    "S1": statement("0 <= i, j < n", reads="x", writes="B[i, j]"),
}


def test_the_first_read_of_an_earlier_value_settles_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[isl.Map] = []
    unreached = Search.unreached

    def recorded(search: Search, sink: isl.Map) -> isl.Set:
        asked.append(sink)
        return unreached(search, sink)

    monkeypatch.setattr(Search, "unreached", recorded)
    step = statement("0 <= i < n", reads="s", writes="s")
    part = scop("n", loop("i", "S0", "S1", "S2"), S0=step, S1=step, S2=step)
    assert not dependences(part).privatizations
    assert len(asked) == 1


def test_without_a_common_loop_nobody_looks_at_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Search, "unreached", None)
    step = statement("0 <= i < n", reads="s", writes="s")
    part = scop("n", loop("i", "S0"), loop("i", "S1"), S0=step, S1=step)
    assert not dependences(part).privatizations


def only(part):
    (privatization,) = dependences(part).privatizations
    return privatization


def test_a_temporary_is_private_to_its_innermost_loop():
    part = scop("n", loop("i", loop("j", "S0", "S1")), live_out="B", **USE)
    privatization = only(part)
    assert (privatization.array, privatization.depth, privatization.last) == ("x", 2, None)
    assert privatization.reason == (
        "Every value of `x` is written and read within one iteration of the 2 outermost loops around it, "
        "so each iteration can have a copy of its own."
    )
    assert check(part, "{ S0[i, j] -> [j, -i, 0]; S1[i, j] -> [j, -i, 1] }")
    assert not check(part, "{ S0[i, j] -> [i, j, 1]; S1[i, j] -> [i, j, 0] }")


def test_an_accumulator_is_private_to_the_loop_around_it():
    part = scop(
        "n",
        loop("i", "S0", loop("j", "S1"), "S2"),
        live_out="B",
        S0=statement("0 <= i < n", writes="s"),
        S1=statement("0 <= i, j < n", reads="s A[i, j]", writes="s"),
        S2=statement("0 <= i < n", reads="s", writes="B[i]"),
    )
    assert only(part).depth == 1
    assert check(part, "{ S0[i] -> [0, i]; S1[i, j] -> [1, j, i]; S2[i] -> [2, i] }")
    assert not check(part, "{ S0[i] -> [0, i]; S1[i, j] -> [1, -j, i]; S2[i] -> [2, i] }")


def test_a_visible_scalar_keeps_the_value_of_its_last_write():
    part = scop("n", loop("i", loop("j", "S0", "S1")), live_out="x B", **USE)
    last = only(part).last
    assert last.is_equal(isl.UnionSet("[n] -> { S0[n - 1, n - 1] : n >= 1 }"))
    assert only(part).reason.endswith("; the last iteration leaves the final value.")


def test_the_last_write_depends_on_the_sizes():
    part = scop(
        "n, m",
        loop("i", "S0", loop("j", "S1")),
        S0=statement("0 <= i < n", writes="s"),
        S1=statement("0 <= i < n and 0 <= j < m", reads="s", writes="s"),
    )
    assert only(part).last.is_equal(
        isl.UnionSet("[n, m] -> { S0[n - 1] : n >= 1 and m <= 0; S1[n - 1, m - 1] : n >= 1 and m >= 1 }")
    )


def test_a_visible_scalar_with_an_uncertain_write_is_private_where_a_certain_one_comes_before_it():
    certain = {"S0": statement("0 <= i < n", writes="x")}
    uncertain = {
        "S1": statement("0 <= i < n", writes="?x"),
        "S2": statement("0 <= i < n", reads="x", writes="B[i]"),
    }
    last = only(scop("n", loop("i", "S0", "S1", "S2"), **certain, **uncertain)).last
    assert last.is_equal(isl.UnionSet("[n] -> { S1[n - 1] : n >= 1 }"))
    assert dependences(scop("n", loop("i", "S1", "S2"), **uncertain)).privatizations == ()


def test_a_value_from_before_the_part_forbids_it():
    part = scop("n", loop("i", "S0"), live_out="", S0=statement("0 <= i < n", reads="x", writes="x"))
    assert dependences(part).privatizations == ()


def test_a_value_carried_to_the_next_iteration_forbids_it():
    part = scop(
        "n",
        "S0",
        loop("i", "S1"),
        live_out="",
        S0=statement(writes="x"),
        S1=statement("0 <= i < n", reads="x A[i]", writes="x"),
    )
    assert dependences(part).privatizations == ()


def test_equal_loop_names_are_not_a_common_loop():
    part = scop(
        "n",
        loop("i", "S0"),
        loop("i", "S1"),
        live_out="B",
        S0=statement("0 <= i < n", reads="A[i]", writes="x"),
        S1=statement("0 <= i < n", reads="x", writes="B[i]"),
    )
    assert dependences(part).privatizations == ()


def test_a_may_write_over_the_own_copy_stays_private():
    part = scop(
        "n",
        loop("i", "S0", "S1", "S2"),
        live_out="B",
        S0=statement("0 <= i < n", writes="x"),
        S1=statement("0 <= i < n", writes="?x"),
        S2=statement("0 <= i < n", reads="x", writes="B[i]"),
    )
    assert only(part).depth == 1
    assert not check(part, "{ S0[i] -> [i, 1]; S1[i] -> [i, 0]; S2[i] -> [i, 2] }")


def test_memory_based_dependences_are_dropped_alike():
    part = scop("n", loop("i", loop("j", "S0", "S1")), live_out="B", **USE)
    found = dependences(part, kind="memory")
    assert found.validity.is_equal(isl.UnionMap("[n] -> { S0[i, j] -> S1[i, j] : 0 <= i, j < n }"))
    assert not found.output.is_empty()


def test_what_never_runs_leaves_nothing_to_be_private():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n and n < 0", reads="x", writes="B[i]"))
    assert dependences(part).privatizations == ()


def test_a_copy_that_was_surely_written_holds_the_final_value_after_a_write_that_may_happen():
    inner = "    for j in range(1, n):\n        if A[i, j] > m: m = A[i, j]\n"
    part = extract("for i in range(n):\n    m = A[i, 0]\n" + inner)
    privatization = only(part)
    assert (privatization.array, privatization.depth) == ("m", 1)
    assert privatization.last.is_equal(
        isl.UnionSet("[n] -> { S1[n - 1, n - 1] : n >= 2; S0[0] : n = 1 }")
    )
