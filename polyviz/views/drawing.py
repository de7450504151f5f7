"""What all domain pictures share: heading, dependence arrows, axes and legend."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.views.palette import INK, KINDS, MUTED, PAPER
from polyviz.views.svg import Canvas, Point, number, points_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MARGIN = 16.0
DOT = 3.4
SMALL = 11.5
# Average widths of a character, in units of the font size.
MONO_WIDTH = 0.602
SANS_WIDTH = 0.53
_LONGEST_NAME, _SHORT_NAME = 12, 3
"""How many letters of an axis's name are shown, and how many have room above its head."""
_LETTER = 7.6
"""About how wide such a letter is."""


@dataclass(frozen=True, slots=True)
class Curve:
    """An arrow in pixels.

    ``bend`` is how far its middle is pushed to the left of its direction, as a share of its length.
    """

    kind: str
    start: Point
    end: Point
    bend: float = 0.0


def clip_text(text: str, most: int) -> str:
    """``text`` on one line, cut with an ellipsis after ``most`` characters.

    >>> clip_text("A[i] = B[i]", 7)
    'A[i] =…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def clip_middle(text: str, most: int) -> str:
    """``text`` in ``most`` characters, its end kept too: names of one family differ there.

    >>> clip_middle("a_very_long_name_12", 6), clip_middle("alpha", 6)
    ('a_…_12', 'alpha')
    """
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - 1 - end]}…{text[-end:]}"


def values_text(values: Mapping[str, int]) -> str:
    """Parameter values as a reader writes them.

    >>> values_text({"n": 7, "m": 7, "t": 3})
    'n = m = 7, t = 3'
    """
    names: dict[int, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    return ", ".join(" = ".join([*group, str(value)]) for value, group in names.items())


def wrapped(lines: Iterable[str], width: float) -> list[str]:
    """Small lines broken so that each fits into ``width`` pixels."""
    room = int((width - 2 * MARGIN) / (SMALL * SANS_WIDTH))
    return [part for line in lines for part in textwrap.wrap(line, room)]


def heading(canvas: Canvas, name: str, source: str, lines: Sequence[str]) -> float:
    """Name and source text, then small lines below; returns the height used."""
    canvas.text(MARGIN, 24, name, size=15, bold=True)
    indent = MARGIN + 10 + len(name) * 15 * 0.62
    room = int((canvas.width - indent - MARGIN) / (12 * MONO_WIDTH))
    canvas.text(indent, 24, clip_text(source, room), size=12, mono=True)
    y = 26.0
    for line in lines:
        y += 16
        canvas.text(MARGIN, y, line, size=SMALL, colour=MUTED)
    return y + 8


def curves(
    canvas: Canvas, arrows: Iterable[Curve], *, width: float, opacity: float = 1.0, heads: bool = True
) -> None:
    """All arrows, one path per kind."""
    by_kind: dict[str, list[Curve]] = {}
    for arrow in arrows:
        by_kind.setdefault(arrow.kind, []).append(arrow)
    for kind in reversed(KINDS):
        _curves_of(canvas, kind, by_kind.get(kind, ()), width, opacity, heads)


def _curves_of(
    canvas: Canvas, kind: str, arrows: Sequence[Curve], width: float, opacity: float, heads: bool
) -> None:
    style = KINDS[kind]
    size = 4 + 1.6 * width if heads else 0.0
    shafts, tips = [], []
    for arrow in arrows:
        shaft, tip = _arrow(arrow, size)
        shafts.append(shaft)
        tips.append(tip)
    data = "".join(shafts)
    if style.double and heads:
        canvas.raw_path(data, stroke=style.colour, width=width + 2.4, opacity=opacity)
        canvas.raw_path(data, stroke=PAPER, width=1.6)
    else:
        canvas.raw_path(data, stroke=style.colour, width=width, dash=style.dash, opacity=opacity)
    if heads:
        canvas.raw_path("".join(tips), fill=style.colour, opacity=min(1.0, opacity + 0.2))


def _arrow(arrow: Curve, head: float) -> tuple[str, str]:
    """Path data of the shaft (trimmed at both dots) and of the head."""
    (x1, y1), (x2, y2) = arrow.start, arrow.end
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    control = (
        (x1 + x2) / 2 + 2 * arrow.bend * (y2 - y1),
        (y1 + y2) / 2 - 2 * arrow.bend * (x2 - x1),
    )
    gap = min(DOT + 1.2, length / 4)
    start = _towards((x1, y1), control, gap)
    tip = _towards((x2, y2), control, gap)
    neck = _towards(tip, control, head)
    middle = f"Q{number(control[0])} {number(control[1])} " if arrow.bend else "L"
    shaft = f"{points_text([start])}{middle}{number(neck[0])} {number(neck[1])}"
    side = ((tip[1] - neck[1]) * 0.42, (neck[0] - tip[0]) * 0.42)
    corners = [tip, (neck[0] + side[0], neck[1] + side[1]), (neck[0] - side[0], neck[1] - side[1])]
    return shaft, points_text(corners) + "Z"


def _towards(origin: Point, target: Point, distance: float) -> Point:
    length = math.hypot(target[0] - origin[0], target[1] - origin[1]) or 1.0
    share = distance / length
    return origin[0] + share * (target[0] - origin[0]), origin[1] + share * (target[1] - origin[1])


def _beyond(canvas: Canvas, start: Point, end: Point, name: str, label: Point) -> Point:
    """The middle of a name: a long one beside an axis that points to the right begins behind its head, if it fits."""
    if end[0] - start[0] <= abs(end[1] - start[1]) or len(name) <= _SHORT_NAME:
        return label
    half = _LETTER * len(name) / 2
    return max(label[0], min(label[0] + half - _LETTER / 2, canvas.width - half - 2)), label[1]


def axis(canvas: Canvas, start: Point, end: Point, name: str, label: Point) -> None:
    """A coordinate axis with its arrow head and the iterator's name."""
    neck = _towards(end, start, 7)
    side = ((end[1] - neck[1]) * 0.4, (neck[0] - end[0]) * 0.4)
    canvas.path([start, neck], stroke=INK, width=1.2)
    head = [end, (neck[0] + side[0], neck[1] + side[1]), (neck[0] - side[0], neck[1] - side[1])]
    canvas.path(head, close=True, fill=INK)
    shown = clip_text(name, _LONGEST_NAME)
    canvas.text(*_beyond(canvas, start, end, shown, label), shown, size=13, anchor="middle", bold=True, italic=True)


def legend_entries(kinds: Iterable[str]) -> list[str]:
    """The kinds that occur, in the palette's order."""
    present = set(kinds)
    return [kind for kind in KINDS if kind in present]


def legend(canvas: Canvas, y: float, kinds: Sequence[str], note: str = "") -> None:
    """Sample arrows with their names from ``y`` on, then one small line."""
    x = MARGIN
    for kind in kinds:
        curves(canvas, [Curve(kind, (x - DOT, y), (x + 34 + DOT, y))], width=1.6)
        canvas.text(x + 42, y + 4, kind, size=12)
        x += 42 + len(kind) * 12 * SANS_WIDTH + 20
    if note:
        canvas.text(MARGIN, y + (22 if kinds else 4), note, size=SMALL, colour=MUTED)


def legend_height(kinds: Sequence[str], note: str = "") -> float:
    """The room that :func:`legend` needs."""
    return (24 if kinds else 0) + (20 if note else 0) + 8


def tick_step(count: int) -> int:
    """Every how many values an axis is labelled, for ``count`` values.

    >>> tick_step(8), tick_step(30)
    (1, 5)
    """
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, count + 1) if count / step <= 12)
