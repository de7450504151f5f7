"""Which iteration leaves an array, as the loops once more tell."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.outside import located
from tests.running import function_of

SCATTER = "def f(y, x, place):\n    for i in range(len(x)):\n        y[place[i]] += x[i]\n"
WRONG = np.array([0, 3, -5, 1])


def refused(text: str, *arguments: object, target: str = "python") -> pv.OutOfBoundsError:
    kernel = pv.compile(function_of(text), target=target)
    with pytest.raises(pv.OutOfBoundsError) as caught:
        kernel(*arguments)
    return caught.value


@pytest.mark.parametrize("target", ["c", "numba", "python", "emulated"])
def test_a_call_tells_the_iteration_the_value_and_the_length(golden, target: str) -> None:
    y = np.zeros(4)
    golden(str(refused(SCATTER, y, np.ones(4), WRONG, target=target)))
    assert not y.any()


def test_a_call_like_one_before_tells_them_too() -> None:
    kernel = pv.compile(function_of(SCATTER), target="c")
    place = np.array([0, 1, 2, 3])
    for _ in range(3):
        kernel(np.zeros(4), np.ones(4), place)
    place[2] = 7
    with pytest.raises(pv.OutOfBoundsError, match=r"in iteration i=2: `place\[i\]` is 7, and"):
        kernel(np.zeros(4), np.ones(4), place)


def test_one_of_several_subscripts_over_several_lines(golden) -> None:
    text = """
        def f(A, rows, columns):
            total = 0.0
            for step in range(2):
                for i in range(len(rows)):
                    total += A[rows[i],
                               columns[i] + 1]
            return total
    """
    golden(str(refused(text, np.ones((3, 4)), np.array([0, 2]), np.array([2, 3]))))


def test_an_array_of_subscripts_at_once(golden) -> None:
    golden(str(refused("def f(A, place):\n    A[place] += 1.0\n", np.ones(4), np.array([3, 4, 9]))))


def test_inside_a_helper_of_the_text_the_loops_of_the_caller_are_named() -> None:
    text = """
        def f(A, place):
            def at(k):
                return A[place[k]]
            total = 0.0
            for i in range(len(place)):
                total += at(i)
            return total
    """
    error = refused(text, np.ones(4), WRONG)
    assert error.message.startswith("`A[place[k]]` leaves its array in iteration i=2: `place[k]` is -5, and")


def test_where_the_loops_take_too_long_the_values_say_something(golden) -> None:
    kernel = pv.compile(function_of(SCATTER), target="c")
    given = {"y": np.zeros(4), "x": np.ones(4), "place": WRONG}
    error = pv.OutOfBoundsError("A subscript of y is out of range (line 3).")
    golden(str(located(error, kernel.scop, kernel.original, given, patience=0.0)))


def test_what_is_known_already_stays() -> None:
    error = pv.OutOfBoundsError("Known.", span=pv.Span(1, 1, 1, 2), text="x")
    kernel = pv.compile(function_of(SCATTER), target="python")
    assert located(error, kernel.scop, kernel.original, {}) is error


def test_text_that_is_indented_as_a_whole(golden) -> None:
    kernel = pv.compile("\n".join(f"    {line}" for line in SCATTER.splitlines()), target="python")
    with pytest.raises(pv.OutOfBoundsError) as caught:
        kernel(np.zeros(4), np.ones(4), WRONG)
    golden(str(caught.value))
