"""A small writer of SVG text: shapes go in, an escaped document or a data URI comes out.

Pictures stand alone (no script, no style sheet, no external file) and paint their own background, so that they read
the same in a light theme, a dark theme, an exported page and a slide.
"""

from __future__ import annotations

import base64
import html
import re
from typing import TYPE_CHECKING

from polyviz.views.palette import FAINT, INK, PAPER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Point = tuple[float, float]
SANS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "'DejaVu Sans Mono', Menlo, Consolas, monospace"
# XML 1.0, section 2.2: everything else makes the whole document unreadable.
_NOT_XML = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_TURNING = "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""Characters that nobody sees, and that make a line read otherwise than it is."""
_MISLEADING = re.compile(f"{_NOT_XML}|{_TURNING}")


def escape(text: object) -> str:
    """``text`` for an SVG or HTML text node or attribute; characters that XML cannot hold, or
    that turn the direction of text around, become U+FFFD.

    >>> escape('<b> & "q"')
    '&lt;b&gt; &amp; &quot;q&quot;'
    """
    return html.escape(_MISLEADING.sub("\ufffd", str(text)), quote=True)


def number(value: float) -> str:
    """``value`` with at most one decimal, as short as possible.

    >>> number(3.0), number(2.26), number(-0.04)
    ('3', '2.3', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def points_text(points: Iterable[Point]) -> str:
    """Path data through ``points``: ``M x y L x y …``."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def data_uri(svg: str) -> str:
    """The picture as ``data:image/svg+xml;base64,…``: the form that trust checks, exports and GitHub let through."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode("ascii")


class Canvas:
    """Collects shapes; ``render`` gives the document.

    >>> canvas = Canvas(40, 20, "a line")
    >>> canvas.path([(0, 0), (40, 20)], stroke="#000000")
    >>> canvas.render().startswith('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"')
    True
    """

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width = width
        self.height = height
        self._title = title
        self._parts: list[str] = []

    def raw_path(
        self,
        data: str,
        *,
        stroke: str = "none",
        width: float = 1.0,
        dash: str = "",
        fill: str = "none",
        opacity: float = 1.0,
    ) -> None:
        """A path from ready path data; corners and line ends are round."""
        if not data:
            return
        attributes = f'd="{data}" fill="{fill}"'
        if stroke != "none":
            attributes += f' stroke="{stroke}" stroke-width="{number(width)}"'
            attributes += ' stroke-linecap="round" stroke-linejoin="round"'
        if dash:
            attributes += f' stroke-dasharray="{dash}"'
        if opacity < 1:
            attributes += f' opacity="{opacity:.2f}"'
        self._parts.append(f"<path {attributes}/>")

    def path(
        self,
        points: Sequence[Point],
        *,
        close: bool = False,
        stroke: str = "none",
        width: float = 1.0,
        dash: str = "",
        fill: str = "none",
        opacity: float = 1.0,
    ) -> None:
        """A line through ``points``, or with ``close`` a polygon."""
        data = points_text(points) + ("Z" if close else "")
        self.raw_path(data, stroke=stroke, width=width, dash=dash, fill=fill, opacity=opacity)

    def dots(self, points: Iterable[Point], radius: float, colour: str = INK, opacity: float = 1.0) -> None:
        """Filled circles, all in one path: a zero-length line with round ends is a circle in few bytes."""
        data = "".join(f"M{number(x)} {number(y)}h0" for x, y in points)
        self.raw_path(data, stroke=colour, width=2 * radius, opacity=opacity)

    def rectangle(
        self, x: float, y: float, width: float, height: float, *, fill: str, stroke: str = "none"
    ) -> None:
        """An upright rectangle."""
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        self.path(corners, close=True, fill=fill, stroke=stroke)

    def text(
        self,
        x: float,
        y: float,
        content: object,
        *,
        size: float = 12,
        anchor: str = "start",
        colour: str = INK,
        bold: bool = False,
        italic: bool = False,
        mono: bool = False,
    ) -> None:
        """A line of text with its baseline at ``y``; spaces are kept."""
        style = ' font-weight="bold"' if bold else ""
        style += ' font-style="italic"' if italic else ""
        style += f' font-family="{MONO}"' if mono else ""
        style += f' text-anchor="{anchor}"' if anchor != "start" else ""
        place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{colour}"'
        self._parts.append(f'<text {place}{style} xml:space="preserve">{escape(content)}</text>')

    def render(self) -> str:
        """The document, with its title for screen readers and a background of its own."""
        size = f'width="{number(self.width)}" height="{number(self.height)}"'
        box = f'viewBox="0 0 {number(self.width)} {number(self.height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="{SANS}" role="img">'
        inside = f'width="{number(self.width - 1)}" height="{number(self.height - 1)}"'
        background = f'<rect x="0.5" y="0.5" {inside} rx="6" fill="{PAPER}" stroke="{FAINT}"/>'
        return "\n".join([head, f"<title>{escape(self._title)}</title>", background, *self._parts, "</svg>"])
