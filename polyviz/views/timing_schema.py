"""The parts of the JSON view models of comparisons and searches."""

from __future__ import annotations

from typing import TypedDict


class RowModel(TypedDict):
    """One variant of a comparison; times in seconds, on a device with transfers, ``kernels`` without."""

    label: str
    schedule: str
    target: str
    status: str
    verified: bool | None
    median: float | None
    interval: list[float] | None
    speedup: float | None
    speedup_interval: list[float] | None
    compile_seconds: float | None
    kernels: float | None
    samples: list[float]
    note: str
    source: str
    is_baseline: bool


class RooflineModel(TypedDict):
    """What the machine allows: operations per second, bytes per second from memory and from the last cache.

    ``operations`` and ``bytes`` are the work of one call, ``limit`` its least time in seconds, set by ``bottleneck``.
    """

    operations: int
    bytes: int
    peak: float
    memory: float
    cache: float
    limit: float
    bottleneck: str
    dtype: str
    threads: int


class TrialModel(TypedDict):
    """One candidate of a search; ``elapsed`` is the second at which it was decided."""

    name: str
    status: str
    verified: bool | None
    median: float | None
    speedup: float | None
    elapsed: float
    note: str
    best: bool
