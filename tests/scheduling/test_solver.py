"""HiGHS and isl have to agree on every lexicographic minimum; limits have to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyviz.scheduling.exact import exact_minimum
from polyviz.scheduling.program import IntegerProgram, SolveLimitError, StepBudget
from polyviz.scheduling.solver import PLAIN_SEARCH, LexicographicSolver

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL = st.integers(-3, 3)


def program_of(inequalities: list[list[int]], objectives: list[list[int]], upper: int = 9) -> IntegerProgram:
    width = len(objectives[0])
    return IntegerProgram(
        np.array(inequalities, dtype=np.int64).reshape(-1, width + 1),
        np.zeros((0, width + 1), dtype=np.int64),
        np.array(objectives, dtype=np.int64),
        tuple(range(width)),
        np.full(width, upper, dtype=np.int64),
    )


@st.composite
def random_programs(draw: st.DrawFn) -> IntegerProgram:
    width = draw(st.integers(1, 4))
    row = st.lists(SMALL, min_size=width, max_size=width)
    inequalities = draw(st.lists(st.tuples(st.integers(-8, 8), row), max_size=5))
    objectives = draw(st.lists(row, min_size=1, max_size=2))
    return program_of([[constant, *factors] for constant, factors in inequalities], objectives)


@given(random_programs())
def test_both_solvers_agree(program: IntegerProgram) -> None:
    none = np.zeros((0, program.size + 1), dtype=np.int64)
    exact = exact_minimum(program, none)
    found = LexicographicSolver(program, StepBudget(1_000)).minimum()
    if exact is None:
        assert found is None
    else:
        assert found is not None
        assert found.values.tolist() == exact.tolist()


def test_a_fractional_relaxation_is_not_the_answer() -> None:
    program = program_of([[-3, 2, 2], [3, -2, 0]], [[1, 1]])
    found = LexicographicSolver(program, StepBudget(100)).minimum()
    assert found is not None
    assert found.values.tolist() == [0, 2]


def test_extra_constraints_are_taken_back() -> None:
    program = program_of([[-1, 1, 1]], [[1, 1]])
    solver = LexicographicSolver(program, StepBudget(100))
    first, constrained, again = (
        solver.minimum(),
        solver.minimum(np.array([[-3, 1, 0]])),
        solver.minimum(),
    )
    assert first is not None
    assert constrained is not None
    assert again is not None
    assert first.values.tolist() == again.values.tolist() == [0, 1]
    assert constrained.values.tolist() == [3, 0]


def test_the_budget_is_a_limit() -> None:
    with pytest.raises(SolveLimitError):
        LexicographicSolver(program_of([[-1, 1, 1]], [[1, 0], [0, 1]]), StepBudget(1)).minimum()


def test_a_whole_number_next_above_the_relaxation_is_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[LexicographicSolver] = []
    search = LexicographicSolver._integral_optimum

    def counted(solver: LexicographicSolver) -> NDArray[np.float64] | None:
        searches.append(solver)
        return search(solver)

    monkeypatch.setattr(LexicographicSolver, "_integral_optimum", counted)
    found = LexicographicSolver(program_of([[-1, 2, 0]], [[1, 0]]), StepBudget(100)).minimum()
    assert found is not None
    assert found.values.tolist() == [1, 0]
    assert len(searches) == 1


def test_highs_knows_what_is_switched_off() -> None:
    model = highspy.Highs()  # type: ignore[no-untyped-call]
    assert all(model.setOptionValue(*option) == highspy.HighsStatus.kOk for option in PLAIN_SEARCH.items())


def test_a_search_that_takes_too_long_is_stopped_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).integers(3, 40, (12, 8))
    program = program_of(np.column_stack([-np.full(12, 97), rows]), [[5, 7, 4, 6, 8, 5, 7, 6]])
    monkeypatch.setattr("polyviz.scheduling.solver._PATIENCE", 0.0)
    solver = LexicographicSolver(program, StepBudget(100))
    with pytest.raises(SolveLimitError):
        solver.minimum()
    monkeypatch.undo()
    assert solver.minimum() is not None
