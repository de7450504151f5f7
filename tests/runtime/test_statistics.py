from __future__ import annotations

import math

import numpy as np
import pytest

from polyviz.errors import OptionError
from polyviz.runtime.statistics import Samples, best, distinguishable, median_interval


@pytest.mark.parametrize(
    ("count", "ranks"),
    # Published table of distribution-free 95 % intervals of the median.
    [
        (6, (1, 6)),
        (8, (1, 8)),
        (9, (2, 8)),
        (11, (2, 10)),
        (12, (3, 10)),
        (15, (4, 12)),
        (20, (6, 15)),
        (30, (10, 21)),
        (70, (27, 44)),
    ],
)
def test_ranks_of_the_median_interval(count: int, ranks: tuple[int, int]) -> None:
    values = list(range(count, 0, -1))
    assert median_interval(values) == ranks


@pytest.mark.parametrize("count", [3, 5, 6, 11, 20])
def test_the_interval_covers_the_median_as_often_as_it_says(count: int) -> None:
    random = np.random.default_rng(count)
    draws = random.lognormal(mean=0.0, sigma=0.4, size=(2000, count))
    covered = sum(low <= 1.0 <= high for low, high in map(median_interval, draws.tolist()))
    assert covered / 2000 >= 0.94


def test_one_sample_says_nothing_about_the_spread() -> None:
    assert Samples((2.0,)).interval == (0.0, math.inf)
    assert best({"a": Samples((1.0,)), "b": Samples((100.0,))}) is None


def test_few_samples_far_apart_have_no_interval() -> None:
    assert Samples((0.001, 0.02)).interval == (0.0, math.inf)
    low, high = Samples((1.0, 1.05)).interval
    assert 0.5 < low < 1.0 < high < 2.0


def test_two_close_samples_tell_far_apart_variants_from_each_other() -> None:
    fast, slow = Samples((1.0, 1.01)), Samples((5.0, 5.02))
    assert distinguishable(fast, slow)
    assert best({"slow": slow, "fast": fast}) == "fast"
    assert not distinguishable(Samples((1.0, 1.3)), Samples((1.2, 1.1)))


def test_pairs_see_through_a_drift_that_hides_the_difference() -> None:
    drift = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]
    fast = Samples(tuple(drift))
    slow = Samples(tuple(value * (1.05 + 0.001 * index) for index, value in enumerate(drift)))
    assert fast.interval[1] > slow.interval[0]
    assert distinguishable(fast, slow)
    unpaired = Samples(slow.seconds[:-1])
    assert not distinguishable(fast, unpaired)


def test_identical_programs_are_seldom_told_apart() -> None:
    random = np.random.default_rng(0)
    wrong = 0
    for _ in range(500):
        first, second = (Samples(tuple(random.lognormal(0.0, 0.1, 9).tolist())) for _ in range(2))
        wrong += distinguishable(first, second)
    assert wrong <= 35


def test_a_difference_below_the_clock_is_no_difference() -> None:
    first = Samples((1e-7,) * 7, resolution=5e-8)
    second = Samples((1.4e-7,) * 7, resolution=5e-8)
    assert not distinguishable(first, second)
    assert distinguishable(first, Samples((1.6e-7,) * 7, resolution=5e-8))


def test_the_winner_must_beat_every_other() -> None:
    clear = {"slow": Samples((3.0,) * 7), "fast": Samples((1.0, 1.1, 1.2, 1.0, 1.1, 1.2, 1.1))}
    assert best(clear) == "fast"
    assert best({**clear, "twin": Samples((1.1, 1.0, 1.2, 1.1, 1.0, 1.3, 1.0))}) is None
    assert best({}) is None
    assert best({"only": Samples((1.0,))}) == "only"


@pytest.mark.parametrize("seconds", [(), (1.0, 0.0), (1.0, -1.0), (math.nan,), (math.inf,)])
def test_times_that_cannot_be(seconds: tuple[float, ...]) -> None:
    with pytest.raises(OptionError, match=r"^Samples are one or more positive times in seconds\.$"):
        Samples(seconds)
