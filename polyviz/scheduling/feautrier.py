"""Feautrier: each row carries as many dependences as possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.scheduling.carrying import CarryingRows
from polyviz.scheduling.closeness import CloseRows
from polyviz.scheduling.engine import Engine, run_engine
from polyviz.scheduling.fusion import FusionRule

if TYPE_CHECKING:
    from polyviz.scheduling.band_search import BandState, FoundRow, Workbench
    from polyviz.scheduling.problem import Proposal, SchedulingProblem


@dataclass(frozen=True, slots=True)
class Feautrier:
    """Few sequential outer loops that carry as much as possible, everything inside them parallel.

    Source: Feautrier, *Some efficient solutions to the affine scheduling problem, part II: multidimensional time*
    (1992).
    """

    name: ClassVar[str] = "feautrier"
    keeps_groups: ClassVar[bool] = True

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Schedule ``problem``; keeps the order of the source, and says so, when no affine schedule is found."""
        rule = CarryFirst()
        return run_engine(Engine(rule, FusionRule("none", rule)), problem)


@dataclass(frozen=True, slots=True)
class CarryFirst:
    """Row rule: one carrying row per band while relations remain, then the free loops as one parallel band."""

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        """The next row; None after a carrying row, whose band it closes."""
        if not state.graph.validity:
            return CloseRows().next_row(state, workbench)
        return None if state.found else CarryingRows().next_row(state, workbench)
