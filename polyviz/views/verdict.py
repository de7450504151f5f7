"""A comparison read honestly: the cells of its table and the one sentence that sums it up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from polyviz.views.tables import between, seconds, three_digits

if TYPE_CHECKING:
    from polyviz.model.measurement import ComparisonData, VariantRow


def verified_mark(row: VariantRow) -> str:
    """``✓`` agreed with the original loop, ``✗`` did not, ``–`` was not compared."""
    return {True: "✓", False: "✗", None: "–"}[row.verified]


def median_text(row: VariantRow) -> str:
    """The median with its interval, where there is one: ``12.3 ms (12.1–12.9 ms)``; it need not lie in the middle.

    On a device that is the time with transfers, and the kernels alone follow: ``12.3 ms, kernels 1.5 ms``.
    """
    if row.median is None or row.measurement is None:
        return "–"
    low, high = row.interval or (-math.inf, math.inf)
    text = seconds(row.median)
    if math.isfinite(low) and math.isfinite(high):
        text += f" ({between(low, high)})"
    kernels = row.measurement.kernels
    return text if kernels is None else f"{text}, kernels {seconds(kernels)}"


def speedup_text(row: VariantRow) -> str:
    """The speedup against the baseline with its interval: ``3.42× (3.38–3.47)``."""
    if row.speedup is None:
        return "–"
    text = f"{three_digits(row.speedup)}×"
    if row.speedup_interval is None:
        return text
    low, high = row.speedup_interval
    return f"{text} ({three_digits(low)}–{three_digits(high)})"


def name_text(row: VariantRow, data: ComparisonData) -> str:
    """The row's label; the baseline is marked, and the best with a star."""
    mark = " ★" if row.label == data.best else ""
    return f"{row.label}{' (baseline)' if row.label == data.baseline else ''}{mark}"


def cells(row: VariantRow, data: ComparisonData) -> list[str]:
    """One line of the table: name, status, verified, median and interval, speedup, compile time, note."""
    compiled = "–" if row.compile_seconds is None else seconds(row.compile_seconds) if row.compile_seconds else "kept"
    return [
        name_text(row, data),
        row.status,
        verified_mark(row),
        median_text(row),
        speedup_text(row),
        compiled,
        row.note or (row.measurement.note if row.measurement else ""),
    ]


HEADINGS = ("variant", "status", "verified", "median (95 %)", "speedup", "compiled in", "note")


def verdict(data: ComparisonData) -> str:
    """Who is fastest, or why nobody is named.

    >>> from polyviz.model.measurement import ComparisonData
    >>> verdict(ComparisonData("f", (), None, None, "a machine", {}))
    'no winner: nothing was timed and verified'
    """
    timed = [row for row in data.rows if row.status == "ok" and row.verified and row.median is not None]
    if not timed:
        return "no winner: nothing was timed and verified"
    if all(row.is_baseline for row in timed):
        return "no winner: nothing but the loop as written was timed"
    best = next((row for row in timed if row.label == data.best), None)
    if best is None:
        return (
            "no winner: the fastest two cannot be told apart"
            if len(timed) > 1
            else "no winner: only one was timed"
        )
    if best.label == data.baseline or best.speedup is None:
        return f"fastest: {best.label}, {median_text(best)}"
    return f"fastest: {best.label}, {median_text(best)}, {speedup_text(best)} against {data.baseline}"
