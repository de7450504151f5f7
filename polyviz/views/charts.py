"""The comparison as a bar chart: a static picture that needs nothing, and a plotly figure where plotly is at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz.views.drawing import MONO_WIDTH, clip_text, values_text
from polyviz.views.palette import BLUE, FAINT, GREEN, INK, MUTED
from polyviz.views.svg import Canvas
from polyviz.views.tables import seconds, three_digits
from polyviz.views.verdict import median_text, name_text, speedup_text, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plotly.graph_objects import Figure

    from polyviz.model.measurement import ComparisonData, VariantRow

# From this ratio of the slowest to the fastest on, short bars could not be compared on a linear axis.
LOGARITHMIC_FROM = 12.0
BASELINE = "#9a9a9a"
_WIDTH = 760.0
_TOP = 76.0
_ROW = 30.0
_RIGHT = 170.0
_LABEL_SIZE = 12.0
_LONGEST_LABEL = 34
_WARNING = "#8a3a00"
_MOST_TICKS = 7


@dataclass(frozen=True, slots=True)
class Scale:
    """Seconds to pixels, linear from zero or logarithmic from the decade below the shortest time."""

    low: float
    high: float
    logarithmic: bool
    left: float
    width: float

    def __call__(self, value: float) -> float:
        """The x coordinate of a duration."""
        clipped = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = math.log(clipped / self.low) / math.log(self.high / self.low)
        else:
            share = clipped / self.high
        return self.left + share * self.width

    def ticks(self) -> list[float]:
        """Round durations along the axis."""
        if self.logarithmic:
            decades = range(round(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            ticks = [10.0**decade for decade in decades]
            halves = [factor * tick for tick in ticks for factor in (1, 2, 5) if factor * tick <= self.high]
            return halves if len(halves) <= _MOST_TICKS else ticks[:: -(-len(ticks) // _MOST_TICKS)]
        step = nice_step(self.high / 5)
        return [step * place for place in range(int(self.high / step + 1e-9) + 1)]


def nice_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below ``least``.

    >>> nice_step(0.003), nice_step(30)
    (0.005, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(least))
    return float(
        next(round(power * factor, 15) for factor in (1, 2, 5, 10) if power * factor >= least * 0.999)
    )


def scale_for(rows: Sequence[VariantRow], left: float, width: float) -> Scale:
    """The axis that shows every median and interval of ``rows``."""
    ends = [end for row in rows for end in (row.median, *(row.interval or ())) if end and 0 < end < math.inf]
    low, high = min(ends, default=1.0), max(ends, default=1.0)
    logarithmic = high / low > LOGARITHMIC_FROM
    start = 10.0 ** math.floor(math.log10(low) - 0.1) if logarithmic else 0.0
    return Scale(start, high * 1.04, logarithmic, left, width)


def timed(data: ComparisonData) -> list[VariantRow]:
    """The rows that have a bar: verified or not, their time is known and positive."""
    return [
        row
        for row in data.rows
        if row.status == "ok" and row.median is not None and 0 < row.median < math.inf
    ]


def draw(data: ComparisonData) -> str:
    """The chart as SVG text: the best row green with a star, baselines grey, rows without a time as text."""
    longest = max((len(name_text(row, data)) for row in data.rows), default=8)
    left = 24 + min(longest, _LONGEST_LABEL) * _LABEL_SIZE * MONO_WIDTH
    rows = timed(data)
    scale = scale_for(rows, left, _WIDTH - left - _RIGHT)
    bottom = _TOP + _ROW * len(data.rows)
    canvas = Canvas(_WIDTH, bottom + 52, describe(data))
    sizes = f"for {values_text(data.sizes)}" if data.sizes else ""
    canvas.text(
        16,
        24,
        f"Time per call of {clip_text(data.name, 30)} {clip_text(sizes, 48)}".rstrip(),
        size=15,
        bold=True,
    )
    canvas.text(16, 44, clip_text(verdict(data), 108), size=11.5, colour=MUTED)
    canvas.text(16, 60, clip_text(data.machine, 108), size=11.5, colour=MUTED)
    if rows:
        kind = "logarithmic axis; " if scale.logarithmic else ""
        axis(canvas, scale, _TOP, bottom, f"{kind}shorter is faster; whiskers: 95 % interval of the median")
    for place, row in enumerate(data.rows):
        _row(canvas, scale, row, data, _TOP + _ROW * place, row in rows)
    return canvas.render()


def describe(data: ComparisonData) -> str:
    """The chart in words."""
    parts = [
        f"{name_text(row, data)}: {median_text(row) if row.status == 'ok' else row.status}"
        for row in data.rows
    ]
    return clip_text(
        f"Bar chart of the time per call of {data.name}. {'; '.join(parts)}. {verdict(data)}.", 2000
    )


def axis(canvas: Canvas, scale: Scale, top: float, bottom: float, note: str) -> None:
    """The lines of ``scale`` behind bars that stand between ``top`` and ``bottom``, and ``note`` below them."""
    for tick in scale.ticks():
        x = scale(tick)
        canvas.path([(x, top - 2), (x, bottom + 4)], stroke=FAINT, width=0.8)
        canvas.text(x, bottom + 18, seconds(tick) if tick else "0", size=10.5, anchor="middle", colour=MUTED)
    canvas.text(scale.left, bottom + 38, note, size=11, colour=MUTED)


def _row(
    canvas: Canvas, scale: Scale, row: VariantRow, data: ComparisonData, top: float, has_bar: bool
) -> None:
    middle = top + _ROW / 2
    best = row.label == data.best
    name = clip_text(name_text(row, data), _LONGEST_LABEL)
    canvas.text(scale.left - 10, middle + 4, name, size=_LABEL_SIZE, anchor="end", mono=True, bold=best)
    if not has_bar or row.median is None:
        is_well = row.status == "ok"
        status = "not timed" if is_well else row.status
        reason = clip_text(f"{status}: {row.note}" if row.note else status, 70)
        colour = MUTED if is_well else _WARNING
        canvas.text(scale.left + 4, middle + 4, reason, size=11.5, colour=colour, italic=True)
        return
    colour = GREEN if best else BASELINE if row.label == data.baseline or row.is_baseline else BLUE
    end = scale(row.median)
    canvas.rectangle(scale.left, top + 6, max(end - scale.left, 1.0), _ROW - 12, fill=colour)
    reach = end
    if row.interval is not None:
        low, high = scale(row.interval[0]), scale(row.interval[1])
        reach = max(high, end)
        canvas.raw_path(_whisker(low, high, middle), stroke=INK, width=1.3)
    canvas.text(reach + 8, middle + 4, _bar_label(row), size=11.5)


def _whisker(low: float, high: float, middle: float) -> str:
    return f"M{low:.1f} {middle - 4:.1f}v8M{low:.1f} {middle:.1f}H{high:.1f}M{high:.1f} {middle - 4:.1f}v8"


def _bar_label(row: VariantRow) -> str:
    parts = [seconds(row.median or 0.0)]
    if row.speedup is not None and not row.is_baseline:
        parts.append(f"{three_digits(row.speedup)}×")
    if row.verified is not True:
        parts.append("wrong result" if row.verified is False else "not verified")
    return "   ".join(parts)


def figure(data: ComparisonData) -> Figure:
    """The same chart as a plotly figure: hover shows interval, speedup and note; transparent, for any theme."""
    from plotly import graph_objects

    rows = timed(data)
    best = {True: GREEN, False: BLUE}
    bars = graph_objects.Bar(
        orientation="h",
        y=[name_text(row, data) for row in rows],
        x=[row.median for row in rows],
        marker_color=[BASELINE if row.is_baseline else best[row.label == data.best] for row in rows],
        error_x=_error_bars(rows),
        text=[_bar_label(row) for row in rows],
        customdata=[[median_text(row), speedup_text(row), row.note] for row in rows],
        hovertemplate="%{y}<br>%{customdata[0]}<br>speedup %{customdata[1]}<br>%{customdata[2]}<extra></extra>",
    )
    untimed = [
        f"{name_text(row, data)}: {row.status}" for row in data.rows if row not in rows and row.status != "ok"
    ]
    chart = graph_objects.Figure(bars)
    chart.update_layout(
        title={
            "text": f"Time per call of {data.name}",
            "subtitle": {"text": "; ".join([verdict(data), *untimed])},
        },
        xaxis={"title": "seconds, logarithmic axis", "type": "log"}
        if scale_for(rows, 0, 1).logarithmic
        else {"title": "seconds", "type": "linear"},
        yaxis={"autorange": "reversed"},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": "#808080"},
        showlegend=False,
    )
    return chart


def _error_bars(rows: Sequence[VariantRow]) -> dict[str, Any]:
    medians = [row.median or 0.0 for row in rows]
    intervals = [row.interval or (median, median) for row, median in zip(rows, medians, strict=True)]
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - median for (_, high), median in zip(intervals, medians, strict=True)],
        "arrayminus": [median - low for (low, _), median in zip(intervals, medians, strict=True)],
    }
