"""Editing schedules by hand: places by name, moves as a history, scripts, differences, and steps from the original."""

from __future__ import annotations

from polyviz.editing.differences import Difference, difference
from polyviz.editing.edit import Edit, Step, start_edit
from polyviz.editing.menu import Choice
from polyviz.editing.script import replay_lines
from polyviz.editing.steps import Steps, recover_steps

__all__ = [
    "Choice",
    "Difference",
    "Edit",
    "Step",
    "Steps",
    "difference",
    "recover_steps",
    "replay_lines",
    "start_edit",
]
