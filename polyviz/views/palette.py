"""Colours, dashes and markers: the Okabe-Ito palette, and never a colour without a second sign.

Okabe and Ito, "Color Universal Design" (2008): eight colours that people with any kind of colour vision can tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
PURPLE = "#AA4499"
SKY = "#56B4E9"
OLIVE = "#7d8b00"
INK = "#1b1b1b"
MUTED = "#5c5c5c"
FAINT = "#d9d9d9"
PAPER = "#ffffff"
HULL = "#eef4fa"


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How dependences of one kind are drawn: colour, dash pattern, whether the line is doubled, and what it means."""

    colour: str
    dash: str
    double: bool
    meaning: str


KINDS: dict[str, LineStyle] = {
    "reduction": LineStyle(PURPLE, "", True, "may be reordered"),
    "flow": LineStyle(BLUE, "", False, "write, then read"),
    "anti": LineStyle(ORANGE, "6 3", False, "read, then write"),
    "output": LineStyle(GREEN, "1.5 3", False, "write, then write"),
}
MARKERS = ("circle", "square", "triangle", "diamond")
