"""A search for better options as a table: what was tried, what came of it, and why it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.words import plural
from polyviz.views.drawing import values_text
from polyviz.views.html import heading, items, paragraph, table
from polyviz.views.tables import columns, seconds

if TYPE_CHECKING:
    from polyviz.model.tuning import Trial, Tuning

HEADINGS = ("candidate", "outcome", "verified", "median", "speedup", "at", "note")
_RACES = (
    "Each candidate raced the best before it, in turns; its speedup is made of these races. Medians of different races "
    "tell less: other work on the machine moves them."
)
_MARKS = {True: "✓", False: "✗", None: "–"}


def tuning_text(tuning: Tuning) -> str:
    """Title, table and outcome for a terminal."""
    rows = [_cells(trial, tuning) for trial in tuning.trials]
    listed = [columns(rows, HEADINGS, right=[3, 4, 5])] if rows else []
    return "\n".join([title(tuning), *listed, *_sentences(tuning)])


def tuning_html(tuning: Tuning) -> str:
    """The same as HTML."""
    rows = [_cells(trial, tuning) for trial in tuning.trials]
    return (
        heading(title(tuning))
        + paragraph(outcome(tuning))
        + table(rows, HEADINGS)
        + items(_sentences(tuning)[1:])
    )


def title(tuning: Tuning) -> str:
    """What was searched, for which sizes, how long and how."""
    sizes = f" for {values_text(tuning.sizes)}" if tuning.sizes else ""
    tried = plural(len(tuning.trials), "candidate")
    variant = f"{tuning.schedule}/{tuning.target}"
    return f"Tuning of {tuning.name}, {variant}{sizes}: {tried} in {tuning.elapsed:.1f} s, strategy {tuning.strategy}"


def outcome(tuning: Tuning) -> str:
    """What the search found, and why it ended."""
    best = tuning.best
    if best is None:
        return f"Nothing was measured: {tuning.ended}."
    if not best.options:
        return f"The defaults are the best of what was tried; the search ended because {tuning.ended}."
    return f"Best: {best.name}, {tuning.speedup:.2f}x the defaults; the search ended because {tuning.ended}."


def _sentences(tuning: Tuning) -> list[str]:
    kept = [f"Remembered for later compilations in {tuning.remembered}."] if tuning.remembered else []
    races = sum(trial.seconds is not None for trial in tuning.trials)
    told = [_RACES] if races > 1 else []
    return [outcome(tuning), *told, *kept, *tuning.notes]


def _cells(trial: Trial, tuning: Tuning) -> list[str]:
    star = " ★" if trial is tuning.best else ""
    return [
        f"{trial.name}{star}",
        trial.status,
        _MARKS[trial.verified],
        "–" if trial.seconds is None else seconds(trial.seconds),
        "–" if trial.speedup is None else f"{trial.speedup:.2f}x",
        f"{trial.elapsed:.1f} s",
        trial.note,
    ]
