"""The candidates of a search as a static bar chart: the defaults, what was kept, and what was not faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.views.charts import BASELINE, Scale, axis
from polyviz.views.drawing import MONO_WIDTH, clip_text, values_text
from polyviz.views.palette import BLUE, GREEN, MUTED
from polyviz.views.svg import Canvas
from polyviz.views.tables import plural, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.tuning import Trial, Tuning

MOST_BARS = 16
_WIDTH = 760.0
_TOP = 62.0
_ROW = 24.0
_RIGHT = 150.0
_LABEL_SIZE = 12.0
_LONGEST_LABEL = 38
_NOTE = "shorter is faster; each bar is the median of its runs"


def draw(tuning: Tuning) -> str:
    """The chart as SVG text, empty where nothing was timed; of many candidates the fastest and the defaults."""
    shown = _shown(tuning)
    if not shown:
        return ""
    left = (
        24
        + min(max(len(_label(trial, tuning)) for trial in shown), _LONGEST_LABEL) * _LABEL_SIZE * MONO_WIDTH
    )
    longest = max(trial.seconds or 0.0 for trial in shown)
    scale = Scale(0.0, longest * 1.04, False, left, _WIDTH - left - _RIGHT)
    bottom = _TOP + _ROW * len(shown)
    canvas = Canvas(_WIDTH, bottom + 52, describe(tuning))
    sizes = f" for {values_text(tuning.sizes)}" if tuning.sizes else ""
    canvas.text(16, 24, clip_text(f"Tuning of {tuning.name}{sizes}", 78), size=15, bold=True)
    canvas.text(16, 44, _left_out(tuning, shown), size=11.5, colour=MUTED)
    axis(canvas, scale, _TOP, bottom, _NOTE)
    for place, trial in enumerate(shown):
        _bar(canvas, scale, trial, tuning, _TOP + _ROW * place)
    return canvas.render()


def describe(tuning: Tuning) -> str:
    """The chart in words."""
    bars = [f"{_label(trial, tuning)}: {seconds(trial.seconds or 0.0)}" for trial in _shown(tuning)]
    return clip_text(
        f"Bar chart of the candidates that were timed for {tuning.name}. {'; '.join(bars)}.", 2000
    )


def _timed(tuning: Tuning) -> list[Trial]:
    return [trial for trial in tuning.trials if trial.seconds]


def _shown(tuning: Tuning) -> Sequence[Trial]:
    """The candidates with a bar, in the order in which they were tried."""
    timed = _timed(tuning)
    fastest = sorted(timed[1:], key=lambda trial: trial.seconds or 0.0)[: MOST_BARS - 1]
    return [trial for place, trial in enumerate(timed) if place == 0 or any(trial is one for one in fastest)]


def _left_out(tuning: Tuning, shown: Sequence[Trial]) -> str:
    timed = _timed(tuning)
    hidden = (
        f", the {len(shown) - 1} fastest of them and the defaults drawn" if len(timed) > len(shown) else ""
    )
    return f"{plural(len(tuning.trials), 'candidate')}, {len(timed)} timed{hidden}"


def _label(trial: Trial, tuning: Tuning) -> str:
    return clip_text(f"{trial.name}{' ★' if trial is tuning.best else ''}", _LONGEST_LABEL)


def _bar(canvas: Canvas, scale: Scale, trial: Trial, tuning: Tuning, top: float) -> None:
    best, middle = trial is tuning.best, top + _ROW / 2
    name = _label(trial, tuning)
    canvas.text(scale.left - 10, middle + 4, name, size=_LABEL_SIZE, anchor="end", mono=True, bold=best)
    end = scale(trial.seconds or 0.0)
    colour = GREEN if best else BLUE if trial.options else BASELINE
    canvas.rectangle(scale.left, top + 4, max(end - scale.left, 1.0), _ROW - 8, fill=colour)
    ratio = f"   {trial.speedup:.2f}×" if trial.speedup is not None else ""
    canvas.text(end + 8, middle + 4, f"{seconds(trial.seconds or 0.0)}{ratio}", size=11.5)
