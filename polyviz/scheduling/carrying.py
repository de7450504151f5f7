"""The row that carries as many dependences as possible: it exists whenever any affine schedule does.

Source: Feautrier, *Some efficient solutions to the affine scheduling problem, part II* (1992); objectives as in
Verdoolaege and Janssens, *Scheduling for PPCG* (2017).
"""

from __future__ import annotations

from dataclasses import dataclass

from polyviz.scheduling.band_search import BandState, FoundRow, Workbench, solve_row
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.row_problem import RowProblem

OBJECTIVES = ("relations not carried", "parameter coefficients", "iterator coefficients")


@dataclass(frozen=True, slots=True)
class CarryingRows:
    """Row rule of Feautrier's scheduler."""

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        """The row that carries most validity relations; None when it carries none."""
        graph = state.graph
        edges = [piece for edge in graph.validity for piece in edge.pieces()]
        if not edges:
            return None
        problem = RowProblem(graph.nodes, workbench.cones)
        carried = problem.carry(edges)
        unknowns = problem.nodes.values()
        problem.minimise(carried, maximise=True)
        problem.minimise(*(node.parameters for node in unknowns))
        problem.minimise(*(columns for node in unknowns for columns in (node.negative, node.positive)))
        try:
            solution, complete = solve_row(problem, [], workbench)
        except SolveLimitError:
            return None
        if solution is None or solution.objectives[0] == 0:
            return None
        missed, *others = solution.objectives
        return FoundRow(
            rows={name: problem.row(name, solution.values) for name in graph.names},
            method="carrying",
            coincident=False,
            objectives=dict(zip(OBJECTIVES, (len(edges) + missed, *others), strict=True)),
            note="" if complete else "the search was stopped at its limit: a better row may exist",
        )
