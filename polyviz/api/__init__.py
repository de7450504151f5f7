"""The public functions that put the rooms together: compile, compare, tune, optimize, inspect, targets."""

from __future__ import annotations

from polyviz.api.ablation import ablation
from polyviz.api.comparing import Comparison, compare
from polyviz.api.compiling import compile, optimize
from polyviz.api.editing import edit, replay, steps
from polyviz.api.extracting import extract
from polyviz.api.inspecting import Inspector, inspect
from polyviz.api.shown import register
from polyviz.api.targets import Availability, targets
from polyviz.api.tuning import tune
from polyviz.model.techniques import techniques
from polyviz.model.tuning import Tuning

__all__ = [
    "Availability",
    "Comparison",
    "Inspector",
    "Tuning",
    "ablation",
    "compare",
    "compile",
    "edit",
    "extract",
    "inspect",
    "optimize",
    "replay",
    "steps",
    "targets",
    "techniques",
    "tune",
]

register()
