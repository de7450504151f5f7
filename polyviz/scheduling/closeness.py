"""The row that keeps dependent instances close and, where it can, all instances of one value independent.

Objectives in lexicographic order: the bound of the distances (first what grows with the parameters, then the
constant), the size of parameter coefficients, the size of iterator coefficients, and for a scheduler that has weights
for the iterators the weighted sum of these, as large as possible. Source: Bondhugula et al. (2008) for the bound,
Verdoolaege and Janssens, *Scheduling for PPCG* (2017), for the sums and the relaxation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from polyviz.scheduling.choice import chosen_row
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.row_problem import RowProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.scheduling.band_search import BandState, FoundRow, Workbench

NO_PARALLEL_ROW = "a parallel row was asked for: there is none"
STOPPED_PARALLEL = "the search for a parallel row was stopped at its limit"


@dataclass(frozen=True, slots=True)
class CloseRows:
    """Row rule of the Pluto family; ``parallel_first`` asks for coincident rows until one cannot be had.

    ``weights`` holds one number per iterator of a statement: among rows that are equal in everything else, those over
    heavy iterators come first.
    """

    parallel_first: bool = True
    weights: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        """A coincident row if wanted and possible, else any legal row."""
        note = ""
        if self.parallel_first and all(state.coincident):
            try:
                found = self._close_row(state, workbench, coincident=True)
            except SolveLimitError:
                found, note = None, STOPPED_PARALLEL
            if found is not None:
                return found
            note = note or (NO_PARALLEL_ROW if state.graph.coincidence else "")
        try:
            found = self._close_row(state, workbench, coincident=False)
        except SolveLimitError:
            return None
        return found and replace(found, note="; ".join(filter(None, (found.note, note))))

    def _close_row(self, state: BandState, workbench: Workbench, *, coincident: bool) -> FoundRow | None:
        graph = state.graph
        problem = RowProblem(graph.nodes, workbench.cones)
        problem.legality(graph.validity)
        if coincident:
            problem.coincidence(graph.coincidence)
        problem.minimise_distance(graph.proximity, graph.validity)
        problem.minimise_parameters()
        problem.minimise_iterators()
        if self.weights:
            problem.prefer(self.weights)
        # With weights no value of the last objective is known to be the best possible.
        ideal = None if self.weights else (0, 0, 0)
        return chosen_row(problem, state, workbench, ideal=ideal, coincident=coincident)
