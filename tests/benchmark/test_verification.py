from __future__ import annotations

import numpy as np

from polyviz.benchmark.verification import Judge

ONE = {"x": np.linspace(1.0, 2.0, 10), "n": np.arange(3)}


def never() -> dict[str, object]:
    raise AssertionError("nobody disagreed, so the original loop need not run again")


def test_agreement_needs_no_second_run() -> None:
    assert Judge(ONE, never).verdict({**ONE, "x": ONE["x"] * (1 + 1e-13)}) == (True, "")


def test_what_is_stable_must_agree() -> None:
    judge = Judge(ONE, lambda: ONE)
    assert judge.verdict({**ONE, "x": ONE["x"] + 1e-6})[0] is False
    assert judge.verdict({**ONE, "n": np.array([0, 1, 3])})[0] is False


def test_amplified_rounding_is_left_out_and_counted() -> None:
    nudged = {**ONE, "x": np.concatenate([ONE["x"][:8], [9.0, np.nan]])}
    judge = Judge(ONE, lambda: nudged)
    actual = {**ONE, "x": np.concatenate([ONE["x"][:8], [5.0, 5.0]])}
    verdict, note = judge.verdict(actual)
    assert verdict
    assert note == "2 of 10 values of x are not compared: the original loop amplifies rounding there"


def test_an_array_of_little_but_rounding_cannot_be_verified() -> None:
    judge = Judge(ONE, lambda: {**ONE, "x": -ONE["x"]})
    assert judge.verdict({**ONE, "x": 3 * ONE["x"]})[0] is False


def test_an_array_that_must_not_change_is_told() -> None:
    assert Judge(ONE, never).verdict({**ONE, "A": np.zeros(2)}) == (False, "it changed A")


def test_an_array_that_is_unstable_everywhere_is_compared_within_what_the_loop_itself_moves() -> None:
    judge = Judge(ONE, lambda: {**ONE, "x": ONE["x"] * (1 + 1e-7)})
    verdict, note = judge.verdict({**ONE, "x": ONE["x"] * (1 + 1e-6)})
    assert verdict
    assert note == "x is compared within 3e-06: the original loop amplifies rounding there"
    assert judge.verdict({**ONE, "x": ONE["x"] * (1 + 1e-4)})[0] is False
    assert judge.verdict({**ONE, "x": np.full(10, np.nan)})[0] is False
