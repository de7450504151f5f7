"""Subscripts that leave their array for the sizes at hand."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import check_bounds
from polyviz.analysis.bounds import may_leave
from polyviz.errors import OutOfBoundsError
from tests.builders import loop, scop, statement


def shifted():
    return scop(
        "n",
        loop("i", loop("j", "S0")),
        context="n >= 0",
        S0=statement("0 <= i < n and 0 <= j <= i", reads="A[i + 1, j] ?A[*, *] s", writes="B[n - 1 - j]"),
    )


def test_sizes_that_fit_pass():
    check_bounds(shifted(), {"n": 4}, {"A": (5, 4), "B": (4,)})


def test_a_loop_that_does_not_run_touches_nothing():
    check_bounds(shifted(), {"n": 0}, {"A": (0, 0), "B": (0,)})


def test_a_may_access_and_unlisted_arrays_are_left_alone():
    check_bounds(shifted(), {"n": 4}, {"B": (4,)})


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        (
            {"A": (4, 4)},
            "`A[i + 1, j]` leaves its array: iteration i=3, j=0 reads A[4, 0], but axis 0 of `A` has 4 elements.",
        ),
        (
            {"A": (5, 1)},
            "`A[i + 1, j]` leaves its array: iteration i=1, j=1 reads A[2, 1], but axis 1 of `A` has 1 element.",
        ),
        (
            {"B": (3,)},
            "`B[n - 1 - j]` leaves its array: iteration i=0, j=0 writes B[3], but axis 0 of `B` has 3 elements.",
        ),
    ],
)
def test_the_first_iteration_that_leaves_is_named(sizes, sentence):
    with pytest.raises(OutOfBoundsError) as caught:
        check_bounds(shifted(), {"n": 4}, sizes)
    assert caught.value.message == sentence
    assert caught.value.span.line == 1


def test_a_negative_subscript_is_refused():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", reads="A[i - 1]", writes="A[i]"))
    with pytest.raises(OutOfBoundsError, match=r"iteration i=0 reads A\[-1\]"):
        check_bounds(part, {"n": 3}, {"A": (3,)})


def test_the_same_part_is_judged_anew_for_other_sizes():
    part = shifted()
    check_bounds(part, {"n": 4}, {"B": (4,)})
    with pytest.raises(OutOfBoundsError):
        check_bounds(part, {"n": 5}, {"B": (4,)})


def test_what_an_instance_reads_of_what_it_wrote_is_tested_too():
    text = """def f(A, B, M, k):
    for i in range(B.shape[0]):
        if M[i] > 0:
            A[i + k] = B[i]
            B[i] = A[i + k] * 2.0"""
    assert {span.line for _, span in may_leave(pv.extract(text))} == {4, 5}
    kernel = pv.compile(text, target="c")
    for first in (-2, 10**9):
        a, b, chosen = np.zeros(5), np.arange(5.0), np.array([0, 1, 1, 1, 0])
        if first < 0:
            kernel(a, b, chosen, first)
            assert b.tolist() == [0.0, 2.0, 4.0, 6.0, 4.0]
        else:
            with pytest.raises(OutOfBoundsError):
                kernel(a, b, chosen, first)
            assert b.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
