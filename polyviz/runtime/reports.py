"""What a kernel tells of itself: what was decided and why, and what could not be done."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from polyviz.model.display import Lines
from polyviz.model.program import CONTRACTS
from polyviz.model.words import told_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint


class Report(Lines):
    """Lines under a heading, a list in a page, where lines of plain text would break within words.

    >>> Report("f: schedule pluto\\n  note: a < b")._repr_html_()
    '<p>f: schedule pluto</p><ul><li>note: a &lt; b</li></ul>'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        heading, *lines = map(escape, self.splitlines())
        return f"<p>{heading}</p><ul>{''.join(f'<li>{line.strip()}</li>' for line in lines)}</ul>"


def report_of(name: str, plan: Plan, contract: FloatingPoint, notes: Iterable[str]) -> Report:
    """The decisions that led to ``plan``, its contract and ``notes``, a line each."""
    lines = [f"{name}: schedule {plan.schedule.scheduler}, target {plan.target}"]
    decisions = (*plan.schedule.decisions, *plan.decisions)
    loops = iter(told_apart([(one.text, one.statements) for one in decisions if one.step == "loop"]))
    lines += [f"  {one.step}: {next(loops) if one.step == 'loop' else one.text}" for one in decisions]
    lines.append(f"  contract {contract}: {CONTRACTS[contract]}")
    lines += [f"  note: {note}" for note in notes]
    return Report("\n".join(lines))
