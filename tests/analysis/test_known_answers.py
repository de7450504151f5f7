"""What was found out about a question is not looked for again."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

import polyviz as pv
from polyviz.analysis import dataflow, dependences, known_answers, neighbours
from polyviz.analysis.known_answers import known_or

SUMS = """
def sums(A, w, out, n):
    for i in range(n):
        total = 0.0
        for j in range(max(0, i - w), min(n, i + w + 1)):
            total += A[j]
        out[i] = total
"""


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known from tests before."""
    monkeypatch.setattr(known_answers, "_answers", {})


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry per question that isl's own analysis leaves open, and that is answered reference by reference."""
    found: list[str] = []
    nearest = neighbours.Search._nearest
    monkeypatch.setattr(dataflow, "_PER_REFERENCE", 1)
    monkeypatch.setattr(dataflow, "_PER_PAIR", 0)
    monkeypatch.setattr(
        neighbours.Search, "_nearest", lambda self, sink: (found.append(str(sink)), nearest(self, sink))[1]
    )
    return found


def test_only_what_is_final_is_kept():
    assert known_or("first", lambda: 1, lambda _: False) == 1
    assert known_or("first", lambda: 2, lambda _: True) == 2
    assert known_or("first", lambda: 3, lambda _: True) == 2


def test_the_oldest_answers_go_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(known_answers, "_MOST", 2)
    for name in "abc":
        known_or(name, name.upper, lambda _: True)
    assert list(known_answers._answers) == ["b", "c"]


def test_another_part_with_the_same_accesses_asks_nothing(searched: list[str]):
    part = pv.extract(SUMS)
    first = dependences(part)
    assert searched
    searched.clear()
    second = dependences(replace(part))
    assert searched == []
    assert [str(one.relation) for one in first.relations] == [str(one.relation) for one in second.relations]


def test_a_read_and_a_write_that_look_back_at_the_same_sources_are_one_question(
    searched: list[str], monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []
    before = neighbours.Search.before
    monkeypatch.setattr(
        neighbours.Search, "before", lambda self, sink: (asked.append(""), before(self, sink))[1]
    )
    dependences(pv.extract(SUMS))
    assert len(searched) < len(asked)


def test_arrays_side_by_side_with_the_same_subscripts_are_one_question(searched: list[str]):
    dependences(pv.extract("for i in range(1, n):\n    C[i] = A[i] * A[i - 1]"))
    one = len(searched)
    known_answers._answers.clear()
    searched.clear()
    dependences(pv.extract("for i in range(1, n):\n    C[i] = A[i] * A[i - 1] + B[i] * B[i - 1]"))
    assert len(searched) == one > 0


def test_what_was_found_with_too_little_time_is_looked_for_again(
    searched: list[str], monkeypatch: pytest.MonkeyPatch
):
    part = pv.extract(SUMS)
    known_answers._answers.clear()  # of the reading, which looks for the live ranges of scalars
    module = sys.modules["polyviz.analysis.dependences"]
    with monkeypatch.context() as patch:
        patch.setattr(module, "_OPERATIONS", 150)
        patch.setattr(module, "_OPERATIONS_PER_REFERENCE", 0)
        assert dependences(part).notes
    assert not dependences(replace(part)).notes
