"""Which of several compared variants runs on the user's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.runtime.statistics import Samples, distinguishable

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from polyviz.model.measurement import VariantRow


def choose(rows: Sequence[VariantRow], runnable: Container[str]) -> tuple[str | None, str]:
    """The label of the variant to run, and why; None when none can be trusted.

    Among the ``runnable`` rows without fault: the fastest, or the first listed of those that the clock cannot tell
    from the fastest. A loop as written that is faster still is no variant of ours, but it is named.

    >>> from polyviz.model.measurement import Measurement, VariantRow
    >>> def row(schedule, samples):
    ...     return VariantRow(schedule, "c", "ok", True, Measurement(samples, samples[0], (samples[0], samples[-1])))
    >>> rows = [row("isl", (2.0,) * 6), row("pluto", (1.0,) * 6)]
    >>> choose(rows, {"isl/c", "pluto/c"})
    ('pluto/c', 'the fastest')
    """
    ours = [row for row in rows if row.label in runnable and row.status == "ok"]
    timed = [row for row in ours if row.measurement is not None]
    if not timed:
        return (ours[0].label, "the first listed, as nothing was timed") if ours else (None, "")
    fastest = min(timed, key=_median)
    level = [row for row in timed if row is fastest or not _differ(row, fastest)]
    why = "the fastest" if len(level) == 1 else "the first listed of those that the clock cannot tell apart"
    better = [row for row in rows if row.is_baseline and _median(row) < _median(fastest) and _differ(row, fastest)]
    if better:
        why += f"; {min(better, key=_median).label} is faster still"
    return level[0].label, why


def _median(row: VariantRow) -> float:
    return float("inf") if row.median is None else row.median


def _differ(one: VariantRow, other: VariantRow) -> bool:
    assert one.measurement is not None
    assert other.measurement is not None
    return distinguishable(Samples(one.measurement.samples), Samples(other.measurement.samples))
