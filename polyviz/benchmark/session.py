"""The worker's side of a race: data and prepared variants, kept from one job to the next.

Every function here is a job (``Worker.run("polyviz.benchmark.session:sample", …)``) that takes all it needs: after a
crash the next job finds an empty process and prepares anew.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from polyviz.benchmark.subject import Data, Subject

Values = Mapping[str, Any]
Call = Callable[[Values, Mapping[str, int]], Any]

LONG_RUN = 0.25
"""A first run below so many seconds says little: it feels caches, pages and sleeping threads, and is not counted."""

LINE, OFFSET = 64, 16
"""Arrays begin ``OFFSET`` bytes into a cache line of ``LINE``, in every process: where large arrays of NumPy begin.

Whether vectors cross lines makes a quarter of the time of some loops, and small arrays begin anywhere.
"""
SAMPLE_TIME = 0.03
MOST_RUNS = 50


class Runnable(Protocol):
    """A variant as plain data that can travel to the worker and becomes a function there."""

    def prepare(self, example: Values, parameters: Mapping[str, int]) -> Call:
        """Compile for arguments like ``example``, which may be used up; the function takes values and sizes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: the arguments it changed, what it returned, and its seconds."""

    arrays: Values
    result: Any
    seconds: float


@dataclass(slots=True)
class _Session:
    """What this process holds of the current subject."""

    data: Data | None = None
    given: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)

    def enter(self, subject: Subject) -> None:
        if self.data == subject.data:
            return
        self.given, self.values, self.calls = {}, {}, {}
        gc.collect()
        self.given = dict(zip(subject.names, subject.data.arguments(), strict=True))
        self.place()
        self.data = subject.data

    def place(self) -> None:
        """Put the values somewhere else in memory, as they were at first.

        How fast a processor reads what just fits into its last cache depends on the pages that it got from the system:
        a variant that keeps them for all rounds is lucky, or unlucky, in each of them.
        """
        self.values = {name: placed(value) for name, value in self.given.items()}

    def call(self, subject: Subject, label: str, runnable: Runnable) -> Call:
        if label not in self.calls:
            arguments = subject.data.example().arguments()
            example = dict(zip(subject.names, arguments, strict=True))
            self.calls[label] = runnable.prepare(example, subject.example_parameters)
        return self.calls[label]

    def renew(self, names: tuple[str, ...]) -> None:
        """Bring ``names`` back to their first values; scalars never change."""
        for name in names:
            if isinstance(self.values[name], np.ndarray):
                self.values[name][...] = self.given[name]


_session = _Session()


def prepare(subject: Subject, label: str, runnable: Runnable) -> float:
    """Compile a variant; the seconds that took."""
    _session.enter(subject)
    started = time.perf_counter()
    _session.call(subject, label, runnable)
    return time.perf_counter() - started


def run_once(subject: Subject, label: str, runnable: Runnable) -> Outcome:
    """Run a variant on fresh data; every argument that it, or the original loop, changes comes back."""
    _session.enter(subject)
    call = _session.call(subject, label, runnable)
    _session.renew(subject.names)
    started = time.perf_counter()
    result = call(_session.values, subject.parameters)
    elapsed = time.perf_counter() - started
    return Outcome(_changed(subject), result, elapsed)


def run_nudged(subject: Subject, label: str, runnable: Runnable) -> Outcome:
    """As `run_once`, on inputs whose floating-point values differ in their last bits."""
    _session.enter(subject)
    call = _session.call(subject, label, runnable)
    _session.renew(subject.names)
    random = np.random.default_rng(subject.data.seed)
    for value in _session.values.values():
        if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            value[...] *= 1 + np.finfo(value.dtype).eps * random.integers(-4, 5, value.shape)
    result = call(_session.values, subject.parameters)
    return Outcome({name: _session.values[name] for name in subject.written}, result, 0.0)


def sample(subject: Subject, label: str, runnable: Runnable, keep: bool) -> Outcome:
    """Seconds of one run from fresh data; unless it is long, the median of those after one that is not counted.

    Each sample has a place in memory of its own. ``keep``: what the last run left comes back with them.
    """
    _session.enter(subject)
    call = _session.call(subject, label, runnable)
    _session.place()
    gc.disable()
    try:
        seconds, result = _timed(subject, call)
        if seconds < LONG_RUN:
            runs: list[float] = []
            while len(runs) < MOST_RUNS and sum(runs) < SAMPLE_TIME:
                elapsed, result = _timed(subject, call)
                runs.append(elapsed)
            seconds = statistics.median(runs)
    finally:
        gc.enable()
    return Outcome(_changed(subject), result, seconds) if keep else Outcome({}, None, seconds)


def _timed(subject: Subject, call: Call) -> tuple[float, Any]:
    _session.renew(subject.written)
    started = time.perf_counter()
    result = call(_session.values, subject.parameters)
    return time.perf_counter() - started, result


def _changed(subject: Subject) -> dict[str, Any]:
    return {
        name: value
        for name, value in _session.values.items()
        if isinstance(value, np.ndarray)
        and (name in subject.written or not _equal(value, _session.given[name]))
    }


def placed(value: Any) -> Any:
    """A copy that begins ``OFFSET`` bytes into a cache line, an array in C order."""
    if not isinstance(value, np.ndarray):
        return value
    memory = np.empty(value.nbytes + LINE + OFFSET, np.uint8)
    start = -memory.ctypes.data % LINE + OFFSET
    copy = memory[start : start + value.nbytes].view(value.dtype).reshape(value.shape)
    copy[...] = value
    return copy


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
