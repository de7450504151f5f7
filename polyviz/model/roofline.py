"""The least time a part needs on a machine: its operations at full speed, or its data once over the memory bus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Bottleneck = Literal["multiply-add peak", "copy bandwidth", "cache bandwidth"]


@dataclass(frozen=True, slots=True)
class Work:
    """What a part has to do for given sizes.

    ``operations`` counts arithmetic on values, each value once, subscripts and loop control left out; ``bytes_read``
    and ``bytes_written`` are whole lines, each counted once: what has to cross the memory bus at least, however good
    the caches are. ``working_set`` is the bytes of all lines touched.
    """

    operations: int
    bytes_read: int
    bytes_written: int
    working_set: int

    @property
    def traffic(self) -> int:
        """All bytes that have to move."""
        return self.bytes_read + self.bytes_written

    @property
    def intensity(self) -> float:
        """Operations per byte; infinite where nothing has to move."""
        return self.operations / self.traffic if self.traffic else float("inf")


@dataclass(frozen=True, slots=True)
class Peaks:
    """What a machine was measured to do with ``threads`` threads.

    ``multiply_add``: floating-point operations per second by element type, a multiply-add counting two; ``copy`` and
    ``cached_copy``: bytes per second read and written together, in memory and within the last cache of ``cache`` bytes.
    """

    multiply_add: Mapping[str, float]
    copy: float
    cached_copy: float
    cache: int
    threads: int

    @property
    def consistent(self) -> bool:
        """Whether the cache was seen to be no slower than memory, whose bytes pass through it; a tenth is noise.

        >>> Peaks({}, 16.5e9, 7.3e9, 2**25, 2).consistent
        False
        """
        return self.cached_copy >= 0.9 * self.copy


@dataclass(frozen=True, slots=True)
class Limit:
    """The least ``seconds`` for a part on a machine, and what sets them."""

    seconds: float
    bottleneck: Bottleneck

    def share(self, seconds: float) -> float:
        """How much of the limit a run of ``seconds`` achieves: 1.0 is as fast as the machine can be.

        >>> Limit(0.5, "copy bandwidth").share(1.0)
        0.5
        """
        return self.seconds / seconds


def limit_of(work: Work, peaks: Peaks, dtype: str) -> Limit:
    """The limit of ``work`` on elements of ``dtype``.

    Where all data fit into the last cache together, they need not come from memory: its bandwidth is that of the cache,
    which is no less than that of memory, whatever a disturbed measurement says.
    Source: Williams, Waterman, Patterson, *Roofline* (CACM 52, 2009), with compulsory traffic in place of measured.

    >>> peaks = Peaks({"float64": 100.0}, 10.0, 20.0, 1000, 2)
    >>> limit_of(Work(200, 40, 40, 5000), peaks, "float64")
    Limit(seconds=8.0, bottleneck='copy bandwidth')
    >>> disturbed = Peaks({"float64": 100.0}, 10.0, 1.0, 1000, 2)
    >>> limit_of(Work(200, 40, 40, 500), disturbed, "float64").seconds
    8.0
    """
    computing = work.operations / peaks.multiply_add[dtype]
    cached = work.working_set <= peaks.cache
    moving = work.traffic / (max(peaks.cached_copy, peaks.copy) if cached else peaks.copy)
    if computing >= moving:
        return Limit(computing, "multiply-add peak")
    return Limit(moving, "cache bandwidth" if cached else "copy bandwidth")


@dataclass(frozen=True, slots=True)
class Roofline:
    """``work`` under the roof of a machine with ``peaks``, for elements of ``dtype``.

    >>> roof = Roofline(Work(200, 40, 40, 5000), Peaks({"float64": 100.0}, 10.0, 20.0, 1000, 2), "float64")
    >>> roof.limit.seconds, roof.rate(16.0)
    (8.0, 12.5)
    """

    work: Work
    peaks: Peaks
    dtype: str

    @property
    def limit(self) -> Limit:
        """The least time, and what sets it."""
        return limit_of(self.work, self.peaks, self.dtype)

    @property
    def peak(self) -> float:
        """Operations per second that no program exceeds."""
        return self.peaks.multiply_add[self.dtype]

    def rate(self, seconds: float) -> float:
        """Operations per second of a run of ``seconds``."""
        return self.work.operations / seconds
