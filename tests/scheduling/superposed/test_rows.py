"""Candidate rows: their order, shifts and reversals, and the limit of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis import check, dependences
from polyviz.analysis.carried import constraints_of
from polyviz.analysis.distinct_lines import line_cost
from polyviz.analysis.loop_kinds import Term
from polyviz.frontend import extract
from polyviz.gallery import kernel
from polyviz.scheduling import schedule
from polyviz.scheduling.superposed import rows
from polyviz.scheduling.superposed.parts import Scene
from polyviz.scheduling.superposed.rows import RowSearch
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    import pytest

    from polyviz.model.scop import Scop


def search(part: Scop) -> RowSearch:
    names = tuple(one.name for one in part.statements)
    constraints = tuple(one for one in constraints_of(part, dependences(part)) if not one.pairs.is_empty())
    free = {one.name: tuple(range(len(one.iterators))) for one in part.statements}
    return RowSearch(Scene(names, constraints, free), {one.name: line_cost(one) for one in part.statements})


def test_the_best_row_comes_first_and_of_equals_the_inner_one() -> None:
    found = search(extract(kernel("jacobi-2d-alt").function)).candidates()
    assert [candidate.kind for candidate in found].count("violation") == 7
    assert (found[0].terms, found[0].kind) == ({"S0": Term(0), "S1": Term(0)}, "sequential")
    part = scop("n", loop("r", loop("q", "S")), S=statement("0 <= r, q < n", writes="A[r, q, 0]"))
    assert [candidate.terms["S"].iterator for candidate in search(part).candidates()] == [1, 0]


ALTERNATING = """
def alternating(A, C, n, m):
    t = 0.0
    for i in range(n):
        for j in range(m):
            t += A[i] * C[j]
            A[i] = 0.5 * A[i]
    return t
"""


def test_threads_do_not_share_a_sum_with_whose_steps_a_statement_alternates() -> None:
    made = schedule(extract(ALTERNATING), "superposition")
    assert any("S2 alternates with its steps: threads cannot share it" in one.text for one in made.decisions)
    assert not any(one.reduction for one in made.superposition.regular["S1"])


def shifted() -> Scop:
    """S reads what R wrote one place further in the step before; both may run in parallel once R is shifted."""
    inside = "0 <= t < T and 1 <= i < n"
    return scop(
        "T, n",
        loop("t", loop("i", "S"), loop("i", "R")),
        S=statement(inside, reads="A[t, i]", writes="B[t, i]"),
        R=statement(inside, reads="B[t, i + 1]", writes="A[t + 1, i + 1]"),
    )


def test_a_shift_makes_a_row_forall() -> None:
    found = search(shifted()).candidates()
    (row,) = [candidate for candidate in found if candidate.changed]
    assert (row.kind, row.terms) == ("forall", {"S": Term(1), "R": Term(1, 1, 1)})


def test_a_shifted_plan_is_legal() -> None:
    part = shifted()
    result = schedule(part, "superposition", tile_sizes=(4,))
    assert result.superposition.legality
    assert check(part, result)
    assert result.superposition.notation().splitlines() == [
        "S: (0, floor(i/4)_x, 0, i_x, t, 0)",
        "R: (0, floor((i + 1)/4)_x, 0, (i + 1)_x, t, 1)",
    ]


def test_a_loop_that_must_run_backwards() -> None:
    part = scop(
        "n",
        loop("i", loop("j", "S")),
        S=statement("1 <= i < n and 0 <= j < n - 1", reads="A[i - 1, j + 1] A[i - 1, j]", writes="A[i, j]"),
    )
    (row,) = [candidate for candidate in search(part).candidates() if candidate.changed]
    assert (row.kind, row.terms) == ("sequential", {"S": Term(1, -1)})


def test_a_large_search_is_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    part = extract(kernel("jacobi-2d").function)
    whole = search(part).candidates()
    monkeypatch.setattr(rows, "FULL_SEARCH", 1)
    pruned = search(part)
    legal = [candidate.terms for candidate in pruned.candidates() if candidate.kind != "violation"]
    assert legal == [candidate.terms for candidate in whole if candidate.kind != "violation"]
    assert not pruned.cut
    monkeypatch.setattr(rows, "MOST_VISITS", 2)
    result = schedule(part, "superposition")
    assert check(part, result)
    (text, *_) = [decision.text for decision in result.decisions if decision.step == "cut"]
    assert text.startswith("Thread level: more than")
