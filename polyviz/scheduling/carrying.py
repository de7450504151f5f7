"""The row that carries as many dependences as possible: it exists whenever any affine schedule does.

Source: Feautrier, *Some efficient solutions to the affine scheduling problem, part II* (1992); objectives as in
Verdoolaege and Janssens, *Scheduling for PPCG* (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.scheduling.band_search import BandState, FoundRow, Workbench, solve_row
from polyviz.scheduling.choice import STOPPED
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.row_problem import RowProblem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.scheduling.graph import DependenceGraph, Edge


@dataclass(frozen=True, slots=True)
class CarryingRows:
    """Row rule of Feautrier's scheduler.

    ``own_first`` counts only relations within one statement, as isl does, and all of them where that carries none: the
    row then does not space statements out to carry what their order carries anyway.
    """

    own_first: bool = False

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        """The row that carries most validity relations; None when it carries none."""
        validity = state.graph.validity
        own = [edge for edge in validity if edge.source == edge.sink]
        if self.own_first and own:
            between = [edge for edge in validity if edge.source != edge.sink]
            found = _row(state.graph, own, between, workbench)
            if found is not None:
                return found
        return _row(state.graph, validity, (), workbench)


def _row(
    graph: DependenceGraph, counted: Iterable[Edge], others: Iterable[Edge], workbench: Workbench
) -> FoundRow | None:
    """The row that respects all relations and carries most of those ``counted``; None when it carries none."""
    edges = [piece for edge in counted for piece in edge.pieces()]
    if not edges:
        return None
    problem = RowProblem(graph.nodes, workbench.cones)
    problem.legality(others)
    carried = problem.carry(edges)
    problem.minimise("relations not carried", carried, maximise=True)
    problem.minimise_parameters()
    problem.minimise_iterators()
    try:
        solution, complete = solve_row(problem, [], workbench)
    except SolveLimitError:
        return None
    if solution is None or solution.objectives[0] == 0:
        return None
    missed, *values = solution.objectives
    return FoundRow(
        rows={name: problem.row(name, solution.values) for name in graph.names},
        method="carrying",
        coincident=False,
        objectives=dict(zip(problem.objectives, (len(edges) + missed, *values), strict=True)),
        note="" if complete else STOPPED,
    )
