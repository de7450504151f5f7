"""A search for better options as a picture: every timed candidate when it was decided, and the best so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.views.charts import nice_step
from polyviz.views.drawing import clip_text
from polyviz.views.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE
from polyviz.views.svg import Canvas
from polyviz.views.tuning import outcome, title

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.model.tuning import Trial, Tuning
    from polyviz.views.svg import Point

_WIDTH, _HEIGHT = 760.0, 280.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 24.0, 62.0, 46.0


def timed(tuning: Tuning) -> list[Trial]:
    """The trials that have a place in the picture."""
    return [trial for trial in tuning.trials if trial.speedup is not None and trial.seconds is not None]


def describe(tuning: Tuning) -> str:
    """The picture in words."""
    told = "; ".join(f"{trial.name} {trial.speedup:.2f} times" for trial in timed(tuning)[:20])
    return clip_text(f"{title(tuning)}. Speed against the defaults: {told}. {outcome(tuning)}", 2000)


def draw(tuning: Tuning) -> str:
    """The picture as SVG text."""
    found = timed(tuning)
    last = max([tuning.elapsed, *(trial.elapsed for trial in found)], default=1.0) or 1.0
    high = max((trial.speedup or 0.0 for trial in found), default=1.0) * 1.15

    def place(elapsed: float, speedup: float) -> tuple[float, float]:
        x = _LEFT + elapsed / last * (_WIDTH - _LEFT - _RIGHT)
        return x, _HEIGHT - _BOTTOM - speedup / high * (_HEIGHT - _TOP - _BOTTOM)

    canvas = Canvas(_WIDTH, _HEIGHT, describe(tuning))
    canvas.text(16, 24, clip_text(f"Tuning of {tuning.name}", 60), size=15, bold=True)
    canvas.text(16, 44, clip_text(outcome(tuning), 108), size=11.5, colour=MUTED)
    _axes(canvas, place, last, high)
    canvas.path([place(0, 1.0), place(last, 1.0)], stroke=MUTED, dash="4 3")
    canvas.path([place(*corner) for corner in _best_so_far(found, last)], stroke=GREEN, width=1.8)
    for trial in found:
        point = place(trial.elapsed, trial.speedup or 0.0)
        canvas.dots([point], 4, GREEN if trial is tuning.best else BLUE if trial.verified else ORANGE)
    if tuning.best is not None and tuning.best.speedup is not None:
        x, y = place(tuning.best.elapsed, tuning.best.speedup)
        room = x > _WIDTH - 220
        name = clip_text(f"★ {tuning.best.name}", 40)
        canvas.text(
            x + (-9 if room else 9), y - 7, name, size=11, bold=True, anchor="end" if room else "start"
        )
    return canvas.render()


def _best_so_far(found: Sequence[Trial], last: float) -> list[tuple[float, float]]:
    """The corners of the stairs that the accepted trials climb."""
    corners: list[tuple[float, float]] = []
    for trial in found:
        if trial.status == "accepted" and trial.speedup is not None:
            if corners:
                corners.append((trial.elapsed, corners[-1][1]))
            corners.append((trial.elapsed, trial.speedup))
    return [*corners, (last, corners[-1][1])] if corners else []


def _axes(canvas: Canvas, place: Callable[[float, float], Point], last: float, high: float) -> None:
    step = nice_step(high / 4)
    for number in range(int(high / step) + 1):
        x, y = place(0, number * step)
        canvas.path([(x, y), place(last, number * step)], stroke=FAINT, width=0.8)
        canvas.text(x - 7, y + 4, f"{number * step:g}×", size=10.5, anchor="end", colour=MUTED)
    step = nice_step(last / 6)
    for number in range(int(last / step) + 1):
        x, y = place(number * step, 0)
        canvas.text(x, y + 17, f"{number * step:g} s", size=10.5, anchor="middle", colour=MUTED)
    note = "dashed: the defaults; line: the best so far; a point: a candidate that was timed"
    canvas.text(_LEFT, _HEIGHT - 10, note, size=11, colour=INK)
