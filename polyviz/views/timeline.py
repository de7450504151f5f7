"""Several statements under a common loop in one picture: which instances of one feed which of another.

The common loop runs to the right; within each of its steps the statements stand one after the other, as they are
executed. Upwards runs a second loop where all statements have one of the same name, else each statement has a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.dependences import Dependence
from polyviz.views.drawing import (
    MARGIN,
    Curve,
    axis,
    clip_text,
    curves,
    heading,
    legend,
    legend_entries,
    legend_height,
    tick_step,
    values_text,
    wrapped,
)
from polyviz.views.instances import Arrow, Instance, arrows_between, integer_points, outstanding, span_of
from polyviz.views.nodes import loop_paths, read_tree
from polyviz.views.palette import FAINT, MARKERS, MUTED
from polyviz.views.sizes import SET, clip
from polyviz.views.svg import Canvas, Point, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.model.scop import Scop, Statement

INPUT = isl.dim_type.in_
OUTPUT = isl.dim_type.out
MOST_STATEMENTS = len(MARKERS)
_CROWDED = 120
_LARGEST_SIDE = 330.0


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the picture shows: per statement its points as (value of the common loop, row), and the arrows.

    ``row_name`` is the second iterator, or empty when each statement has a row of its own.
    """

    statements: tuple[str, ...]
    sources: tuple[str, ...]
    values: Mapping[str, int]
    loop: str
    row_name: str
    points: tuple[tuple[Instance, ...], ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[str, ...] = ()


def groups(scop: Scop) -> list[tuple[Statement, ...]]:
    """Statements that share their outermost loop, two to four of them; larger groups are left to the text."""
    paths = loop_paths(read_tree(scop.schedule))
    found: dict[int, list[Statement]] = {}
    for statement in scop.statements:
        path = paths.get(statement.name, ())
        if path and statement.iterators:
            found.setdefault(path[0], []).append(statement)
    return [tuple(group) for group in found.values() if 2 <= len(group) <= MOST_STATEMENTS]


def timeline(
    group: Sequence[Statement], relations: Iterable[Dependence], values: Mapping[str, int], bound: isl.Set
) -> Timeline | None:
    """The combined picture of ``group``; None when no dependence joins two of its statements."""
    names = {statement.name for statement in group}
    between = [
        found for found in relations if found.source != found.sink and {found.source, found.sink} <= names
    ]
    if not between:
        return None
    shared = [name for name in group[0].iterators[1:] if all(name in other.iterators[1:] for other in group)]
    row_name = shared[0] if shared else ""
    axes = {
        statement.name: [0, statement.iterators.index(row_name)] if row_name else [0] for statement in group
    }
    notes: list[str] = []
    domains = {
        statement.name: _projected(statement, axes[statement.name], bound, notes) for statement in group
    }
    flat = [_projected_relation(dependence, axes) for dependence in between]
    arrows, covered = arrows_between(flat, domains, notes)
    dropped = sorted({name for statement in group for name in statement.iterators[1:] if name != row_name})
    if dropped:
        notes.append(f"{', '.join(dropped)} not shown: one mark stands for all values")
    if covered:
        notes.append(covered)
    return Timeline(
        statements=tuple(statement.name for statement in group),
        sources=tuple(statement.source for statement in group),
        values=values,
        loop=group[0].iterators[0],
        row_name=row_name,
        points=tuple(tuple(integer_points(domains[statement.name])[0]) for statement in group),
        arrows=tuple(arrows),
        notes=tuple(dict.fromkeys(notes)),
    )


def _projected(statement: Statement, axes: Sequence[int], bound: isl.Set, notes: list[str]) -> isl.Set:
    domain = statement.domain.intersect_params(bound)
    for dimension in reversed(range(domain.dim(SET))):
        if dimension not in axes:
            domain = domain.project_out(SET, dimension, 1)
    window = clip(
        domain.set_tuple_name(statement.name), [statement.iterators[dimension] for dimension in axes]
    )
    notes.extend(window.cuts)
    return window.domain


def _projected_relation(dependence: Dependence, axes: Mapping[str, Sequence[int]]) -> Dependence:
    relation = dependence.relation
    for side, name in ((INPUT, dependence.source), (OUTPUT, dependence.sink)):
        for dimension in reversed(range(relation.dim(side))):
            if dimension not in axes[name]:
                relation = relation.project_out(side, dimension, 1)
        relation = relation.set_tuple_name(side, name)
    return Dependence(dependence.kind, dependence.array, dependence.source, dependence.sink, relation)


def describe(picture: Timeline) -> str:
    """One sentence that stands in for the picture where it cannot be seen."""
    pairs = sorted({f"{arrow.kind} {arrow.source_name} to {arrow.sink_name}" for arrow in picture.arrows})
    return f"Dependences between {', '.join(picture.statements)} over {picture.loop}: {'; '.join(pairs)}."


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where a point of a statement lies: pixels per step across and up, and the corner of the plot."""

    picture: Timeline
    low: tuple[int, int]
    across: float
    up: float
    left: float
    bottom: float

    def place(self, name: str, instance: Instance) -> Point:
        order = self.picture.statements.index(name)
        if self.picture.row_name:
            x = instance[0] - self.low[0] + order / len(self.picture.statements)
            return self.left + x * self.across, self.bottom - (instance[1] - self.low[1]) * self.up
        # The first statement has the topmost row.
        row = len(self.picture.statements) - 1 - order
        return self.left + (instance[0] - self.low[0]) * self.across, self.bottom - row * self.up


def draw(picture: Timeline) -> str:
    """The picture as SVG text."""
    everything = [point for points in picture.points for point in points] or [(0, 0)]
    low_x, high_x = span_of(everything, 0)
    low_y, high_y = span_of(everything, 1) if picture.row_name else (0, len(picture.statements) - 1)
    columns, rows = high_x - low_x + (1 if picture.row_name else 0), high_y - low_y
    across = min(92.0 if picture.row_name else 60.0, 620 / max(columns, 1))
    up = min(46.0 if picture.row_name else 56.0, _LARGEST_SIDE / max(rows, 1))
    kinds = legend_entries(arrow.kind for arrow in picture.arrows)
    lines = [
        " · ".join(text for text in ("dependences between statements", values_text(picture.values)) if text)
    ]
    width = max(across * columns + 110 + 2 * MARGIN, 440.0)
    lines = wrapped([*lines, *picture.notes], width)
    top = 26 + 16 * len(lines) + 8.0
    height = up * rows + 94
    key = 22.0 * len(picture.statements)
    canvas = Canvas(width, top + height + key + legend_height(kinds), describe(picture))
    heading(canvas, " → ".join(picture.statements), "", lines)
    layout = _Layout(picture, (low_x, low_y), across, up, MARGIN + 46, top + up * rows + 42)
    _frame(canvas, layout, (low_x, high_x), (low_y, high_y))
    _arrows(canvas, layout)
    for order, name in enumerate(picture.statements):
        _markers(canvas, [layout.place(name, point) for point in picture.points[order]], MARKERS[order])
    _key(canvas, picture, top + height + 8)
    legend(canvas, top + height + key + 10, kinds)
    return canvas.render()


def _frame(canvas: Canvas, layout: _Layout, across: tuple[int, int], up: tuple[int, int]) -> None:
    picture = layout.picture
    steps = len(picture.statements) if picture.row_name else 1
    width = (across[1] - across[0] + (steps - 1) / steps) * layout.across
    corner = (layout.left - 18, layout.bottom + 18)
    for x in range(across[0], across[1] + 1, tick_step(across[1] - across[0] + 1)):
        start = layout.left + (x - across[0]) * layout.across
        _band(canvas, layout, start, (steps - 1) / steps * layout.across, up)
        middle = start + (steps - 1) / steps * layout.across / 2
        canvas.text(middle, corner[1] + 16, x, size=11, anchor="middle", colour=MUTED)
    end = layout.left + width + 28
    axis(canvas, corner, (end, corner[1]), picture.loop, (end + 10, corner[1] + 5))
    top = layout.bottom - (up[1] - up[0]) * layout.up - 20
    if not picture.row_name:
        for name in picture.statements:
            canvas.text(
                corner[0] - 4,
                layout.place(name, (across[0], 0))[1] + 4,
                clip_text(name, 8),
                size=11,
                anchor="end",
            )
        return
    axis(canvas, corner, (corner[0], top), picture.row_name, (corner[0], top - 6))
    for y in range(up[0], up[1] + 1, tick_step(up[1] - up[0] + 1)):
        place = layout.bottom - (y - up[0]) * layout.up + 4
        canvas.text(corner[0] - 7, place, y, size=11, anchor="end", colour=MUTED)


def _band(canvas: Canvas, layout: _Layout, start: float, width: float, up: tuple[int, int]) -> None:
    """What belongs to one step of the common loop stands on one strip."""
    height = (up[1] - up[0]) * layout.up
    if layout.picture.row_name:
        canvas.rectangle(start - 10, layout.bottom - height - 10, width + 20, height + 20, fill="#f4f4f4")
    else:
        canvas.path([(start, layout.bottom), (start, layout.bottom - height)], stroke=FAINT, width=0.8)


def _arrows(canvas: Canvas, layout: _Layout) -> None:
    drawn = {
        arrow: Curve(
            arrow.kind,
            layout.place(arrow.source_name, arrow.source),
            layout.place(arrow.sink_name, arrow.sink),
        )
        for arrow in layout.picture.arrows
    }
    chosen = outstanding(layout.picture.arrows, _CROWDED)
    if chosen is None:
        curves(canvas, drawn.values(), width=1.3)
        return
    front = [curve for arrow, curve in drawn.items() if chosen in arrow.ends]
    curves(canvas, drawn.values(), width=0.7, opacity=0.3, heads=False)
    curves(canvas, front, width=1.8)


def _markers(canvas: Canvas, places: Sequence[Point], shape: str) -> None:
    if shape == "circle":
        canvas.dots(places, 3.8)
        return
    r = 3.8
    corners = {
        "square": [(-r, -r), (r, -r), (r, r), (-r, r)],
        "triangle": [(0, -r - 1), (r + 1, r), (-r - 1, r)],
        "diamond": [(0, -r - 1.5), (r + 1.5, 0), (0, r + 1.5), (-r - 1.5, 0)],
    }[shape]
    data = "".join(
        "M" + "L".join(f"{number(x + dx)} {number(y + dy)}" for dx, dy in corners) + "Z" for x, y in places
    )
    canvas.raw_path(data, fill="#ffffff", stroke="#1b1b1b", width=1.5)


def _key(canvas: Canvas, picture: Timeline, y: float) -> None:
    for order, (name, source) in enumerate(zip(picture.statements, picture.sources, strict=True)):
        _markers(canvas, [(MARGIN + 6, y + 22 * order)], MARKERS[order])
        canvas.text(MARGIN + 20, y + 22 * order + 4, clip_text(name, 8), size=12, bold=True)
        room = int((canvas.width - 2 * MARGIN - 70) / 6.7)
        canvas.text(MARGIN + 20 + 62, y + 22 * order + 4, clip_text(source, room), size=11, mono=True)
