"""The public functions that put the rooms together: compile, compare, optimize, inspect, targets."""

from __future__ import annotations

from polyviz.api.comparing import Comparison, compare
from polyviz.api.compiling import compile, optimize
from polyviz.api.editing import edit, replay, steps
from polyviz.api.extracting import extract
from polyviz.api.inspecting import Inspector, inspect
from polyviz.api.shown import register
from polyviz.api.targets import Availability, targets

__all__ = [
    "Availability",
    "Comparison",
    "Inspector",
    "compare",
    "compile",
    "edit",
    "extract",
    "inspect",
    "optimize",
    "replay",
    "steps",
    "targets",
]

register()
