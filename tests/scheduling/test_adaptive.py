"""Adaptive: weights as the thesis counts them, the loops they choose, and what it says without sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings

import polyviz as pv
from polyviz.analysis import check, dependences
from polyviz.errors import OptionError
from polyviz.scheduling import schedule
from polyviz.scheduling.adaptive import known_sizes
from polyviz.scheduling.problem import SchedulingProblem
from polyviz.scheduling.reuse_volume import reuse_weights
from tests.analysis.programs import Program, programs
from tests.scheduling import kernels

if TYPE_CHECKING:
    from polyviz.model.scop import Scop

OUTER_SUM = """
def outer_sum(A, B, C, n, m):
    for i in range(n):
        for j in range(m):
            A[i, j] = B[i] + C[j]
"""
CONVOLUTION = """
def convolution(O, I, W, batch, M, H, C, R):
    for n in range(batch):
        for u in range(M):
            for x in range(H):
                for y in range(H):
                    for k in range(C):
                        for r in range(R):
                            for s in range(R):
                                O[n, u, x, y] += W[u, k, r, s] * I[n, k, x + r, y + s]
"""
LAYER = {"M": 16, "H": 8, "C": 8, "R": 3}


def outer_sum(n: int, m: int) -> Scop:
    return pv.extract(OUTER_SUM, sizes={"n": n, "m": m})


def weights_of(part: Scop, weighting: Any) -> tuple[int, ...]:
    problem = SchedulingProblem(part, dependences(part))
    return next(iter(reuse_weights(problem, known_sizes(part, {}), weighting).values()))


def first_rows(part: Scop, count: int, **options: Any) -> list[str]:
    rows = [member.rows for member in schedule(part, "adaptive", **options).bands[0].members]
    return [next(iter(row.values())) for row in rows[:count]]


@pytest.mark.parametrize(
    ("n", "m", "weighting", "expected"),
    [
        (5, 9, "extent", (18, 34)),
        (9, 5, "extent", (34, 18)),
        (5, 9, "retained", (9, 5)),
        (9, 5, "retained", (5, 9)),
    ],
)
def test_weights_of_the_worked_example(n: int, m: int, weighting: str, expected: tuple[int, int]) -> None:
    assert weights_of(outer_sum(n, m), weighting) == expected


@pytest.mark.parametrize(
    ("n", "m", "weighting", "outer"),
    [(5, 9, "extent", "j"), (9, 5, "extent", "i"), (5, 9, "retained", "i"), (9, 5, "retained", "j")],
)
def test_the_heavy_loop_goes_outside(n: int, m: int, weighting: str, outer: str) -> None:
    assert first_rows(outer_sum(n, m), 1, weights=weighting) == [outer]


def test_weights_of_a_convolution_with_a_small_and_a_large_batch() -> None:
    alone = pv.extract(CONVOLUTION, sizes={"batch": 1, **LAYER})
    assert weights_of(alone, "extent") == (6, 96, 48, 48, 48, 18, 18)
    assert first_rows(alone, 3) == ["u", "x", "y"]
    many = pv.extract(CONVOLUTION, sizes={"batch": 32, **LAYER})
    assert weights_of(many, "extent")[0] == 192
    assert first_rows(many, 3) == ["n", "u", "x"]


def test_weights_decide_only_between_equals() -> None:
    """Both products are parallel in one loop only, however heavy the other one is."""
    part = kernels.mvt()
    for band in schedule(part, "adaptive", sizes={"n": 40}).bands:
        assert band.members[0].coincident


def test_the_weights_are_in_the_log() -> None:
    decision = schedule(outer_sum(5, 9), "adaptive").decisions[0]
    assert decision.step == "weights"
    assert decision.text == (
        "Weights of the loops, the values of a loop that take part in reuse: S0: i 18, j 34."
    )
    assert decision.details == {"weighting": "extent", "weights": {"S0": (18, 34)}}


def test_without_sizes_the_order_is_that_of_pluto_and_the_log_says_what_to_give() -> None:
    part = pv.extract(OUTER_SUM, sizes={"n": 5})
    result = schedule(part, "adaptive")
    assert result.map.is_equal(schedule(part, "pluto").map)
    assert result.decisions[0].step == "fallback"
    assert result.decisions[0].text == (
        "Not the reuse of each loop but the order of Pluto was used: not every size is known, give them as "
        'sizes={"m": 1000}.'
    )


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n": 5, "q": 1}, "`q` in sizes is no parameter of the program; its parameters are: m, n."),
        ({"n": 5, "m": 2.5}, "The size of `m` has to be an integer, not 2.5."),
    ],
)
def test_wrong_sizes_are_refused(sizes: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        schedule(pv.extract(OUTER_SUM), "adaptive", sizes=sizes)
    assert caught.value.message == message


def test_sizes_that_contradict_those_of_the_part() -> None:
    with pytest.raises(OptionError, match="contradict"):
        schedule(outer_sum(5, 9), "adaptive", sizes={"n": 6})


@pytest.mark.thinned(3)
@pytest.mark.parametrize("weighting", ["extent", "retained"])
@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_known_programs_stay_legal_for_all_sizes(kernel: str, weighting: str) -> None:
    part = kernels.KERNELS[kernel]()
    sizes = {parameter.name: 20 + number for number, parameter in enumerate(part.parameters)}
    assert check(part, schedule(part, "adaptive", weights=weighting, sizes=sizes))


def test_strided_loops_count_the_values_they_take() -> None:
    strided = """
def every_second(A, B, n):
    for i in range(0, n, 2):
        for j in range(n):
            A[i, j] = B[i]
"""
    part = pv.extract(strided, sizes={"n": 10})
    # B[i] is read again along j: from 5 values of i and 9 of the 10 values of j, as a source and as a sink.
    assert weights_of(part, "extent") == (10, 18)
    assert weights_of(part, "retained") == (10, 0)


@settings(max_examples=15)
@given(programs())
def test_random_programs_are_scheduled_legally(program: Program) -> None:
    part = program.scop()
    known = dependences(part)
    sizes = {parameter.name: 9 for parameter in part.parameters}
    assert check(part, schedule(part, "adaptive", dependences=known, sizes=sizes).map, known=known), str(
        program
    )


@pytest.mark.slow
def test_the_sizes_of_a_run_are_those_of_its_arguments() -> None:
    arguments = np.zeros((5, 9)), np.ones(5), np.ones(9), 5, 9

    comparison = pv.compare(
        OUTER_SUM, *arguments, schedules=("adaptive",), targets=("python",), baselines=("python",), repeats=1
    )

    assert [row.verified for row in comparison.rows if row.label == "adaptive/python"] == [True]
    weights = next(
        each for each in comparison.kernels["adaptive/python"].schedule.decisions if each.step == "weights"
    )
    assert "S0: i 18, j 34" in weights.text
    assert "adaptive" in pv.inspect(OUTER_SUM, *arguments, schedules=("adaptive",)).schedules
