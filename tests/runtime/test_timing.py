from __future__ import annotations

import gc

import pytest

from polyviz.errors import OptionError
from polyviz.runtime import timing
from polyviz.runtime.timing import clock_resolution, interleave


class Clock:
    """A clock that moves only when a variant says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0
        monkeypatch.setattr(timing.time, "perf_counter_ns", lambda: self.now)
        monkeypatch.setattr(timing, "clock_resolution", lambda: 100e-9)

    def spend(self, nanoseconds: int) -> None:
        self.now += nanoseconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_variants_take_turns_from_a_rotating_start(clock: Clock) -> None:
    runs: list[str] = []

    def variant(name: str):
        def run() -> None:
            runs.append(name)
            clock.spend(5_000_000)

        return run

    setups = [lambda: runs.append("fresh")] * 3
    interleave([variant("a"), variant("b"), variant("c")], setups, 3)
    assert runs[::2] == ["fresh"] * 12
    assert "".join(runs[1::2]) == "abc" + "abc" + "bca" + "cab"


def test_setups_are_not_timed_and_every_sample_is_fresh(clock: Clock) -> None:
    [samples] = interleave([lambda: clock.spend(2_000_000)], [lambda: clock.spend(50_000_000)], 4)
    assert samples.seconds == pytest.approx((0.002,) * 4)
    assert samples.batch == 1
    assert samples.note == ""


def test_a_tiny_variant_without_setup_is_run_in_batches(clock: Clock) -> None:
    [samples] = interleave([lambda: clock.spend(250)], [None], 5, minimum_time=0.001)
    assert samples.batch == 4000
    assert samples.seconds == pytest.approx((250e-9,) * 5)
    assert samples.resolution == pytest.approx(100e-9 / 4000)
    assert samples.note == ""


def test_a_tiny_variant_is_batched_with_a_setup_before_every_run(clock: Clock) -> None:
    runs = []

    def variant() -> None:
        runs.append("run")
        clock.spend(2_000)

    [samples] = interleave([variant], [lambda: runs.append("fresh")], 5, minimum_time=0.001)
    assert samples.batch == 500
    assert runs[-2:] == ["fresh", "run"]
    assert runs.count("run") >= 5 * 500
    assert all(runs[place - 1] == "fresh" for place, what in enumerate(runs) if what == "run")
    assert samples.seconds == pytest.approx((2e-6,) * 5)
    assert samples.resolution == pytest.approx(100e-9)


@pytest.mark.slow
def test_slow_setups_leave_room_for_fewer_runs(clock: Clock) -> None:
    [samples] = interleave([lambda: clock.spend(2_000)], [lambda: clock.spend(10_000_000)], 2)
    assert samples.batch == 5
    [samples] = interleave([lambda: clock.spend(2_000)], [lambda: clock.spend(10**9)], 2)
    assert samples.batch == 1


@pytest.mark.slow
def test_a_run_near_the_steps_of_the_clock_says_how_coarse_it_is(clock: Clock) -> None:
    [samples] = interleave([lambda: clock.spend(250)], [lambda: None], 5)
    assert samples.note == "a coarse figure: a run takes 250 ns, and the clock steps by 100 ns"


@pytest.mark.slow
def test_a_run_that_the_clock_does_not_see_counts_as_one_step(clock: Clock) -> None:
    [samples] = interleave([lambda: None], [lambda: None], 3)
    assert samples.seconds == (100e-9,) * 3


@pytest.mark.slow
def test_the_garbage_collector_rests_and_comes_back_even_after_a_failure() -> None:
    seen: list[bool] = []
    interleave([lambda: seen.append(gc.isenabled())], [lambda: None], 2, minimum_time=0.0)
    assert seen == [False] * 3
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        interleave([lambda: 1 / 0], [None], 2)
    assert gc.isenabled()
    gc.disable()
    try:
        interleave([lambda: None], [lambda: None], 1)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.slow
def test_progress_is_told_after_each_round() -> None:
    told: list[tuple[int, int]] = []
    interleave([lambda: None], [lambda: None], 3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_wrong_requests() -> None:
    with pytest.raises(OptionError, match=r"^The number of repeats is at least 1, not 0\.$"):
        interleave([lambda: None], [None], 0)
    with pytest.raises(OptionError, match=r"^Every variant needs a setup or None: 1 variants, 2 setups\.$"):
        interleave([lambda: None], [None, None], 1)


def test_the_clock_is_fine_enough() -> None:
    assert 0.0 < clock_resolution() < 1e-4
