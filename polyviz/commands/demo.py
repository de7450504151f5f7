"""The main job end to end: a few kernels extracted, scheduled, verified and timed, with a report to keep."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis import parallelism
from polyviz.api import compare, targets
from polyviz.api.extracting import extract
from polyviz.commands.page import html_page
from polyviz.commands.terminal import fitted
from polyviz.errors import OptionError
from polyviz.gallery import kernel
from polyviz.model.words import plural
from polyviz.scheduling import schedule as find_schedule
from polyviz.views import text
from polyviz.views.bundles import (
    Section,
    combine,
    comparison_bundle,
    dependences_bundle,
    parallelism_bundle,
    schedule_bundle,
    scop_bundle,
)
from polyviz.views.comparison_text import comparison_text
from polyviz.views.html import heading, paragraph

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from polyviz.commands.scenes import Scene
    from polyviz.model.display import Bundle
    from polyviz.model.measurement import ComparisonData, VariantRow

SCHEDULES = ("original", "isl", "pluto")
TARGETS = ("c", "numba")
REPEATS = 6
FAULTS = ("wrong", "crashed", "failed", "timeout")


def demonstrate(output: Path, scenes: Sequence[Scene]) -> int:
    """Show the scenes and write the report to ``output``; 1 when any variant went wrong, else 0.

    Raises OptionError for a report that cannot be written.
    """
    began = time.monotonic()
    _write(output, ["<p>The demonstration is still running.</p>"])
    pages, faults = [], []
    for scene in scenes:
        print(_headline(scene), flush=True)
        data, page = _play(scene)
        pages.append(page)
        faults += [row for row in data.rows if row.status in FAULTS]
    _write(output, pages)
    print(f"Report: {output.resolve()}")
    print(f"{_conclusion(faults)} {time.monotonic() - began:.0f} s in all.")
    return 1 if faults else 0


def _headline(scene: Scene) -> str:
    title = f"{scene.name}: {kernel(scene.name).summary}"
    return f"{title}\n{'=' * len(title)}"


def _play(scene: Scene) -> tuple[ComparisonData, str]:
    """Analyse, print, compare, print; the comparison and its part of the report."""
    entry = kernel(scene.name)
    scop = extract(entry.function)
    found = find_dependences(scop)
    loops = parallelism(scop, found, scop.schedule)
    print(fitted(f"As written. {text.parallelism_text(loops)}"), flush=True)
    chosen = find_schedule(scop, SCHEDULES[-1], dependences=found)
    print(fitted(text.schedule_text(chosen)), flush=True)
    available = [name for name in TARGETS if targets()[name].available]
    comparison = compare(
        entry.function,
        *entry.arguments(scene.sizes),
        schedules=SCHEDULES,
        targets=available,
        baselines=("numba", "python") if scene.python else ("numba",),
        repeats=REPEATS,
        progress=_show,
    )
    _erase()
    print(fitted(comparison_text(comparison.data)))
    for note in _left_out(scene, available):
        print(fitted(f"  - {note}"))
    print(flush=True)
    sections = [
        Section("Comparison", comparison_bundle(comparison.data), open=True),
        Section("Loops as written", parallelism_bundle(loops), open=True),
        Section("Source and domains", scop_bundle(scop, found), open=True),
        Section("Dependences", dependences_bundle(found, scop, drawn=False)),
        Section(f"Schedule by {chosen.scheduler}", schedule_bundle(chosen)),
    ]
    return comparison.data, _section_html(scene, combine(entry.summary, sections), _left_out(scene, available))


def _left_out(scene: Scene, available: Sequence[str]) -> list[str]:
    """What the table does not hold, and why."""
    notes = [f"target {name} left out: {targets()[name].reason}" for name in TARGETS if name not in available]
    if not scene.python:
        notes.append("plain Python left out: at this size one run would take more than half a minute")
    return notes


def _section_html(scene: Scene, shown: Bundle, notes: Sequence[str]) -> str:
    return heading(scene.name) + str(shown["text/html"]) + "".join(paragraph(note) for note in notes)


def _write(output: Path, parts: Sequence[str]) -> None:
    try:
        output.write_text(html_page("polyviz demo", "\n<hr>\n".join(parts)), encoding="utf-8")
    except OSError as error:
        raise OptionError(f"The report cannot be written to {output}: {error.strerror}.") from None


def _conclusion(faults: Sequence[VariantRow]) -> str:
    if not faults:
        return "Every variant agreed with the loop as written."
    return f"{plural(len(faults), 'variant')} went wrong: {', '.join(row.label for row in faults)}."


def _show(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{stage} ({done + 1}/{total})".ljust(60), end="", file=sys.stderr, flush=True)


def _erase() -> None:
    if sys.stderr.isatty():
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)
