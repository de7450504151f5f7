"""What a handful of timings supports: a median, an interval for it, and whether two variants really differ.

Nothing is assumed about the distribution where there are enough samples: the 95 % interval of the median lies
between two order statistics (J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems,
theorem 2.1). That needs six samples. For two to five, the logarithms are taken as normally distributed and Student's
t gives the interval; one sample says nothing about the spread, so its interval has no upper end. Nor has that of a few
samples which lie so far apart that its upper end would be more than ten times the middle: it could not be told from a
guess, and whoever shows it says that there is none.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONFIDENCE = 0.95
_WIDEST = math.log(10.0)
"""An interval from few samples that reaches further up than this factor is none."""
# Two-sided 95 % points of Student's t for 1 to 4 degrees of freedom.
_STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}


@dataclass(frozen=True, slots=True)
class Samples:
    """Times of one variant, in seconds per run, in the order of the rounds.

    Each sample stands for ``batch`` runs. Differences below ``resolution`` seconds cannot be seen.
    ``note`` says what limits the figures; it is empty when nothing does. ``kernels``: the typical seconds of the
    kernels alone where they ran on a device, without transfers. Raises OptionError when a time is missing or not
    positive.

    >>> samples = Samples((1.0, 1.1, 1.2, 1.3, 1.4, 9.0))
    >>> samples.median, samples.interval
    (1.25, (1.0, 9.0))
    """

    seconds: tuple[float, ...]
    batch: int = 1
    resolution: float = 0.0
    note: str = ""
    kernels: float | None = None

    def __post_init__(self) -> None:
        if not self.seconds or not all(0.0 < value < math.inf for value in self.seconds):
            raise OptionError("Samples are one or more positive times in seconds.")

    @property
    def median(self) -> float:
        """The middle time, in seconds."""
        return statistics.median(self.seconds)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the median, in seconds; (0, infinity) for a single sample."""
        return median_interval(self.seconds)


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median of the distribution that positive ``values`` come from.

    >>> median_interval([1, 2, 3, 4, 5, 6, 7, 8, 9])
    (2, 8)
    >>> median_interval([5.0]), median_interval([1.0, 9.0])
    ((0.0, inf), (0.0, inf))
    """
    if len(values) == 1:
        return 0.0, math.inf
    if len(values) in _STUDENT:
        return _student_interval(values)
    ordered = sorted(values)
    rank = _lower_rank(len(ordered))
    return ordered[rank - 1], ordered[-rank]


def bounded_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The same; None where the values are too few, or too far apart, for an interval with an upper end.

    >>> bounded_interval([1.0, 9.0]) is None
    True
    """
    found = median_interval(values)
    return found if math.isfinite(found[1]) else None


def _lower_rank(count: int) -> int:
    """The largest k so that the median lies below the k-th of ``count`` values with probability 2.5 % at most."""
    below = 1
    total = 2**count
    rank = 1
    while 2 * (below + math.comb(count, rank)) <= (1 - CONFIDENCE) * total:
        below += math.comb(count, rank)
        rank += 1
    return rank


def _student_interval(values: Sequence[float]) -> tuple[float, float]:
    logarithms = [math.log(value) for value in values]
    half = _STUDENT[len(values)] * statistics.stdev(logarithms) / math.sqrt(len(values))
    if half > _WIDEST:
        return 0.0, math.inf
    middle = statistics.fmean(logarithms)
    return math.exp(middle - half), math.exp(middle + half)


def distinguishable(first: Samples, second: Samples) -> bool:
    """Whether the two variants differ in speed by more than noise, at 95 % confidence.

    Equally many samples come from the same rounds and are compared in pairs, which cancels what slows a whole round
    down: the interval of the median ratio must leave out 1. Otherwise the two intervals must not meet.

    >>> distinguishable(Samples((1.0, 2.0, 3.0, 2.0, 1.0, 2.0)), Samples((1.1, 2.2, 3.3, 2.3, 1.2, 2.1)))
    True
    >>> distinguishable(Samples((1.0, 1.2, 1.1, 1.3, 1.0, 1.2)), Samples((1.1, 1.1, 1.2, 1.1, 1.2, 1.1)))
    False
    """
    if abs(first.median - second.median) <= max(first.resolution, second.resolution):
        return False
    if len(first.seconds) == len(second.seconds):
        ratios = [one / other for one, other in zip(first.seconds, second.seconds, strict=True)]
        low, high = median_interval(ratios)
        return not low <= 1.0 <= high
    return first.interval[1] < second.interval[0] or second.interval[1] < first.interval[0]


def best(samples: Mapping[str, Samples]) -> str | None:
    """The fastest variant, or None when it cannot be told from another one (or there is nothing to choose from).

    >>> best({"a": Samples((1.0,) * 6), "b": Samples((2.0,) * 6)})
    'a'
    """
    if not samples:
        return None
    winner = min(samples, key=lambda name: samples[name].median)
    others = (other for name, other in samples.items() if name != winner)
    return winner if all(distinguishable(samples[winner], other) for other in others) else None
