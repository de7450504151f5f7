"""The roofline as a picture: operations per second over operations per byte, both logarithmic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from polyviz.views.palette import BLUE, FAINT, INK, MUTED, ORANGE
from polyviz.views.svg import Canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.benchmark.rooflines import Achieved
    from polyviz.model.roofline import Peaks
    from polyviz.views.svg import Point

_WIDTH, _HEIGHT = 860.0, 520.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 72.0, 24.0, 84.0, 52.0
_LABEL_DISTANCE, _LABEL_WIDTH = 11.0, 62.0


class _Axes:
    """Operations per byte and per second to pixels."""

    def __init__(self, found: Sequence[Achieved], peak: float) -> None:
        intensities = [one.work.intensity for one in found]
        rates = [rate for one in found for rate in rates_of(one) if rate]
        self.across = _decades(min(intensities), max(intensities))
        self.up = _decades(min(rates), max(peak, *rates))

    def point(self, intensity: float, rate: float) -> Point:
        x = (math.log10(intensity) - self.across[0]) / (self.across[-1] - self.across[0])
        y = (math.log10(rate) - self.up[0]) / (self.up[-1] - self.up[0])
        return _LEFT + x * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM)


def _decades(low: float, high: float) -> range:
    first = math.floor(math.log10(low))
    return range(first, max(math.ceil(math.log10(high)), first + 1) + 1)


def rates_of(one: Achieved) -> tuple[float | None, float | None]:
    """Operations per second of the fastest variant of polyviz and of the best peer."""
    own, peer = one.own, one.peer
    return (
        None if own is None or own.median is None else one.work.operations / own.median,
        None if peer is None or peer.median is None else one.work.operations / peer.median,
    )


def roofline_picture(found: Sequence[Achieved], peaks: Peaks, dtype: str) -> str:
    """The roofs of the machine, and two points per kernel with finite traffic and a time, as an SVG document.

    ``found`` must not be empty.
    """
    peak = peaks.multiply_add[dtype]
    canvas = Canvas(
        _WIDTH, _HEIGHT, "Operations per second over operations per byte, with the limits of the machine"
    )
    axes = _Axes(found, peak)
    title = f"What the kernels achieve of this machine ({dtype}, {peaks.threads} threads)"
    canvas.text(16, 26, title, bold=True, size=14)
    canvas.dots([(22, 44)], 4, BLUE)
    canvas.text(32, 48, "polyviz", colour=BLUE)
    canvas.dots([(92, 44)], 3, ORANGE)
    canvas.text(102, 48, "best peer", colour=ORANGE)
    _grid(canvas, axes)
    _roof(canvas, axes, peak, peaks.copy, f"memory, {peaks.copy / 1e9:.0f} GB/s")
    _roof(
        canvas, axes, peak, peaks.cached_copy, f"last cache, {peaks.cached_copy / 1e9:.0f} GB/s", dash="6 4"
    )
    _kernels(canvas, axes, found)
    return canvas.render()


def can_be_drawn(found: Sequence[Achieved]) -> tuple[Achieved, ...]:
    """Those that have a place in the picture: their traffic is not zero, and something was timed."""
    return tuple(one for one in found if math.isfinite(one.work.intensity) and any(rates_of(one)))


def _grid(canvas: Canvas, axes: _Axes) -> None:
    for decade in axes.across:
        foot, top = (axes.point(10.0**decade, 10.0**end) for end in (axes.up[0], axes.up[-1]))
        canvas.path([foot, top], stroke=FAINT)
        canvas.text(foot[0], foot[1] + 18, f"{10.0**decade:g}", anchor="middle", colour=MUTED)
    for decade in axes.up:
        start, end = (axes.point(10.0**side, 10.0**decade) for side in (axes.across[0], axes.across[-1]))
        canvas.path([start, end], stroke=FAINT)
        canvas.text(start[0] - 8, start[1] + 4, f"{10.0 ** (decade - 9):g}", anchor="end", colour=MUTED)
    canvas.text(_LEFT - 56, _TOP - 6, "GFLOP/s", colour=MUTED)
    middle = _LEFT + (_WIDTH - _LEFT - _RIGHT) / 2
    canvas.text(middle, _HEIGHT - 12, "operations per byte that has to move", anchor="middle", colour=MUTED)


def _roof(canvas: Canvas, axes: _Axes, peak: float, bandwidth: float, name: str, dash: str = "") -> None:
    """The slope of a bandwidth up to the peak, and on along it."""
    left, right = 10.0 ** axes.across[0], 10.0 ** axes.across[-1]
    corner = min(max(peak / bandwidth, left), right)
    low = max(left, 10.0 ** axes.up[0] / bandwidth)
    points = [axes.point(low, min(peak, bandwidth * low)), axes.point(corner, min(peak, bandwidth * corner))]
    if corner < right:
        points.append(axes.point(right, peak))
    canvas.path(points, stroke=INK, width=1.5, dash=dash)
    canvas.text(points[0][0] + 6, points[0][1] - 26, name, colour=INK, italic=True, size=11)


def _kernels(canvas: Canvas, axes: _Axes, found: Sequence[Achieved]) -> None:
    """A line from the peer to ours for every kernel, its name beside ours; names that would overlap are moved down."""
    taken: list[Point] = []
    for one in sorted(found, key=lambda one: -(rates_of(one)[0] or 0.0)):
        own, peer = (None if rate is None else axes.point(one.work.intensity, rate) for rate in rates_of(one))
        if own is not None and peer is not None:
            canvas.path([peer, own], stroke=FAINT, width=2)
        if peer is not None:
            canvas.dots([peer], 3, ORANGE)
        if own is not None:
            canvas.dots([own], 4, BLUE)
        place = own or peer
        if place is not None:
            taken.append(_free(place, taken))
            canvas.text(taken[-1][0] + 7, taken[-1][1] + 4, one.kernel, size=10, colour=MUTED)


def _free(place: Point, taken: Sequence[Point]) -> Point:
    """The first place for a name at or below ``place`` that no other name covers."""
    x, y = place
    while any(abs(x - left) < _LABEL_WIDTH and abs(y - top) < _LABEL_DISTANCE for left, top in taken):
        y += 1
    return x, y
