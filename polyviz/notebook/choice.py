"""Which of several compared variants runs on the user's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from polyviz.runtime.statistics import Samples, distinguishable
from polyviz.views.tables import seconds

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from polyviz.model.measurement import VariantRow


class Choice(NamedTuple):
    """The label of the variant to run, None when none can be trusted; ``why`` this one, and a ``remark`` to add."""

    label: str | None
    why: str = ""
    remark: str = ""


def choose(rows: Sequence[VariantRow], runnable: Container[str]) -> Choice:
    """The variant to run.

    Among the ``runnable`` rows without fault: the fastest, or the first listed of those that the clock cannot tell
    from the fastest. A loop as written that is faster still is no variant of ours, but it is named.

    >>> from polyviz.model.measurement import Measurement, VariantRow
    >>> def row(schedule, samples):
    ...     return VariantRow(schedule, "c", "ok", True, Measurement(samples, samples[0], (samples[0], samples[-1])))
    >>> rows = [row("isl", (2.0,) * 6), row("pluto", (1.0,) * 6)]
    >>> choose(rows, {"isl/c", "pluto/c"})
    Choice(label='pluto/c', why='the fastest of 2 variants', remark='')
    """
    ours = [row for row in rows if row.label in runnable and row.status == "ok"]
    timed = [row for row in ours if row.measurement is not None]
    if not timed:
        return Choice(ours[0].label, "the first listed, as nothing was timed") if ours else Choice(None)
    fastest = min(timed, key=_median)
    level = [row for row in timed if row is fastest or not _differ(row, fastest)]
    chosen = level[0]
    written = [row for row in rows if row.is_baseline and _median(row) < _median(chosen) and _differ(row, chosen)]
    remark = _remark(min(written, key=_median), chosen) if written else ""
    return Choice(chosen.label, _reason(len(level), len(timed)), remark)


def _reason(level: int, timed: int) -> str:
    if timed == 1:
        return "the only variant that could be timed"
    if level == 1:
        return f"the fastest of {timed} variants"
    which = f"{level} that are fastest" if level < timed else f"{timed} variants"
    return f"the first of {which}, whose times the clock cannot tell apart"


def _remark(written: VariantRow, chosen: VariantRow) -> str:
    return (
        f"the loop as written is faster at these sizes: {seconds(_median(written))} under {written.target}, "
        f"against {seconds(_median(chosen))} for {chosen.label}"
    )


def _median(row: VariantRow) -> float:
    return float("inf") if row.median is None else row.median


def _differ(one: VariantRow, other: VariantRow) -> bool:
    assert one.measurement is not None
    assert other.measurement is not None
    return distinguishable(Samples(one.measurement.samples), Samples(other.measurement.samples))
