"""The last step of a row rule: solve the row problem, and tell what was found and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.scheduling.band_search import FoundRow, requirements, solve_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.scheduling.band_search import BandState, Workbench
    from polyviz.scheduling.graph import DependenceGraph
    from polyviz.scheduling.row_problem import RowProblem
    from polyviz.scheduling.rows import AffineRow

STOPPED = "the search was stopped at its limit: a better row may exist"


def chosen_row(
    problem: RowProblem,
    state: BandState,
    workbench: Workbench,
    *,
    ideal: Sequence[int] | None = None,
    coincident: bool = False,
) -> FoundRow | None:
    """The best row of ``problem`` that is independent of those found so far; None when there is none.

    ``ideal`` holds the smallest values that the objectives before the coefficients of iterators could have: a row that
    reaches them ends the search. ``coincident`` says that the problem allows parallel rows only: that is not looked at
    again. Raises ``SolveLimitError`` when no row was found within the limits of ``workbench``.
    """
    graph = state.graph
    needed = requirements(problem, graph)
    solution, complete = solve_row(problem, needed, workbench, () if ideal is None else (*ideal, len(needed)))
    if solution is None:
        return None
    rows = {name: problem.row(name, solution.values) for name in graph.names}
    return FoundRow(
        rows=rows,
        method="close",
        coincident=coincident or is_coincident(graph, rows),
        objectives=dict(zip(problem.objectives, solution.objectives, strict=True)),
        note="" if complete else STOPPED,
    )


def is_coincident(graph: DependenceGraph, rows: Mapping[str, AffineRow]) -> bool:
    """Whether ``rows`` leave every coincidence relation of ``graph`` at one value."""
    alone = {name: (row,) for name, row in rows.items()}
    return not any(edge.is_separated(alone) for edge in graph.coincidence)
