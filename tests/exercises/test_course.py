"""Every exercise of the course can be solved, is not solved already, and keeps its solution to itself."""

from __future__ import annotations

import json

import pytest

from polyviz.exercises import find
from polyviz.exercises.course import NAMES
from polyviz.exercises.record import MIME
from polyviz.model.display import mime_bundle
from tests.exercises.solutions import SOLUTIONS


def test_there_is_a_solution_for_each() -> None:
    assert sorted(SOLUTIONS) == sorted(NAMES)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", NAMES)
def test_the_solution_solves_it(name: str) -> None:
    attempt = find(name).attempt(SOLUTIONS[name])
    assert attempt.solved, str(attempt)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("name", NAMES)
def test_the_loops_as_given_do_not(name: str) -> None:
    exercise = find(name)
    if exercise.part is not None:
        assert not exercise.attempt('schedule("original")').solved


@pytest.mark.parametrize("name", NAMES)
def test_no_solution_stands_in_what_is_shown(name: str) -> None:
    exercise = find(name)
    answers = ("", "1 +", "nonsense", "nonsense(1)", "{ S9[i] -> [i] }", "for i in range(n):\n    Z[i] = 0.0")
    attempts = [mime_bundle(exercise.attempt(answer, hints=len(exercise.hints))) for answer in answers]
    assert all(MIME in attempt for attempt in attempts)
    shown = json.dumps(attempts, ensure_ascii=False).replace('\\"', '"')
    given = "\n".join([*answers, "" if exercise.part is None else exercise.part.text])
    for line in SOLUTIONS[name].splitlines():
        assert line.strip() in given or line.strip() not in shown


def test_hints_come_one_by_one() -> None:
    exercise = find("inner-loop")
    [first, second] = exercise.hints
    assert first not in str(exercise.attempt(""))
    assert first in str(exercise.attempt("", hints=1))
    assert second not in str(exercise.attempt("", hints=1))
    assert second in str(exercise.attempt("", hints=2))
