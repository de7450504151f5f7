"""Editing schedules by hand: places by name, moves as a history, scripts, differences, and steps from the original."""

from __future__ import annotations

from polyviz.editing.differences import Difference, difference
from polyviz.editing.edit import Edit, Step, start_edit
from polyviz.editing.script import replay_lines

__all__ = ["Difference", "Edit", "Step", "difference", "replay_lines", "start_edit"]
