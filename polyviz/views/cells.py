"""Tiles and blocks in the pictures of the domain: outlines and colours, and names where there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.views.geometry import hull
from polyviz.views.palette import BLUE, GREEN, INK, OLIVE, ORANGE, PURPLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.views.instances import Cell, Instance, Pane
    from polyviz.views.svg import Canvas, Point

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, OLIVE)
"""Neighbours have different ones; an outline and a name are the second sign."""
_STRENGTHS = (1.0, 0.72, 0.5, 0.3)
_LETTER = 5.0


def draw_cells(canvas: Canvas, pane: Pane, place: Callable[[Instance], Point], padding: float) -> None:
    """The outline of every cell of ``pane``, ``padding`` pixels away from its points."""
    for cell in pane.cells:
        corners = _outline(cell, place, padding)
        colour = COLOURS[cell.colour]
        if len(corners) > 2:
            canvas.path(corners, close=True, fill=colour, opacity=0.13)
        canvas.path(corners, close=len(corners) > 2, stroke=colour, width=1.6)
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        if cell.label and right - left >= _LETTER * len(cell.label):
            top = min(y for _, y in corners)
            canvas.text((left + right) / 2, top - 2, cell.label, size=9.5, anchor="middle")


def _outline(cell: Cell, place: Callable[[Instance], Point], padding: float) -> list[Point]:
    half = padding / 2
    turns = [(padding, half), (half, padding), (-half, padding), (-padding, half)]
    around = [*turns, *((-x, -y) for x, y in turns)] if padding else [(0.0, 0.0)]
    points = [place(point) for point in cell.points]
    # Exact corners need whole numbers: tenths of a pixel.
    tenths = [(round(10 * (x + right)), round(10 * (y + down))) for x, y in points for right, down in around]
    return [(x / 10, y / 10) for x, y in hull(tenths)]


def draw_dots(canvas: Canvas, pane: Pane, place: Callable[[Instance], Point], radius: float) -> None:
    """The points of ``pane``: in the colour of their cell, and as strong as their sign, or all in ink."""
    if not pane.cells:
        canvas.dots([place(point) for point in pane.points], radius, INK)
    for cell in pane.cells:
        for strength, opacity in enumerate(_STRENGTHS):
            chosen = [
                place(point)
                for point, own in zip(cell.points, cell.strengths, strict=True)
                if own == strength
            ]
            canvas.dots(chosen, radius, COLOURS[cell.colour], opacity)
