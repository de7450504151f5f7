"""Sets of values of whole numbers: what a condition and an assignment leave of them."""

from __future__ import annotations

import islpy as isl
import pytest

from polyviz.analysis.scalar_states import States
from polyviz.model.expression import Binary, Compare, Constant, Element, Expression, Logical, Name

SPACE = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=["low", "high"], params=["n", "q"])
STATES = States(("low", "high"), SPACE, ("n",))
LOW, HIGH, N, Q = Element("low"), Element("high"), Name("n"), Name("q")


def state(text: str) -> isl.Set:
    return isl.Set(f"[n, q] -> {{ [low, high] : {text} }}")


def half(value: Expression) -> Expression:
    return Binary("//", value, Constant(2))


BELOW = Compare(("<",), (LOW, HIGH))
UNKNOWN = Compare(("<",), (Element("x", (LOW,)), Constant(0.5)))


@pytest.mark.parametrize(
    ("condition", "holds", "left"),
    [
        (BELOW, True, "low < high"),
        (BELOW, False, "low >= high"),
        (Logical("and", (BELOW, UNKNOWN)), True, "low < high"),
        (Logical("and", (BELOW, UNKNOWN)), False, ""),
        (Logical("or", (BELOW, UNKNOWN)), False, "low >= high"),
        (Logical("or", (BELOW, Compare(("==",), (LOW, N)))), True, "low < high or low = n"),
        (Compare(("<=", "<"), (Constant(0), LOW, N)), True, "0 <= low < n"),
        (Compare(("<=", "<"), (Constant(0), LOW, N)), False, "low < 0 or low >= n"),
    ],
)
def test_conditions(condition: Expression, *, holds: bool, left: str) -> None:
    everything = isl.Set.universe(SPACE)
    assert STATES.where(everything, condition, holds=holds).is_equal(state(left or "true"))


HALVES = "exists (l : 0 <= l < n and low = floor((l + n)/2)) and high = n"


@pytest.mark.parametrize(
    ("value", "after"),
    [
        (Constant(3), "low = 3 and high = n > 0"),
        (Binary("+", LOW, Constant(1)), "1 <= low <= n and high = n"),
        (half(Binary("+", LOW, HIGH)), HALVES),
        (Binary("+", LOW, half(Binary("-", HIGH, LOW))), HALVES),
        (Binary("%", LOW, Constant(2)), "0 <= low <= 1 and low < n and high = n"),
        (Binary("+", LOW, N), "n <= low < 2n and high = n"),
        (Binary("*", Constant(2), LOW), "exists (l : 0 <= l < n and low = 2l) and high = n"),
        # What may grow by any number is not followed.
        (Binary("+", LOW, Q), "n > 0 and high = n"),
        (Element("x", (LOW,)), "n > 0 and high = n"),
    ],
)
def test_assignments(value: Expression, after: str) -> None:
    found = STATES.assigned(state("0 <= low < n and high = n"), "low", value)
    assert found.is_equal(state(after)), found


def test_what_may_double_in_each_step_is_not_followed() -> None:
    found = STATES.assigned(state("low >= 1"), "low", Binary("*", Constant(2), LOW))
    assert found.is_equal(state("true"))


def test_a_sum_of_what_may_be_large_is_not_followed() -> None:
    middle = half(Binary("+", LOW, HIGH))
    assert STATES.assigned(state("0 <= low < q and high = q"), "low", middle).is_equal(state("q > 0 and high = q"))
