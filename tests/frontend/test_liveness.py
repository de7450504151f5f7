"""Liveness when isl gets too little time to decide it."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.frontend import extract, liveness

PROGRAM = """def total(A, n):
    s = 0.0
    for i in range(n):
        t = A[i] * 2
        A[i] = t
        s += A[i] - t + A[i]
    return s
"""


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "_OPERATIONS", 1)


def test_what_is_undecided_is_said(no_time: None) -> None:
    notes = extract(PROGRAM).notes
    assert (
        "Whether `A` is read before it is written would take too long to tell: its value from before is kept."
        in notes
    )


@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize("target", ["python", "c"])
def test_an_undecided_variable_of_a_function_runs_as_before(target: str) -> None:
    values = np.arange(5.0)
    assert pv.compile(PROGRAM, target=target, schedule="original")(values, 5) == 20.0
    assert values.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


@pytest.mark.usefixtures("no_time")
def test_an_undecided_variable_of_a_cell_that_is_new_is_not_refused() -> None:
    cell = "for i in range(1, n):\n    t = 3 * i\n    A[i] = t"
    part = extract(cell, namespace={"A": np.zeros(5), "n": 5})
    assert part.array("t").live_in
    assert [argument.name for argument in part.arguments] == ["n", "A", "t"]


def test_nothing_is_undecided_otherwise() -> None:
    assert extract(PROGRAM).notes == ()
    (variable,) = (array for array in extract(PROGRAM).arrays if array.name == "t")
    assert not variable.live_in


def test_a_variable_of_a_function_has_no_value_from_before() -> None:
    part = extract(
        "def f(A, n):\n    for i in range(n):\n        if i > 1:\n            t = A[i]\n        A[i] = t"
    )
    assert not part.array("t").live_in
