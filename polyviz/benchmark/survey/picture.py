"""Growth as a picture: seconds over the number of statements, both logarithmic, one line per scheduler."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from polyviz.views.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PURPLE, SKY
from polyviz.views.svg import Canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.benchmark.survey.growth import Growth
    from polyviz.views.svg import Point

# Colour and dash pattern together: eight schedulers stay apart in print, too.
_STYLES = tuple((colour, dash) for dash in ("", "6 3") for colour in (BLUE, ORANGE, GREEN, PURPLE, SKY, INK))
_WIDTH, _HEIGHT = 640.0, 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 150.0, 44.0, 48.0
_LABEL_DISTANCE = 15.0


class _Axes:
    """Statements and seconds to pixels."""

    def __init__(self, growth: Sequence[Growth]) -> None:
        times = [one.seconds for one in growth if one.seconds]
        self.sizes = sorted({one.statements for one in growth})
        self.decades = range(math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))) + 1)

    def point(self, statements: int, seconds: float) -> Point:
        first, last = math.log(self.sizes[0]), math.log(self.sizes[-1])
        across = (math.log(statements) - first) / (last - first)
        up = (math.log10(seconds) - self.decades[0]) / (self.decades[-1] - self.decades[0])
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )


def can_be_drawn(growth: Sequence[Growth]) -> bool:
    """Whether there are two sizes with a time at least: one point makes no line."""
    return len({one.statements for one in growth if one.seconds}) > 1


def growth_picture(growth: Sequence[Growth]) -> str:
    """The picture of measurements that `can_be_drawn`, as an SVG document."""
    canvas = Canvas(_WIDTH, _HEIGHT, "Seconds to schedule, by number of statements")
    axes = _Axes(growth)
    canvas.text(16, 26, "Seconds to schedule a chain of loop nests", bold=True, size=14)
    _grid(canvas, axes)
    ends = []
    names = list(dict.fromkeys(one.scheduler for one in growth))
    for name, (colour, dash) in zip(names, _STYLES, strict=False):
        points = [
            axes.point(one.statements, one.seconds) for one in growth if one.scheduler == name and one.seconds
        ]
        canvas.path(points, stroke=colour, width=2, dash=dash)
        canvas.dots(points, 3, colour)
        if points:
            ends.append((points[-1], name, colour))
    _labels(canvas, ends)
    return canvas.render()


def _grid(canvas: Canvas, axes: _Axes) -> None:
    for decade in axes.decades:
        start = axes.point(axes.sizes[0], 10.0**decade)
        canvas.path([start, axes.point(axes.sizes[-1], 10.0**decade)], stroke=FAINT)
        canvas.text(_LEFT - 8, start[1] + 4, f"{10.0**decade:g} s", anchor="end", colour=MUTED)
    for size in axes.sizes:
        foot = axes.point(size, 10.0 ** axes.decades[0])
        canvas.path([foot, axes.point(size, 10.0 ** axes.decades[-1])], stroke=FAINT)
        canvas.text(foot[0], foot[1] + 18, size, anchor="middle", colour=MUTED)
    middle = _LEFT + (_WIDTH - _LEFT - _RIGHT) / 2
    canvas.text(middle, _HEIGHT - 10, "statements", anchor="middle", colour=MUTED)


def _labels(canvas: Canvas, ends: Sequence[tuple[Point, str, str]]) -> None:
    """The names beside the ends of their lines, moved apart where they would overlap."""
    lowest = -math.inf
    for (x, y), name, colour in sorted(ends, key=lambda end: end[0][1]):
        lowest = max(y + 4, lowest + _LABEL_DISTANCE)
        canvas.text(x + 10, lowest, name, colour=colour, bold=True)
