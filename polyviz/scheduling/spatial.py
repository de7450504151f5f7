"""Spatial: rows that leave unit strides to the innermost loop of a processor, or to the threads of a GPU."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from polyviz.analysis import find_reuse
from polyviz.model.schedule import Decision
from polyviz.scheduling.band_search import missing_rows
from polyviz.scheduling.carrying import CarryingRows
from polyviz.scheduling.closeness import CloseRows
from polyviz.scheduling.engine import Engine, run_engine
from polyviz.scheduling.fusion import FusionRule
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.reuse import groups_of, pressure
from polyviz.scheduling.reuse_rows import few_row, many_row
from polyviz.transform.rows import positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.scheduling.band_search import BandState, FoundRow, Workbench
    from polyviz.scheduling.problem import Proposal, SchedulingProblem


@dataclass(frozen=True, slots=True)
class Spatial:
    """Reuse of cache lines beside reuse of cells: unit stride innermost, or across the threads of a GPU.

    Source: Reddy, *Polyhedral Compilation for Domain Specific Languages* (2019), section 5. ``target`` is what the
    schedule is for; ``line`` the length of a cache line in elements. On a ``cpu``, a component without a parallel
    outer row whose ``pressure`` on registers is above ``pressure_limit`` gets a row that carries all it can, and the
    two innermost loops need not be parallel where ``relax_inner`` is set.
    """

    name: ClassVar[str] = "spatial"
    keeps_groups: ClassVar[bool] = True
    target: Literal["cpu", "gpu"] = "cpu"
    line: int = 8
    pressure_limit: int = 28
    relax_inner: bool = True

    def __post_init__(self) -> None:
        positive("Option `line` of scheduler `spatial`", self.line)
        positive("Option `pressure_limit` of scheduler `spatial`", self.pressure_limit, least=0)

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Schedule ``problem``; keeps the order of the source, and says so, when no affine schedule is found."""
        reuse = find_reuse(problem.scop, problem.dependences, line=self.line)
        engine = self._engine()
        engine.reuse = groups_of(reuse)
        engine.decisions += [Decision("reuse", note) for note in reuse.notes]
        return run_engine(engine, problem)

    def _engine(self) -> Engine:
        if self.target == "gpu":
            return Engine(CoalescedRows(), FusionRule("smart", CoalescedRows(alone=False), mixed_depths=True))
        rule = UnitStrideRows(self.pressure_limit, relax_inner=self.relax_inner)
        between = FusionRule("smart", replace(rule, alone=False), mixed_depths=True, parallel_rows=1)
        return Engine(rule, between)


@dataclass(frozen=True, slots=True)
class UnitStrideRows:
    """Row rule for processors: one parallel row, outermost, and lines along the innermost one.

    ``alone`` tells a component from clusters that are to be merged: these keep a parallel row where they have one, and
    no row of theirs carries all it can.
    """

    pressure_limit: int
    relax_inner: bool = True
    alone: bool = True

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        """The next row; None where the band ends."""
        if state.found and state.found[-1].method == "carrying":
            return None
        relaxed = self._needs_no_parallel_row(state)
        if relaxed:
            return _any_row(state, workbench, relaxed)
        found, failure = _reusing(state, workbench, coincident=True)
        if found is not None:
            return found
        if not self.alone:
            lost = any(node.parallel for node in state.graph.nodes)
            return None if lost else _any_row(state, workbench, failure)
        crowded = pressure(state.graph.reuse)
        if crowded > self.pressure_limit:
            limit = f"the pressure on registers, {crowded}, is above {self.pressure_limit}"
            return _carrying(state, workbench, f"{failure} and {limit}")
        room = f"the pressure on registers, {crowded}, stays within {self.pressure_limit}"
        wavefront = "the band goes on and its tiles run along wavefronts"
        return _any_row(state, workbench, f"{failure} and {room}: {wavefront}")

    def _needs_no_parallel_row(self, state: BandState) -> str:
        """Why the next row may carry dependences; empty when a parallel one is wanted first."""
        around = (*state.graph.around, *state.found)
        if any(row.coincident for row in around):
            return "coincidence is not asked for: one parallel row is enough"
        if state.found:
            return "coincidence is not asked for: the first row of the band is not parallel either"
        if self.relax_inner and self.alone and around and missing_rows(state.graph) <= 2:
            return "coincidence is not asked for: so far inside, starting threads costs more than it gains"
        return ""


@dataclass(frozen=True, slots=True)
class CoalescedRows:
    """Row rule for GPUs: the outermost parallel row runs along lines, the others are those of isl."""

    alone: bool = True

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        """The next row; None where the band ends."""
        if state.found and state.found[-1].method == "carrying":
            return None
        regular = CloseRows()
        if any(row.method != "carrying" for row in (*state.graph.around, *state.found)):
            return regular.next_row(state, workbench)
        found, failure = _attempt(many_row, state, workbench, coincident=True)
        if found is None and self.alone:
            return _carrying(
                state, workbench, f"{failure}; what is carried outside leaves parallel rows inside"
            )
        if found is not None and found.reuse is not None and found.reuse.spatial:
            return found
        close = regular.next_row(state, workbench)
        along = "no parallel row runs along lines"
        return close and replace(close, note="; ".join(filter(None, (close.note, along))))


def _reusing(state: BandState, workbench: Workbench, *, coincident: bool) -> tuple[FoundRow | None, str]:
    """A row, or why there is no parallel one: few groups give way to every row but the last one, which serves many."""
    find = many_row if missing_rows(state.graph) == 1 else few_row
    return _attempt(find, state, workbench, coincident=coincident)


def _attempt(
    find: Callable[..., FoundRow | None], state: BandState, workbench: Workbench, *, coincident: bool
) -> tuple[FoundRow | None, str]:
    try:
        return find(state, workbench, coincident=coincident), "no parallel row exists"
    except SolveLimitError:
        return None, "the search for a parallel row was stopped at its limit"


def _any_row(state: BandState, workbench: Workbench, relaxed: str) -> FoundRow | None:
    """A row that need not be parallel, for the reason ``relaxed``."""
    found, _ = _reusing(state, workbench, coincident=False)
    if found is None or found.reuse is None:
        return found
    return replace(found, reuse=replace(found.reuse, relaxed=relaxed))


def _carrying(state: BandState, workbench: Workbench, reason: str) -> FoundRow | None:
    found = CarryingRows(own_first=True).next_row(state, workbench)
    return found and replace(found, fallback=reason)
