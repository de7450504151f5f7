"""The parts of which a scheduler of one's own is put together.

A scheduler gives the `Engine` two rules. A *row rule* finds the next row of a band: it states a `RowProblem`, made of
legality, coincidence and objectives in their order, and lets `chosen_row` solve it; `CloseRows` and `CarryingRows` are
rules to build on. A `FusionRule` says which components share a band. `run_engine` does the rest: components, bands, the
log, the fallbacks.
"""

from __future__ import annotations

from polyviz.scheduling.band_search import BandState, FoundRow, RowRule, Workbench
from polyviz.scheduling.carrying import CarryingRows
from polyviz.scheduling.choice import chosen_row
from polyviz.scheduling.closeness import CloseRows
from polyviz.scheduling.engine import Engine, run_engine
from polyviz.scheduling.fusion import FusionRule
from polyviz.scheduling.problem import Proposal, Scheduler, SchedulingProblem
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.registry import register_scheduler
from polyviz.scheduling.row_problem import RowProblem

__all__ = [
    "BandState",
    "CarryingRows",
    "CloseRows",
    "Engine",
    "FoundRow",
    "FusionRule",
    "Proposal",
    "RowProblem",
    "RowRule",
    "Scheduler",
    "SchedulingProblem",
    "SolveLimitError",
    "Workbench",
    "chosen_row",
    "register_scheduler",
    "run_engine",
]
