"""The order of the accesses as a picture: which byte is touched when, hits and misses, the share of misses below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.words import plural
from polyviz.views.cache import MOST_TOUCHES, Run, regions_of, shares, simulate, unknown_accesses, usual_cache
from polyviz.views.drawing import clip_middle, clip_text, values_text
from polyviz.views.html import image, items, paragraph, table
from polyviz.views.palette import BLUE, FAINT, INK, MUTED, ORANGE, PURPLE
from polyviz.views.svg import Canvas
from polyviz.views.tables import columns
from polyviz.views.transfers import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.views.cache import CacheShape, Outcome, Region
    from polyviz.views.linked_schema import InspectorModel

HEADINGS = ("schedule", "accesses", "hits", "misses", "of these evicted before", "written back", "moved")
MOST_PICTURES = 4
MOST_DRAWN = 1200
"""Accesses in one picture: more could not be told apart."""
_WIDTH, _LEFT, _TOP, _BAND, _GAP, _STRIP = 720.0, 64.0, 52.0, 74.0, 14.0, 34.0
_PARTS = 60
_MARKS: dict[Outcome, tuple[str, str]] = {
    "hit": (BLUE, "hit"),
    "first": (ORANGE, "miss: first touch"),
    "again": (PURPLE, "miss: was evicted"),
}


def order_forms(model: InspectorModel) -> tuple[str, str]:
    """HTML and text: totals for every schedule; the HTML has a picture of the first few, too."""
    shape = usual_cache(model)
    runs = _runs(model, shape)
    if not runs:
        return paragraph(_NOTHING), _NOTHING
    rows, notes = [_totals(*one) for one in runs.items()], _notes(model, runs, shape)
    pictures = "".join(
        image(draw(name, run, model), describe(name, run)) for name, run in list(runs.items())[:MOST_PICTURES]
    )
    text = "\n".join([columns(rows, HEADINGS, right=range(1, len(HEADINGS))), *notes])
    return table(rows, HEADINGS) + f"<div>{pictures}</div>" + items(notes), text


_NOTHING = "No access can be followed through a cache: no instance is drawn, or no array has a known shape."


def _runs(model: InspectorModel, shape: CacheShape) -> dict[str, Run]:
    """A run per schedule; none where nothing is touched."""
    found = {variant["name"]: simulate(model, variant, shape) for variant in model["variants"]}
    return {name: run for name, run in found.items() if run.touches}


def _totals(name: str, run: Run) -> tuple[str, ...]:
    hits, again = run.count("hit"), run.count("again")
    total = len(run.touches)
    return name, str(total), str(hits), str(total - hits), str(again), str(run.written_back), size_text(run.moved)


def _notes(model: InspectorModel, runs: dict[str, Run], shape: CacheShape) -> list[str]:
    values = {one["name"]: one["value"] for one in model["parameters"]}
    sizes = f" for {values_text(values)}" if values else ""
    notes = [
        f"Exact{sizes}, one access after the other, with an empty cache of {shape} at first.",
        "Moved: a line for every miss, and one for every changed line that goes back to memory.",
    ]
    unknown, perhaps = unknown_accesses(model), unknown_accesses(model, conditional=True)
    clipped = list(dict.fromkeys(note for statement in model["statements"] for note in statement["notes"]))
    notes += [f"Only a part of all instances is drawn and counted: {', '.join(clipped)}."] if clipped else []
    if any(len(run.touches) >= MOST_TOUCHES for run in runs.values()):
        notes.append(f"Only the first {MOST_TOUCHES:,} accesses are simulated.")
    notes += [f"Left out, since their cells are not known exactly: {', '.join(unknown)}."] if unknown else []
    notes += [f"Left out, since only the data decide whether they happen: {', '.join(perhaps)}."] if perhaps else []
    left_out = len(runs) - MOST_PICTURES
    notes += [f"{left_out} more schedules are in the table only."] if left_out > 0 else []
    return notes


def describe(name: str, run: Run) -> str:
    """The picture in words."""
    told = f"{_told(run)}, of these {run.count('again')} to lines that were there before"
    return f"Order of the accesses under {name} in a cache of {run.shape}: {told}"


def _told(run: Run) -> str:
    """How many accesses there are, and how many of them find their line."""
    total, hits = len(run.touches), run.count("hit")
    return f"{plural(total, 'access', 'accesses')}, {plural(hits, 'hit')}, {plural(total - hits, 'miss', 'misses')}"


def draw(name: str, run: Run, model: InspectorModel) -> str:
    """The picture as SVG text: time to the right, a band per array with its first byte on top."""
    regions = regions_of(model)
    drawn = min(len(run.touches), MOST_DRAWN)
    bottom = _TOP + len(regions) * (_BAND + _GAP)
    canvas = Canvas(_WIDTH, bottom + _STRIP + 66, describe(name, run))
    canvas.text(16, 24, clip_text(f"{name}: order of the accesses", 60), size=15, bold=True)
    canvas.text(16, 42, f"{_told(run)}, {size_text(run.moved)} moved", size=11.5, colour=MUTED)
    for number, region in enumerate(regions):
        _band(canvas, region, run, drawn, _TOP + number * (_BAND + _GAP))
    _strip(canvas, run, bottom)
    _legend(canvas, bottom + _STRIP + 34)
    note = f"; the first {drawn} accesses above" if drawn < len(run.touches) else ""
    canvas.text(
        _LEFT,
        bottom + _STRIP + 56,
        f"below: share of misses along the whole order{note}",
        size=11,
        colour=MUTED,
    )
    return canvas.render()


def _band(canvas: Canvas, region: Region, run: Run, drawn: int, top: float) -> None:
    """The accesses to one array."""
    extents = ", ".join(map(str, region.array["extents"] or ()))
    canvas.rectangle(_LEFT, top, _WIDTH - _LEFT - 16, _BAND, fill="#ffffff", stroke=FAINT)
    canvas.text(16, top + 14, clip_middle(region.array["name"], 6), size=12, mono=True, bold=True)
    canvas.text(16, top + 30, clip_text(f"[{extents}]", 9), size=9.5, colour=MUTED)
    width, inside = _WIDTH - _LEFT - 24, _BAND - 10
    groups: dict[Outcome, list[tuple[float, float]]] = {"hit": [], "first": [], "again": []}
    for number, touch in enumerate(run.touches[:drawn]):
        if region.base <= touch.place < region.base + region.size:
            x = _LEFT + 4 + (number + 0.5) / drawn * width
            groups[touch.outcome].append((x, top + 5 + (touch.place - region.base) / region.size * inside))
    canvas.dots(groups["hit"], 1.5, BLUE)
    canvas.raw_path("".join(_square(*point) for point in groups["first"]), fill=ORANGE)
    canvas.raw_path("".join(_cross(*point) for point in groups["again"]), stroke=PURPLE, width=1.6)


def _square(x: float, y: float) -> str:
    return f"M{x - 2.2:.1f} {y - 2.2:.1f}h4.4v4.4h-4.4z"


def _cross(x: float, y: float) -> str:
    return f"M{x - 2.4:.1f} {y - 2.4:.1f}l4.8 4.8m0-4.8l-4.8 4.8"


def _strip(canvas: Canvas, run: Run, top: float) -> None:
    """The share of misses in each stretch of the order, as bars on one scale from nothing to all."""
    stretches = [one for one in shares(run, min(_PARTS, len(run.touches))) if one[0]]
    width = (_WIDTH - _LEFT - 24) / len(stretches)
    canvas.text(16, top + 12, "misses", size=10.5, colour=MUTED)
    canvas.text(_LEFT - 6, top + 22, "100 %", size=9, anchor="end", colour=MUTED)
    canvas.path([(_LEFT + 4, top + _STRIP), (_WIDTH - 20, top + _STRIP)], stroke=INK, width=0.8)
    for number, (total, missed) in enumerate(stretches):
        height = missed / total * (_STRIP - 4)
        if height:
            x = _LEFT + 4 + number * width
            canvas.rectangle(x, top + _STRIP - height, max(width - 1, 0.6), height, fill=ORANGE)


def _legend(canvas: Canvas, y: float) -> None:
    places: Sequence[float] = (_LEFT + 6, _LEFT + 70, _LEFT + 230)
    for x, (outcome, (colour, words)) in zip(places, _MARKS.items(), strict=True):
        if outcome == "hit":
            canvas.dots([(x, y - 4)], 2.2, colour)
        elif outcome == "first":
            canvas.raw_path(_square(x, y - 4), fill=colour)
        else:
            canvas.raw_path(_cross(x, y - 4), stroke=colour, width=1.6)
        canvas.text(x + 9, y, words, size=11)
