"""Limits on isl's work: they fail softly, and leave the context as it was."""

from __future__ import annotations

import islpy as isl
import pytest

from polyviz.model.isl_limits import Allowance, LimitError, at_most, coalesced, solved, step_by_step

POINTS = isl.Set("[n] -> { [i, j] : 0 <= i <= j <= n and (i + j) mod 3 = 0 }")


def limit() -> int:
    return isl.DEFAULT_CONTEXT.get_max_operations()


def test_the_limit_before_comes_back():
    with at_most(1_000_000):
        with pytest.raises(isl.Error), at_most(1):
            POINTS.lexmax()
        assert limit() == 1_000_000
        assert POINTS.lexmax().is_equal(POINTS.lexmax())
    assert limit() == 0


def test_an_error_of_another_kind_is_no_answer_either():
    def wrong_space() -> isl.Set:
        return POINTS.union(isl.Set("{ [i] }"))

    assert solved(wrong_space) is None
    assert limit() == 0


def test_a_limit_that_strikes_while_an_argument_is_converted_is_a_limit():
    """islpy then says that the type of the argument is wrong."""
    lowest = POINTS.dim_min(0)
    for operations in range(2, 400):
        try:
            with at_most(operations):
                lowest + 1
        except isl.Error as error:
            assert isinstance(error, LimitError)
    assert solved(lambda: lowest + 1) is not None


def test_a_wrong_type_stays_one():
    with pytest.raises(TypeError), at_most(1_000_000):
        POINTS.intersect("no set")


def test_what_cannot_be_simplified_in_time_stays():
    assert solved(POINTS.lexmax, 1) is None
    assert coalesced(isl.Set("{ [0]; [1] }")).n_basic_set() == 1


def test_an_allowance_is_spent_by_limits_and_then_refuses():
    allowance = Allowance(450)
    assert allowance.solve(POINTS.lexmax, 10) is None
    assert allowance.operations == 440
    assert allowance.solve(POINTS.lexmax, 1_000_000) is None
    assert allowance.is_spent
    assert allowance.solve(lambda: isl.Set("{ [0] }"), 1_000_000) is None


def test_a_step_runs_once_and_costs_the_limits_up_to_the_one_that_suffices() -> None:
    runs = []

    def lowest() -> isl.Set:
        runs.append("")
        return POINTS.lexmax()

    allowance = Allowance(1_000_000)
    assert allowance.solve(lowest, 200_000) is not None
    assert len(runs) == 1
    spent = 1_000_000 - allowance.operations
    assert spent in (100, 500, 2_100, 8_500)
    with at_most(spent):
        assert POINTS.lexmax() is not None


def test_what_other_steps_needed_is_not_counted_for_the_next() -> None:
    allowance = Allowance(1_000_000)
    allowance.solve(POINTS.lexmax, 200_000)
    before = allowance.operations
    assert allowance.solve(lambda: isl.Val(0), 200_000) is not None
    assert before - allowance.operations == 100


def test_where_several_steps_failed_the_next_get_less() -> None:
    def endless() -> isl.Set:
        raise isl.Error("maximal number of operations exceeded")

    allowance = Allowance(10_000_000)
    spent = []
    for _ in range(6):
        before = allowance.operations
        assert allowance.solve(endless, 200_000) is None
        spent.append(before - allowance.operations)
    assert min(spent[:4]) > 200_000
    assert max(spent[4:]) < 40_000


def test_an_attempt_costs_only_when_it_fails():
    allowance = Allowance(100_000)
    assert allowance.attempt(POINTS.lexmax, 50_000) is not None
    assert allowance.operations == 100_000
    assert allowance.attempt(POINTS.lexmax, 10) is None
    assert allowance.operations == 99_990
    assert Allowance(0).attempt(isl.Set("{ [i, j] : 0 <= i <= j <= 9 }").lexmax, 50_000) is not None


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The limits of a computation that never ends within them, in the order of the attempts."""
    found: list[int] = []
    monkeypatch.setattr("polyviz.model.isl_limits._USUAL", 90)
    return found


def spend(tried: list[int], seconds: list[float], monkeypatch: pytest.MonkeyPatch, most: int = 400) -> None:
    """Ask for more than there is, in attempts that take so many ``seconds`` of the processor, ``most`` at the end."""
    clock = iter([moment for lasted in seconds for moment in (0.0, lasted)] + [0.0])
    monkeypatch.setattr("polyviz.model.isl_limits.time.thread_time", lambda: next(clock))

    def endless() -> None:
        tried.append(limit())
        while True:
            isl.Val(0)

    with pytest.raises(LimitError):
        step_by_step(endless, most)


def test_a_question_gets_all_its_operations_while_they_are_fast(
    tried: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(tried, [0.9] * 5, monkeypatch)
    assert tried == [90, 120, 160, 213, 400]


def test_a_question_whose_operations_are_very_fast_is_asked_less_often(
    tried: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(tried, [0.1] * 3, monkeypatch)
    assert tried == [90, 360, 400]


def test_a_question_whose_operations_get_slow_is_given_up(
    tried: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(tried, [0.1, 60.0], monkeypatch)
    assert tried == [90, 360]


def test_a_question_whose_operations_get_no_slower_gets_all_of_them_at_once(
    tried: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(tried, [0.1, 0.4, 1.2], monkeypatch, 1000)
    assert tried == [90, 360, 1000]


def test_a_question_whose_operations_get_slower_is_asked_with_few_more(
    tried: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(tried, [0.1, 0.8, 1.9, 2.1], monkeypatch, 1000)
    assert tried == [90, 360, 480, 640]
