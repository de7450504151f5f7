"""The row that keeps dependent instances close and, where it can, all instances of one value independent.

Objectives in lexicographic order: the bound of the distances (first what grows with the parameters, then the
constant), the size of parameter coefficients, the size of iterator coefficients. Source: Bondhugula et al. (2008) for
the bound, Verdoolaege and Janssens, *Scheduling for PPCG* (2017), for the sums and the relaxation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from polyviz.scheduling.band_search import BandState, FoundRow, Workbench, requirements, solve_row
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.row_problem import RowProblem

OBJECTIVES = ("bound per parameter", "bound", "parameter coefficients", "iterator coefficients")


@dataclass(frozen=True, slots=True)
class CloseRows:
    """Row rule of the Pluto family; ``parallel_first`` asks for coincident rows until one cannot be had."""

    parallel_first: bool = True

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        """A coincident row if wanted and possible, else any legal row."""
        note = ""
        if self.parallel_first and all(state.coincident):
            try:
                found = _close_row(state, workbench, coincident=True)
            except SolveLimitError:
                found, note = None, "the search for a parallel row was stopped at its limit"
            if found is not None:
                return found
        try:
            found = _close_row(state, workbench, coincident=False)
        except SolveLimitError:
            return None
        return found and replace(found, note="; ".join(filter(None, (found.note, note))))


def _close_row(state: BandState, workbench: Workbench, *, coincident: bool) -> FoundRow | None:
    graph = state.graph
    problem = RowProblem(graph.nodes, workbench.cones)
    problem.legality(graph.validity)
    if coincident:
        problem.coincidence(graph.coincidence)
    bound = problem.bound(graph.proximity, legal=graph.validity)
    unknowns = problem.nodes.values()
    problem.minimise(bound.negative, bound.positive)
    problem.minimise([bound.constant])
    problem.minimise(*(node.parameters for node in unknowns))
    problem.minimise(*(columns for node in unknowns for columns in (node.negative, node.positive)))
    needed = requirements(problem, graph)
    solution, complete = solve_row(problem, needed, workbench, ideal=(0, 0, 0, len(needed)))
    if solution is None:
        return None
    return FoundRow(
        rows={name: problem.row(name, solution.values) for name in graph.names},
        method="close",
        coincident=coincident or not graph.coincidence,
        objectives=dict(zip(OBJECTIVES, solution.objectives, strict=True)),
        note="" if complete else "the search was stopped at its limit: a better row may exist",
    )
