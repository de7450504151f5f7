"""The roofline of a comparison: what the machine allows for this work, and where each variant stands below it.

Source: Williams, Waterman, Patterson, *Roofline* (CACM 52, 2009). All variants do the same work, so they stand above
one another at one intensity; what differs is how many operations per second they reach.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from polyviz.views.charts import timed
from polyviz.views.drawing import clip_text
from polyviz.views.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE
from polyviz.views.svg import Canvas
from polyviz.views.tables import columns, seconds, three_digits
from polyviz.views.verdict import name_text

if TYPE_CHECKING:
    from polyviz.model.measurement import ComparisonData, VariantRow
    from polyviz.model.roofline import Roofline
    from polyviz.views.svg import Point

UNKNOWN = (
    "A roofline needs the speed of this machine, which polyviz doctor --measure finds out once, in a few seconds; "
    "loops that compute whole numbers only have none."
)
DISTURBED = (
    "The last cache was measured to be slower than memory, which cannot be: something disturbed the measurement, and "
    "shares of a limit are not to be relied on. polyviz doctor --measure repeats it; run it while the machine is idle."
)
HEADINGS = ("variant", "GFLOP/s", "share of the limit", "limit")
_WIDTH, _HEIGHT = 760.0, 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 66.0, 210.0, 92.0, 52.0
_LINE = 15.0
_GIGA = 1e9
_ABOVE_BANDWIDTH = (
    "More than 100 % of the limit: the data are small enough to stay, from one run to the next, in a cache nearer to "
    "the cores than the one whose bandwidth sets the limit."
)
_ABOVE_PEAK = (
    "More than 100 % of the limit: the program computes less than the loops as written, or the measurement of this "
    "machine was disturbed (polyviz doctor --measure repeats it)."
)
_WHOLE = 1.005
"""Shares are rounded: from here on one is shown as more than 100 %."""
_DEVICES = frozenset(("cuda", "emulated"))


class _Axes:
    """Operations per byte and per second to pixels, both logarithmic."""

    def __init__(self, roof: Roofline, rates: list[float]) -> None:
        ridge = roof.peak / roof.peaks.copy
        self._across = _decades(min(roof.work.intensity, ridge) / 3, max(roof.work.intensity, ridge) * 3)
        self._up = _decades(min(rates, default=roof.peak), roof.peak * 1.5)

    def __call__(self, intensity: float, rate: float) -> Point:
        x = (math.log10(intensity) - self._across[0]) / (self._across[1] - self._across[0])
        y = (math.log10(rate) - self._up[0]) / (self._up[1] - self._up[0])
        y = min(max(y, 0.0), 1.0)
        return _LEFT + x * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM)

    @property
    def across(self) -> list[float]:
        """Round intensities."""
        return [10.0**power for power in range(self._across[0], self._across[1] + 1)]

    @property
    def up(self) -> list[float]:
        """Round rates."""
        return [10.0**power for power in range(self._up[0], self._up[1] + 1)]


def _decades(low: float, high: float) -> tuple[int, int]:
    first = math.floor(math.log10(low))
    return first, max(math.ceil(math.log10(high)), first + 1)


def placed(data: ComparisonData) -> list[VariantRow]:
    """The rows that stand below this roof: timed, verified or not compared, and run on the processor."""
    return [row for row in timed(data) if row.target not in _DEVICES]


def rows(data: ComparisonData, roof: Roofline) -> list[tuple[str, str, str, str]]:
    """What each variant achieves."""
    limit = f"{seconds(roof.limit.seconds)}, {roof.limit.bottleneck}"
    return [
        (
            name_text(row, data),
            three_digits(roof.rate(row.median or 0.0) / _GIGA),
            f"{roof.limit.share(row.median or 0.0):.0%}",
            limit,
        )
        for row in placed(data)
    ]


def comparison_notes(data: ComparisonData) -> list[str]:
    """The notes of a comparison, and what puts its shares into doubt, or means more than the whole limit."""
    roof = data.roofline
    if roof is not None and placed(data) and not roof.peaks.consistent:
        return [*data.notes, DISTURBED]
    if roof is None or all(roof.limit.share(row.median or math.inf) < _WHOLE for row in placed(data)):
        return list(data.notes)
    return [*data.notes, _ABOVE_PEAK if roof.limit.bottleneck == "multiply-add peak" else _ABOVE_BANDWIDTH]


def roofline_text(data: ComparisonData) -> str:
    """What the machine allows, and what each variant achieves of it; empty where nothing stands below a roof."""
    roof = data.roofline
    if roof is None or not placed(data):
        return ""
    table = columns([row[:3] for row in rows(data, roof)], HEADINGS[:3], right=[1, 2])
    return f"Roofline: {_work_text(roof)}; {_limit_text(roof)}.\n{table}"


def describe(data: ComparisonData, roof: Roofline) -> str:
    """The picture in words."""
    told = "; ".join(
        f"{name} {rate} GFLOP/s, {share} of the limit" for name, rate, share, _ in rows(data, roof)
    )
    return clip_text(f"Roofline of {data.name}: {_work_text(roof)}, {_limit_text(roof)}. {told}.", 2000)


def _work_text(roof: Roofline) -> str:
    work = roof.work
    return f"{work.operations:,} operations, {work.traffic:,} bytes: {three_digits(work.intensity)} operations per byte"


def _limit_text(roof: Roofline) -> str:
    return f"at best {seconds(roof.limit.seconds)}, set by the {roof.limit.bottleneck}"


def _legend(roof: Roofline) -> str:
    memory, cache = (three_digits(rate / _GIGA) for rate in (roof.peaks.copy, roof.peaks.cached_copy))
    peak = three_digits(roof.peak / _GIGA)
    return f"slopes: memory {memory} GB/s, dashed: last cache {cache} GB/s; flat: {peak} GFLOP/s"


def draw(data: ComparisonData, roof: Roofline) -> str:
    """The picture as SVG text."""
    found = sorted(placed(data), key=lambda row: row.median or 0.0)
    axes = _Axes(roof, [roof.rate(row.median or 1.0) for row in found])
    canvas = Canvas(_WIDTH, _HEIGHT, describe(data, roof))
    canvas.text(
        16, 24, f"What this machine allows {clip_text(data.name, 40)} ({roof.dtype})", size=15, bold=True
    )
    canvas.text(16, 44, f"{_work_text(roof)}; {_limit_text(roof)}", size=11, colour=MUTED)
    canvas.text(16, 60, _legend(roof), size=11, colour=MUTED)
    _grid(canvas, axes)
    _roof(canvas, axes, roof, roof.peaks.copy)
    _roof(canvas, axes, roof, roof.peaks.cached_copy, dash="6 4")
    ceiling = min(roof.work.operations / roof.limit.seconds, roof.peak)
    canvas.path(
        [axes(roof.work.intensity, axes.up[0]), axes(roof.work.intensity, ceiling)], stroke=ORANGE, dash="2 3"
    )
    _points(canvas, axes, roof, found, data)
    return canvas.render()


def _grid(canvas: Canvas, axes: _Axes) -> None:
    for intensity in axes.across:
        x, _ = foot = axes(intensity, axes.up[0])
        canvas.path([foot, axes(intensity, axes.up[-1])], stroke=FAINT)
        canvas.text(x, _HEIGHT - _BOTTOM + 17, f"{intensity:g}", size=10.5, anchor="middle", colour=MUTED)
    for rate in axes.up:
        _, y = start = axes(axes.across[0], rate)
        canvas.path([start, axes(axes.across[-1], rate)], stroke=FAINT)
        canvas.text(_LEFT - 7, y + 4, f"{rate / _GIGA:g}", size=10.5, anchor="end", colour=MUTED)
    canvas.text(16, _TOP - 12, "GFLOP/s", size=11, colour=MUTED)
    middle = _LEFT + (_WIDTH - _LEFT - _RIGHT) / 2
    canvas.text(
        middle, _HEIGHT - 14, "operations per byte that has to move", size=11, anchor="middle", colour=MUTED
    )


def _roof(canvas: Canvas, axes: _Axes, roof: Roofline, bandwidth: float, dash: str = "") -> None:
    """The slope of a bandwidth up to the peak, and on along it."""
    left, right = max(axes.across[0], axes.up[0] / bandwidth), axes.across[-1]
    corner = min(max(roof.peak / bandwidth, left), right)
    turns = [(at, min(roof.peak, bandwidth * at)) for at in (left, corner, right)]
    canvas.path([axes(*turn) for turn in turns], stroke=INK, width=1.5, dash=dash)


def _points(
    canvas: Canvas, axes: _Axes, roof: Roofline, found: list[VariantRow], data: ComparisonData
) -> None:
    """A point per variant, its name to the right of the picture, joined by a thin line."""
    lowest = _TOP
    for row in found:
        _, y = point = axes(roof.work.intensity, roof.rate(row.median or 1.0))
        colour = GREEN if row.label == data.best else BLUE
        lowest = max(lowest + _LINE, y)
        canvas.path([point, (_WIDTH - _RIGHT + 6, lowest)], stroke=FAINT)
        canvas.dots([point], 4.5, colour)
        name = f"{clip_text(name_text(row, data), 20)} {roof.limit.share(row.median or 1.0):.0%}"
        canvas.text(_WIDTH - _RIGHT + 10, lowest + 4, name, size=11, bold=row.label == data.best)
