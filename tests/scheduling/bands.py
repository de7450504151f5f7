"""Schedules as lines of text for golden files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyviz.model.schedule import BandMember, Schedule


def bands_text(schedule: Schedule) -> list[str]:
    lines = []
    for band in schedule.bands:
        kind = "permutable" if band.permutable else "fixed"
        lines.append(f"{'  ' * band.depth}band of {len(band.members)}, {kind}")
        lines += [f"{'  ' * band.depth}  {_member_text(member)}" for member in band.members]
    return lines


def _member_text(member: BandMember) -> str:
    rows = ", ".join(f"{name}: {function}" for name, function in member.rows.items())
    facts = [
        fact
        for fact, holds in (
            ("parallel", member.coincident),
            ("parallel as a reduction", member.reduction_parallel),
            (member.role, member.role != "loop"),
        )
        if holds
    ]
    return f"{rows} ({', '.join(facts)})" if facts else rows
