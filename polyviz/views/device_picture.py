"""The picture of which thread of which block runs which iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.views.drawing import MARGIN, SMALL, values_text, wrapped
from polyviz.views.palette import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, SKY
from polyviz.views.svg import Canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.device_view import PlacedIteration, ThreadPicture

_CELL = 8.0
_LINE = 16.0
_ROW = 64
"""Iterations per row where only one iterator is drawn."""
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY)
_SHADES = (1.0, 0.75, 0.55, 0.35)


def title(picture: ThreadPicture) -> str:
    """What is drawn, in a line."""
    fixed = f" for {values_text(picture.fixed)}" if picture.fixed else ""
    sizes = f", {values_text(picture.values)}" if picture.values else ""
    return f"{picture.statement}[{', '.join(picture.iterators)}]{fixed} in kernel {picture.kernel}{sizes}"


def sentences(picture: ThreadPicture) -> list[str]:
    """The rules, and what the first thread of the first block does."""
    lines = ["; ".join(picture.rules)] if picture.rules else []
    if picture.points:
        first = picture.points[0]
        own = [one for one in picture.points if (one.block, one.thread) == (first.block, first.thread)]
        listed = ", ".join(_iteration(one) for one in own[:6])
        more = f" and {len(own) - 6} more" if len(own) > 6 else ""
        lines.append(f"thread {_place(first.thread)} of block {_place(first.block)} runs {listed}{more}")
    return [*lines, picture.note] if picture.note else lines


def draw(picture: ThreadPicture) -> str:
    """The picture as an SVG document: a colour per block, lines between blocks, a shade per quarter of threads along x.

    A ring marks the iterations of the thread that runs the first one, and of its like in the other blocks.
    """
    at = _positions(picture)
    columns = 1 + max((x for x, _ in at), default=0)
    rows = 1 + max((y for _, y in at), default=0)
    width = max(2 * MARGIN + 26 + columns * _CELL, 380.0)
    legend = wrapped([*sentences(picture), *_legend(picture)], width - 2 * MARGIN)
    top = MARGIN + 2 * _LINE
    canvas = Canvas(width, top + rows * _CELL + _LINE * (len(legend) + 1.5), title(picture))
    canvas.text(MARGIN, MARGIN + 4, title(picture), size=12, bold=True)
    _axes(canvas, picture, top, rows)
    pixels = [(MARGIN + 26 + (x + 0.5) * _CELL, top + (y + 0.5) * _CELL) for x, y in at]
    if picture.points:
        ring = picture.points[0].thread
        marked = [pixels[place] for place, one in enumerate(picture.points) if one.thread == ring]
        canvas.dots(marked, 0.5 * _CELL, INK)
    for colour, shade, members in _groups(picture):
        canvas.dots([pixels[place] for place in members], 0.36 * _CELL, colour, shade)
    for ends in _borders(picture, at):
        canvas.path([(MARGIN + 26 + x * _CELL, top + y * _CELL) for x, y in ends], stroke=MUTED, width=0.8)
    for number, line in enumerate(legend):
        canvas.text(MARGIN, top + rows * _CELL + _LINE * (number + 1.5), line, size=SMALL, colour=MUTED)
    return canvas.render()


def _axes(canvas: Canvas, picture: ThreadPicture, top: float, rows: int) -> None:
    names = picture.iterators
    along = names[-1] if names else ""
    canvas.text(MARGIN + 26, top - 5, f"{along} →", size=SMALL, mono=True)
    if len(names) == 2:
        canvas.text(MARGIN, top + 0.5 * rows * _CELL, f"{names[0]} ↓", size=SMALL, mono=True)


def _positions(picture: ThreadPicture) -> list[tuple[int, int]]:
    """Column and row of every point; a single line is broken into rows."""
    if not picture.points:
        return []
    lowest = [min(values) for values in zip(*(one.iteration for one in picture.points), strict=True)]
    if len(lowest) == 2:
        return [(one.iteration[1] - lowest[1], one.iteration[0] - lowest[0]) for one in picture.points]
    if len(lowest) == 1:
        offsets = [one.iteration[0] - lowest[0] for one in picture.points]
        return [(offset % _ROW, offset // _ROW) for offset in offsets]
    return [(0, 0) for _ in picture.points]


def _groups(picture: ThreadPicture) -> list[tuple[str, float, list[int]]]:
    found: dict[tuple[str, float], list[int]] = {}
    for place, one in enumerate(picture.points):
        shade = _SHADES[min(len(_SHADES) - 1, len(_SHADES) * one.thread[0] // max(1, picture.block[0]))]
        # Blocks beside each other along any axis of the grid have different colours.
        x, y, z = one.block
        found.setdefault((_COLOURS[(x + 2 * y + 4 * z) % len(_COLOURS)], shade), []).append(place)
    return [(colour, shade, members) for (colour, shade), members in found.items()]


def _borders(picture: ThreadPicture, at: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Lines between neighbouring cells of different blocks, in cells, each as long as it goes on."""
    block = {cell: one.block for cell, one in zip(at, picture.points, strict=True)}
    upright = [(x + 1, y) for x, y in block if block.get((x + 1, y), block[x, y]) != block[x, y]]
    level = [(x, y + 1) for x, y in block if block.get((x, y + 1), block[x, y]) != block[x, y]]
    lines = [((x, y), (x, y + size)) for x, y, size in _joined(upright)]
    return [*lines, *(((x, y), (x + size, y)) for y, x, size in _joined([(y, x) for x, y in level]))]


def _joined(places: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Unit steps along the second coordinate, those behind each other as one with its length."""
    found: list[tuple[int, int, int]] = []
    for line, place in sorted(places):
        if found and found[-1][0] == line and found[-1][1] + found[-1][2] == place:
            found[-1] = (line, found[-1][1], found[-1][2] + 1)
        else:
            found.append((line, place, 1))
    return found


def _legend(picture: ThreadPicture) -> Sequence[str]:
    if not picture.points:
        return []
    blocks = len({one.block for one in picture.points})
    x = picture.block[0]
    shades = f", dark to light: thread x from 0 to {x - 1}" if x > 1 else ""
    ring = f"; ringed: thread {_place(picture.points[0].thread)} of each block"
    told = "one block" if blocks == 1 else f"{blocks} blocks, lines between them, neighbours in different colours"
    return [f"{told}{shades}{ring}"]


def _place(coordinates: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, coordinates))})"


def _iteration(one: PlacedIteration) -> str:
    return f"[{', '.join(map(str, one.iteration))}]"
