"""Accesses that constant subscripts keep apart are analysed apart, with the same result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis import dataflow, dependences, known_answers
from polyviz.analysis.accesses import accesses_by_array, parts_of
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    import pytest

    from polyviz.analysis.accesses import ArrayAccesses
    from polyviz.model.scop import Scop


def planes(**others: str) -> Scop:
    """Three planes of an array, two of which pass values to each other, and perhaps more that is read."""
    return scop(
        "n, t",
        loop("s", loop("i", "S0"), loop("j", "S1")),
        S0=statement(
            "0 <= s < t and 1 <= i < n", reads="A[0, i] A[1, i - 1] A[2, i]", writes="A[0, i] ?A[2, i - 1] A[2, i]"
        ),
        S1=statement("0 <= s < t and 1 <= j < n", reads=others.get("reads", "A[0, j - 1]"), writes="A[1, j]"),
    )


def sizes_of(accesses: ArrayAccesses) -> list[tuple[int, int, int]]:
    """How many reads, writes and certain writes each part has, most of them first."""
    sizes = [
        (len(part.read_references), len(part.write_references), len(part.must_references))
        for part in parts_of(accesses)
    ]
    return sorted(sizes, reverse=True)


def test_references_with_different_constants_are_in_different_parts():
    [found] = accesses_by_array(planes())
    assert sizes_of(found) == [(2, 1, 1), (1, 2, 1), (1, 1, 1)]


def test_a_reference_without_constants_joins_all_that_it_may_meet():
    [found] = accesses_by_array(planes(reads="A[s, j]"))
    assert parts_of(found) == (found,)


def test_constants_of_several_subscripts_tell_apart_what_one_alone_does():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", reads="A[0, i] A[i, 1] A[1, 2]", writes="A[2, 0]"))
    [found] = accesses_by_array(part)
    assert sizes_of(found) == [(2, 0, 0), (1, 0, 0), (0, 1, 1)]


def test_parts_hold_the_same_accesses_as_the_whole():
    [found] = accesses_by_array(planes())
    parts = parts_of(found)
    for kind in ("reads", "writes", "must_writes"):
        whole = getattr(found, kind)
        together = getattr(parts[0], kind)
        for part in parts[1:]:
            together = together.union(getattr(part, kind))
        assert together.is_equal(whole)


def test_the_dependences_are_those_of_the_whole_array(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = dependences(planes())
    monkeypatch.setattr(dataflow, "parts_of", lambda accesses: (accesses,))
    whole = dependences(planes())
    for kind in ("flow", "anti", "output", "input"):
        assert getattr(apart, kind).is_equal(getattr(whole, kind))


def test_isl_is_asked_for_one_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[set[int]] = []
    by_isl = dataflow._by_isl

    def recorded(question: dataflow._Question) -> object:
        cells = question.sinks.range().union(question.sources.range())
        asked.append({plane for plane in range(3) if f"A[{plane}" in str(cells)})
        return by_isl(question)

    monkeypatch.setattr(dataflow, "_by_isl", recorded)
    monkeypatch.setattr(known_answers, "_answers", {})
    dependences(planes())
    assert asked
    assert all(len(one) == 1 for one in asked)
