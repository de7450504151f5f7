"""The row that keeps dependent instances close and, where it can, all instances of one value independent.

Objectives in lexicographic order: the bound of the distances (first what grows with the parameters, then the
constant), the size of parameter coefficients, the size of iterator coefficients, and for a scheduler that has weights
for the iterators the weighted sum of these, as large as possible. Source: Bondhugula et al. (2008) for the bound,
Verdoolaege and Janssens, *Scheduling for PPCG* (2017), for the sums and the relaxation.

A sum of iterators that only brings reads of one cell together, where no dependence asks for it, is not worth what it
costs: domains that are no longer rectangular, and subscripts that move along no row of memory. There the distances of
reads count last. So it is with a longer sum among skewed rows: reads of the edge of a grid, which no step writes, would
have ``t + i + j`` after ``t + i``, where ``t + j`` leaves the elements of a row together.
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
    from polyviz.scheduling.graph import DependenceGraph, Edge
    from polyviz.scheduling.rows import AffineRow

NO_PARALLEL_ROW = "a parallel row was asked for: there is none"
NOT_SKEWED = "a skewed row would bring nothing closer but reads of one cell"
STOPPED_PARALLEL = "the search for a parallel row was stopped at its limit"

_A_LONG_SUM = 3
"""So many iterators: one that follows the steps, and one that follows a loop inside them, are what tiles need."""


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
        """The closest row; without sums of iterators, or with shorter ones, where these serve reads only."""
        found = self._closest_row(state, workbench, state.graph.proximity, coincident=coincident)
        if found is None or not any(map(_is_sum, found.rows.values())):
            return found
        is_skewed = any(_is_sum(row) for node in state.graph.nodes for row in node.rows)
        if is_skewed and max(map(_iterators, found.rows.values())) < _A_LONG_SUM:
            return found
        try:
            plain = self._closest_row(state, workbench, _ordered_pairs(state.graph), coincident=coincident)
        except SolveLimitError:
            return found
        if plain is None or plain.coincident < found.coincident or not _is_simpler(plain, found):
            return found
        return replace(plain, note="; ".join(filter(None, (plain.note, NOT_SKEWED))))

    def _closest_row(
        self, state: BandState, workbench: Workbench, close: tuple[Edge, ...], *, coincident: bool
    ) -> FoundRow | None:
        """The row with the shortest distances of ``close``; those of reads of one cell break ties."""
        graph = state.graph
        problem = RowProblem(graph.nodes, workbench.cones)
        problem.legality(graph.validity)
        if coincident:
            problem.coincidence(graph.coincidence)
        problem.minimise_distance(close, graph.validity)
        problem.minimise_parameters()
        problem.minimise_iterators()
        if self.weights:
            problem.prefer(self.weights)
        if close is not graph.proximity:
            problem.minimise_distance(graph.proximity, graph.validity, "bound of reads")
        # With more objectives no value of the last ones is known to be the best possible.
        ideal = None if self.weights or close is not graph.proximity else (0, 0, 0)
        return chosen_row(problem, state, workbench, ideal=ideal, coincident=coincident)


def _iterators(row: AffineRow) -> int:
    """How many iterators take part."""
    return sum(map(bool, row.iterators))


def _is_sum(row: AffineRow) -> bool:
    return _iterators(row) > 1


def _is_simpler(plain: FoundRow, found: FoundRow) -> bool:
    """Whether ``plain`` has no sums, or shorter ones than ``found`` for some statements and longer ones for none."""
    if not any(map(_is_sum, plain.rows.values())):
        return True
    pairs = [(_iterators(plain.rows[name]), _iterators(row)) for name, row in found.rows.items()]
    return all(mine <= other for mine, other in pairs) and any(mine < other for mine, other in pairs)


def _ordered_pairs(graph: DependenceGraph) -> tuple[Edge, ...]:
    """The pairs that should be close and that some dependence orders: all but two reads of one cell."""
    ordered = {(edge.source, edge.sink): edge.relation for edge in graph.validity}
    pairs = (
        replace(edge, relation=edge.relation.intersect(ordered[edge.source, edge.sink]), distance=None)
        for edge in graph.proximity
        if (edge.source, edge.sink) in ordered
    )
    return tuple(edge for edge in pairs if not edge.relation.is_empty())
