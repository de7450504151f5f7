"""The picture of one statement: its iteration domain as points, the exact hull, and the dependences as arrows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from polyviz.views.cells import draw_cells, draw_dots
from polyviz.views.drawing import (
    DOT,
    MARGIN,
    Curve,
    axis,
    curves,
    heading,
    legend,
    legend_entries,
    legend_height,
    tick_step,
    values_text,
    wrapped,
)
from polyviz.views.geometry import Oblique, hull, hull_edges
from polyviz.views.instances import Arrow, Instance, Pane, outstanding, span_of
from polyviz.views.palette import BLUE, FAINT, HULL, INK, MUTED, ORANGE
from polyviz.views.svg import Canvas, Point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SMALLEST_WIDTH = 400.0
# From this many arrows on, all but those of one instance step back.
CROWDED = 160
_PLOT = 290.0
DEPTHS = (("#8c8c8c", 2.2), ("#6b6b6b", 2.5), ("#454545", 2.8), (INK, 3.1))


def draw(pane: Pane) -> str:
    """The picture as SVG text.

    A single instance is a dot, one dimension a line with arcs, two a plane, three a projection in which no two
    points coincide.
    """
    if not pane.points:
        return _draw_empty(pane)
    return (_draw_single, _draw_line, _draw_plane, _draw_space)[len(pane.iterators)](pane)


def describe(pane: Pane) -> str:
    """One sentence that stands in for the picture where it cannot be seen."""
    loops = ", ".join(pane.iterators) or "no loop"
    count = f"{len(pane.points)} instance" + ("" if len(pane.points) == 1 else "s")
    arrows = ", ".join(
        f"{sum(arrow.kind == kind for arrow in pane.arrows)} {kind}"
        for kind in legend_entries(arrow.kind for arrow in pane.arrows)
    )
    sizes = f" for {values_text(pane.values)}" if pane.values else ""
    where = f"Iteration domain of {pane.statement} over {loops}: {count}{sizes}"
    return f"{where}; dependences on itself: {arrows or 'none'}." if pane.analysed else f"{where}."


def _lines(pane: Pane) -> list[str]:
    count = f"{len(pane.points)} instance" + ("" if len(pane.points) == 1 else "s")
    facts = [
        f"line {pane.line}" if pane.line else "",
        values_text(pane.values),
        f"{count} drawn" if not pane.complete else count,
    ]
    return wrapped([" · ".join(fact for fact in facts if fact), *pane.notes], SMALLEST_WIDTH)


def _canvas(
    pane: Pane, plot_width: float, plot_height: float, note: str = ""
) -> tuple[Canvas, float, list[str]]:
    """A canvas with heading and legend; returns it with the y where the plot starts and the kinds drawn."""
    kinds = legend_entries(arrow.kind for arrow in pane.arrows)
    lines = _lines(pane)
    top = 26 + 16 * len(lines) + 8.0
    alone = "no dependence of the statement on itself" if pane.analysed else ""
    foot = note or ("" if kinds else alone)
    width = max(plot_width + 2 * MARGIN, SMALLEST_WIDTH)
    canvas = Canvas(width, top + plot_height + legend_height(kinds, foot), describe(pane))
    heading(canvas, pane.statement, pane.source, lines)
    legend(canvas, top + plot_height + 10, kinds, foot)
    return canvas, top, kinds


def _draw_empty(pane: Pane) -> str:
    canvas, top, _ = _canvas(pane, 0, 40)
    canvas.text(MARGIN, top + 22, "empty: no instance is executed", size=13)
    return canvas.render()


def _draw_single(pane: Pane) -> str:
    canvas, top, _ = _canvas(pane, 0, 60)
    canvas.dots([(MARGIN + 20, top + 28)], 5)
    canvas.text(MARGIN + 38, top + 33, "outside all loops: one instance", size=13)
    return canvas.render()


def _draw_line(pane: Pane) -> str:
    low, high = span_of(pane.points, 0)
    unit = min(52.0, 620 / (high - low + 1))
    longest = max((abs(arrow.sink[0] - arrow.source[0]) for arrow in pane.arrows), default=0)
    above = 14 + min(90.0, 0.34 * unit * longest)
    below = above if any(arrow.kind in ("anti", "output") for arrow in pane.arrows) else 14.0
    canvas, top, _ = _canvas(pane, unit * (high - low + 1) + 50, above + below + 34)
    base, left = top + above, MARGIN + 24

    def place(instance: Instance) -> Point:
        return left + (instance[0] - low) * unit, base

    end = place((high,))[0] + 0.5 * unit + 14
    axis(canvas, (left - 14, base), (end, base), pane.iterators[0], (end + 10, base + 5))
    for value in range(low, high + 1, tick_step(high - low + 1)):
        canvas.text(place((value,))[0], base + below + 12, value, size=11, anchor="middle", colour=MUTED)
    rise = min(0.17, 45 / (unit * max(1, longest)))
    arcs = [
        Curve(arrow.kind, place(arrow.source), place(arrow.sink), _arc(arrow, rise)) for arrow in pane.arrows
    ]
    curves(canvas, arcs, width=1.6)
    draw_cells(canvas, pane, place, 0.3 * unit)
    draw_dots(canvas, pane, place, DOT + 0.6)
    _ring(canvas, pane, place)
    return canvas.render()


def _arc(arrow: Arrow, rise: float) -> float:
    """Flow and reduction arcs run above the axis, anti and output arcs below it, whatever their direction."""
    side = -1 if arrow.kind in ("anti", "output") else 1
    # Pushing to the left is upwards for an arrow to the right.
    return 2 * rise * side * (1 if arrow.sink[0] >= arrow.source[0] else -1)


def _draw_plane(pane: Pane) -> str:
    (low_x, high_x), (low_y, high_y) = span_of(pane.points, 0), span_of(pane.points, 1)
    wide, tall = high_x - low_x, high_y - low_y
    unit = min(46.0, _PLOT / max(wide, tall, 1))
    canvas, top, _ = _canvas(pane, unit * wide + 110, unit * tall + 94)
    left, bottom = MARGIN + 46, top + unit * tall + 42

    def place(instance: Sequence[float]) -> Point:
        return left + (instance[0] - low_x) * unit, bottom - (instance[1] - low_y) * unit

    _grid(canvas, place, (low_x, high_x), (low_y, high_y))
    _frame(canvas, place, pane, (low_x, high_x), (low_y, high_y))
    outline = [place(corner) for corner in hull([(point[0], point[1]) for point in pane.points])]
    _outline(canvas, outline)
    draw_cells(canvas, pane, place, 0.3 * unit)
    _arrows(canvas, pane, place)
    draw_dots(canvas, pane, place, min(DOT, unit / 4))
    _ring(canvas, pane, place)
    return canvas.render()


def _grid(
    canvas: Canvas, place: Callable[[Sequence[float]], Point], across: tuple[int, int], up: tuple[int, int]
) -> None:
    for x in range(across[0], across[1] + 1, tick_step(across[1] - across[0] + 1)):
        canvas.path([place((x, up[0])), place((x, up[1]))], stroke=FAINT, width=0.8)
    for y in range(up[0], up[1] + 1, tick_step(up[1] - up[0] + 1)):
        canvas.path([place((across[0], y)), place((across[1], y))], stroke=FAINT, width=0.8)


def _frame(
    canvas: Canvas,
    place: Callable[[Sequence[float]], Point],
    pane: Pane,
    across: tuple[int, int],
    up: tuple[int, int],
) -> None:
    """Axes with ticks, left of and below the points."""
    left, bottom = place((across[0], up[0]))
    right, top = place((across[1], up[1]))
    corner = (left - 18, bottom + 18)
    axis(canvas, corner, (right + 26, corner[1]), pane.iterators[0], (right + 36, corner[1] + 5))
    axis(canvas, corner, (corner[0], top - 20), pane.iterators[1], (corner[0], top - 26))
    for x in range(across[0], across[1] + 1, tick_step(across[1] - across[0] + 1)):
        canvas.text(place((x, 0))[0], corner[1] + 16, x, size=11, anchor="middle", colour=MUTED)
    for y in range(up[0], up[1] + 1, tick_step(up[1] - up[0] + 1)):
        canvas.text(corner[0] - 7, place((0, y))[1] + 4, y, size=11, anchor="end", colour=MUTED)


def _outline(canvas: Canvas, corners: Sequence[Point]) -> None:
    if len(corners) > 2:
        canvas.path(corners, close=True, fill=HULL, stroke=BLUE, width=1.1, opacity=0.75)
    elif len(corners) == 2:
        canvas.path(corners, stroke=BLUE, width=1.1, opacity=0.6)


def _arrows(canvas: Canvas, pane: Pane, place: Callable[[Sequence[float]], Point]) -> None:
    """All arrows; in a crowd the others step back behind those of one instance."""
    drawn = {
        arrow: Curve(arrow.kind, place(arrow.source), place(arrow.sink), _bend(arrow))
        for arrow in pane.arrows
    }
    chosen = representative(pane)
    if chosen is None:
        curves(canvas, drawn.values(), width=1.5)
        return
    front = [curve for arrow, curve in drawn.items() if chosen in (arrow.source, arrow.sink)]
    curves(canvas, drawn.values(), width=0.7, opacity=0.28, heads=False)
    curves(canvas, front, width=1.9)
    canvas.dots([place(chosen)], 2 * DOT, INK)


def _bend(arrow: Arrow) -> float:
    """Arrows that would run through another point go around it."""
    steps = math.gcd(*(sink - source for source, sink in zip(arrow.source, arrow.sink, strict=True)))
    return 0.14 if steps > 1 else 0.0


def representative(pane: Pane) -> Instance | None:
    """The instance whose dependences stand out in a crowded picture; None where all arrows can be read."""
    found = outstanding(pane.arrows, CROWDED)
    return None if found is None else found[1]


def _draw_space(pane: Pane) -> str:
    spans = [span_of(pane.points, dimension) for dimension in range(3)]
    project = _fitting_projection([high - low for low, high in spans])
    origin = [low for low, _ in spans]
    corners = [
        project([(pick >> dimension & 1) * (high - low) for dimension, (low, high) in enumerate(spans)])
        for pick in range(8)
    ]
    left, right = min(x for x, _ in corners), max(x for x, _ in corners)
    upper, lower = min(y for _, y in corners), max(y for _, y in corners)
    chosen = representative(pane)
    note = (
        ""
        if chosen is None
        else f"thick: the dependences of {pane.statement}{list(chosen)}; thin: all others"
    )
    canvas, top, _ = _canvas(pane, right - left + 130, lower - upper + 84, note)

    def place(instance: Sequence[float]) -> Point:
        x, y = project([value - low for value, low in zip(instance, origin, strict=True)])
        return x - left + MARGIN + 46, y - upper + top + 36

    tenths = [(round(10 * x), round(10 * y)) for x, y in map(place, pane.points)]
    outline = [(x / 10, y / 10) for x, y in hull(tenths)]
    canvas.path(outline, close=True, fill=HULL, opacity=0.7)
    _space_axes(canvas, place, pane, spans)
    _edges(canvas, place, pane, project, near=False)
    draw_cells(canvas, pane, place, 0)
    _arrows(canvas, pane, place)
    if pane.cells:
        draw_dots(canvas, pane, place, DOT)
    else:
        _deep_dots(canvas, pane, place)
    _edges(canvas, place, pane, project, near=True)
    _ring(canvas, pane, place)
    return canvas.render()


def _ring(canvas: Canvas, pane: Pane, place: Callable[[Instance], Point]) -> None:
    if pane.ringed is not None:
        x, y = place(pane.ringed)
        name = f"{pane.statement}[{', '.join(map(str, pane.ringed))}]"
        canvas.dots([(x, y)], 2.4 * DOT, ORANGE)
        canvas.dots([(x, y)], DOT + 0.6)
        canvas.text(x + 10, y - 9, name, size=11, bold=True)


def _deep_dots(canvas: Canvas, pane: Pane, place: Callable[[Sequence[float]], Point]) -> None:
    """Points far from the viewer are paler and smaller."""
    nearness = {point: sum(v * x for v, x in zip(Oblique.VIEW, point, strict=True)) for point in pane.points}
    low, high = min(nearness.values()), max(nearness.values())
    for layer, (colour, radius) in enumerate(DEPTHS):
        start, end = (low + (high - low) * share / len(DEPTHS) for share in (layer, layer + 1))
        last = layer == len(DEPTHS) - 1
        inside = [point for point, near in nearness.items() if start <= near and (near < end or last)]
        canvas.dots([place(point) for point in inside], radius, colour)


def _fitting_projection(sides: Sequence[int]) -> Oblique:
    size = Oblique(1.0)
    width = sum(abs(column[0]) * side for column, side in zip(size.COLUMNS, sides, strict=True))
    height = sum(abs(column[1]) * side for column, side in zip(size.COLUMNS, sides, strict=True))
    return Oblique(min(50.0, 380 / max(width, 1), 330 / max(height, 1)))


def _edges(
    canvas: Canvas, place: Callable[[Sequence[float]], Point], pane: Pane, project: Oblique, near: bool
) -> None:
    points = [(point[0], point[1], point[2]) for point in pane.points]
    for first, second, planes in hull_edges(points):
        if project.hidden(planes) != near:
            dash, opacity = ("", 0.55) if near else ("3 3", 0.35)
            canvas.path([place(first), place(second)], stroke=BLUE, width=1.1, dash=dash, opacity=opacity)


def _space_axes(
    canvas: Canvas, place: Callable[[Sequence[float]], Point], pane: Pane, spans: Sequence[tuple[int, int]]
) -> None:
    low = [span[0] for span in spans]
    high = [span[1] for span in spans]
    # Each axis runs along the edge of the bounding box where its ticks stay clear of the points.
    starts = (low, [high[0], low[1], low[2]], low)
    offsets = ((-8.0, 26.0), (22.0, 4.0), (-16.0, 4.0))
    for dimension in range(3):
        start = list(starts[dimension])
        end = list(start)
        end[dimension] = high[dimension]
        shift = offsets[dimension]
        ends = [(x + shift[0] * 0.5, y + shift[1] * 0.5) for x, y in (place(start), place(end))]
        tip = _extended(ends[0], ends[1], 22)
        beyond = _extended(ends[0], tip, 11)
        axis(canvas, ends[0], tip, pane.iterators[dimension], (beyond[0], beyond[1] + 4))
        values = range(low[dimension], high[dimension] + 1, tick_step(high[dimension] - low[dimension] + 1))
        for value in values:
            start[dimension] = value
            x, y = place(start)
            canvas.text(
                x + shift[0] * 1.3, y + shift[1] * 1.3 + 4, value, size=10, anchor="middle", colour=MUTED
            )


def _extended(start: Point, end: Point, length: float) -> Point:
    """``end`` moved on by ``length``; a point without extent grows to the right."""
    total = math.dist(start, end)
    if total == 0:
        return end[0] + length, end[1]
    return end[0] + (end[0] - start[0]) / total * length, end[1] + (end[1] - start[1]) / total * length
