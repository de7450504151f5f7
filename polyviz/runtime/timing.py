"""The timing loop: all variants in turn, round after round, so that what disturbs the machine disturbs them alike."""

from __future__ import annotations

import gc
import itertools
import math
import statistics
import time
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.runtime.statistics import Samples, best, distinguishable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Samples", "best", "clock_resolution", "distinguishable", "interleave"]

MINIMUM_TIME = 0.005
"""Seconds a sample should take, so that neither the clock nor one short disturbance decides it."""

PATIENCE = 0.05
"""Seconds that the untimed setups of one sample may take together."""

_CLEARLY_MEASURABLE = 100
"""A sample of that many clock resolutions is known to about one percent."""


def interleave(
    variants: Sequence[Callable[[], object]],
    setups: Sequence[Callable[[], object] | None],
    repeats: int,
    minimum_time: float = MINIMUM_TIME,
    progress: Callable[[int, int], None] | None = None,
) -> list[Samples]:
    """Time ``variants`` against each other: ``repeats`` samples of each, in seconds per run.

    A variant runs as often per sample as it takes for ``minimum_time`` seconds, and the sample is a typical one of
    these runs. Before every run its setup runs untimed (fresh data for a kernel that works in place); where that takes
    much longer than the run, a sample holds fewer runs. Every variant runs once before anything is timed; each round
    starts with another variant; the garbage collector is off. ``progress`` is called after each round with the rounds
    done and all rounds.

    Raises OptionError for no repeats or unequal lengths, and whatever a variant raises.

    >>> [fast, slow] = interleave([lambda: sum(range(10)), lambda: sum(range(10000))], [None, None], 6)
    >>> best({"fast": fast, "slow": slow})
    'fast'
    """
    if repeats < 1:
        raise OptionError(f"The number of repeats is at least 1, not {repeats}.")
    if len(variants) != len(setups):
        raise OptionError(
            f"Every variant needs a setup or None: {len(variants)} variants, {len(setups)} setups."
        )
    with _without_garbage_collection():
        batches = [
            _warm_up(variant, setup, minimum_time) for variant, setup in zip(variants, setups, strict=True)
        ]
        times: list[list[float]] = [[] for _ in variants]
        for done in range(repeats):
            for index in _rotated(len(variants), done):
                times[index].append(_sample(variants[index], setups[index], batches[index]))
            if progress is not None:
                progress(done + 1, repeats)
    return [
        _samples(seconds, batch, apart=setup is not None)
        for seconds, batch, setup in zip(times, batches, setups, strict=True)
    ]


@lru_cache(maxsize=1)
def clock_resolution() -> float:
    """The smallest step of the clock that can be seen from Python, in seconds."""
    readings = [time.perf_counter_ns() for _ in range(2000)]
    steps = [after - before for before, after in itertools.pairwise(readings) if after > before]
    return min(steps, default=1) * 1e-9


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _rotated(count: int, start: int) -> list[int]:
    """0 … count-1 from another start in each round, so that no variant is always first."""
    return [(start + offset) % count for offset in range(count)]


def _warm_up(variant: Callable[[], object], setup: Callable[[], object] | None, minimum_time: float) -> int:
    """Run the variant untimed, and find out how many runs make a sample long enough."""
    if _sample(variant, setup, 1) >= minimum_time:
        return 1
    batch, most = 1, _affordable(setup)
    while batch < most and (elapsed := _sample(variant, setup, batch) * batch) < minimum_time:
        batch = int(min(most, max(2 * batch, math.ceil(batch * minimum_time / elapsed))))
    return batch


def _affordable(setup: Callable[[], object] | None) -> float:
    """How many runs of a sample their setups leave time for; one where a single setup takes long."""
    if setup is None:
        return math.inf
    return max(1, round(PATIENCE / _single(setup, None)))


def _sample(variant: Callable[[], object], setup: Callable[[], object] | None, batch: int) -> float:
    """Seconds per run of ``batch`` runs: the median of those with a setup, else the mean."""
    if setup is not None:
        return statistics.median(_single(variant, setup) for _ in range(batch))
    runs = itertools.repeat(None, batch)
    started = time.perf_counter_ns()
    for _ in runs:
        variant()
    elapsed = (time.perf_counter_ns() - started) * 1e-9
    return max(elapsed, clock_resolution()) / batch


def _single(variant: Callable[[], object], setup: Callable[[], object] | None) -> float:
    """Seconds of one run after its setup."""
    if setup is not None:
        setup()
    started = time.perf_counter_ns()
    variant()
    return max((time.perf_counter_ns() - started) * 1e-9, clock_resolution())


def _samples(seconds: Sequence[float], batch: int, *, apart: bool) -> Samples:
    """The times of one variant; ``apart`` tells that every run of a batch read the clock itself."""
    resolution = clock_resolution() if apart else clock_resolution() / batch
    shortest = min(seconds)
    note = ""
    if shortest < _CLEARLY_MEASURABLE * resolution:
        note = f"a coarse figure: a run takes {shortest * 1e9:.0f} ns, and the clock steps by {resolution * 1e9:.0f} ns"
    return Samples(tuple(seconds), batch, resolution, note)
