"""What a kernel tells of itself: what was decided and why, and what could not be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.display import Lines
from polyviz.model.program import CONTRACTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint


def report_of(name: str, plan: Plan, contract: FloatingPoint, notes: Iterable[str]) -> Lines:
    """The decisions that led to ``plan``, its contract and ``notes``, a line each."""
    lines = [f"{name}: schedule {plan.schedule.scheduler}, target {plan.target}"]
    lines += [f"  {one.step}: {one.text}" for one in (*plan.schedule.decisions, *plan.decisions)]
    lines.append(f"  contract {contract}: {CONTRACTS[contract]}")
    lines += [f"  note: {note}" for note in notes]
    return Lines("\n".join(lines))
