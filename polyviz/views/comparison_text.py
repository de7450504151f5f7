"""A comparison as plain text: the table, the verdict, what the machine allows, and the notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.views.drawing import values_text
from polyviz.views.roofline_chart import comparison_notes, roofline_text
from polyviz.views.tables import columns
from polyviz.views.verdict import HEADINGS, cells, verdict

if TYPE_CHECKING:
    from polyviz.model.measurement import ComparisonData


def comparison_text(data: ComparisonData) -> str:
    """The table in aligned columns, the verdict, the roofline where there is one, where it ran, and the notes."""
    sizes = f" for {values_text(data.sizes)}" if data.sizes else ""
    lines = [f"Comparison of {data.name}{sizes}"]
    if data.rows:
        lines.append(columns([cells(row, data) for row in data.rows], HEADINGS, right=[3, 4, 5]))
    lines.append(f"Verdict: {verdict(data)}.")
    lines += filter(None, [roofline_text(data)])
    if data.machine:
        lines.append(f"Machine: {data.machine}")
    return "\n".join([*lines, *(f"  - {note}" for note in comparison_notes(data))])
