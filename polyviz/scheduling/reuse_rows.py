"""Rows that spread the reuse of cells and cache lines over the loops: few groups give way outside, many inside.

Groups of references are served by *rank*, the number of subscripts that the rows so far leave open, then by
*multiplicity*, the number of references. Source: Reddy, *Polyhedral Compilation for Domain Specific Languages* (2019),
section 5, the programs (5.1) and (5.2); the second one without the defect that it forbids negative distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from polyviz.scheduling.band_search import FoundRow, RowSearch, every_node, requirements, solve_row
from polyviz.scheduling.choice import STOPPED, is_coincident
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.row_problem import RowProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.scheduling.band_search import BandState, Workbench
    from polyviz.scheduling.farkas import Matrix
    from polyviz.scheduling.graph import DependenceGraph
    from polyviz.scheduling.reuse import ReuseGroup
    from polyviz.scheduling.rows import AffineRow
    from polyviz.scheduling.search import Requirement
    from polyviz.scheduling.solver import Solution

# Sets of groups that one row is asked to carry together; with more, smaller sets are not tried.
MOST_SETS = 40


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """A group of references and what decides about its place in the order."""

    label: str
    rank: int
    multiplicity: int


@dataclass(frozen=True, slots=True)
class RowReuse:
    """How the reuse of cells and lines led to a row.

    ``aim``: to carry few groups, so that they stay for later rows, or many. ``order`` holds the groups, the most
    precious first; ``lines`` those whose lines the row runs along; ``lost`` the reuse that no later row can serve.
    ``relaxed`` says why the row did not have to be parallel, or is empty.
    """

    aim: Literal["few", "many"]
    order: tuple[RankedGroup, ...]
    lines: tuple[str, ...]
    lost: tuple[str, ...]
    relaxed: str = ""

    @property
    def spatial(self) -> bool:
        """Whether the row was chosen to run along lines: neighbouring values touch neighbouring cells."""
        return bool(self.lines)


def few_row(state: BandState, workbench: Workbench, *, coincident: bool) -> FoundRow | None:
    """The row that keeps reuse at distance zero, group by group; temporal before spatial reuse of the same group."""
    graph = state.graph
    if coincident and not _is_possible(graph, workbench):
        return None
    problem = _problem(graph, workbench, coincident=coincident)
    ranked = _ranked(graph)
    for group, _ in ranked:
        for kind, edges in (("temporal", group.temporal), ("spatial", group.spatial)):
            if edges:
                problem.minimise_distance(edges, graph.validity, f"{kind} {group.label}")
    problem.minimise_parameters()
    needed = requirements(problem, graph)
    ideal = (*(0 for _ in problem.objectives), len(needed))
    problem.minimise_iterators()
    solution, complete = solve_row(problem, needed, workbench, ideal)
    if solution is None:
        return None
    objectives = dict(zip(problem.objectives, solution.objectives, strict=True))
    found = _Found(graph, problem, solution, objectives)
    return found.row("few", [placed for _, placed in ranked], (), complete=complete, coincident=coincident)


def many_row(state: BandState, workbench: Workbench, *, coincident: bool) -> FoundRow | None:
    """The row with the smallest coefficients that runs along the lines of most groups.

    Every statement gets a row that is not zero, also one whose loops are all scheduled: the row of zeros would have
    the smallest coefficients.
    """
    graph = state.graph
    problem = _problem(graph, workbench, coincident=coincident)
    problem.minimise_iterators()
    problem.minimise_parameters()
    needed = every_node(problem, graph)
    search = RowSearch(problem, workbench)
    smallest, complete = search.best(needed, (len(needed), 0))
    if smallest is None:
        return None
    ranked = _ranked(graph)
    carrying = {group.label: problem.carrying(group.spatial) for group, _ in ranked if group.spatial}
    solution, lines, all_tried = _Carrier(search, needed, smallest, carrying).most()
    coefficients, shifts = solution.objectives
    objectives = {
        "iterator coefficients": coefficients,
        "groups whose lines are not carried": len(carrying) - len(lines),
        "parameter coefficients": shifts,
    }
    found = _Found(graph, problem, solution, objectives)
    order = [placed for _, placed in ranked]
    return found.row("many", order, lines, complete=complete and all_tried, coincident=coincident)


@dataclass(frozen=True, slots=True)
class _Carrier:
    """Looks for rows no larger than ``smallest`` that carry groups: ``carrying`` holds the constraints of each."""

    search: RowSearch
    needed: list[Requirement]
    smallest: Solution
    carrying: Mapping[str, Matrix]

    def most(self) -> tuple[Solution, tuple[str, ...], bool]:
        """The row that carries the largest set of groups, the set, and whether every larger one was tried."""
        alone = {group: self._carry((group,)) for group in self.carrying}
        possible = [group for group in self.carrying if alone[group] is not None]
        for chosen in islice(_subsets(possible), MOST_SETS):
            solution = self._carry(chosen)
            if solution is not None:
                return solution, chosen, True
        first = alone[possible[0]] if possible else None
        return (self.smallest, (), True) if first is None else (first, (possible[0],), False)

    def _carry(self, groups: Sequence[str]) -> Solution | None:
        """The best row that carries all ``groups``; None when there is none, or none was found within the limit."""
        constraints = np.vstack([self.carrying[group] for group in groups])
        if self.search.program.admits(self.smallest.values, constraints):
            return self.smallest
        size = self.smallest.objectives[0]
        limit = np.concatenate(([size], -self.search.program.objectives[0]))
        try:
            return self.search.best(self.needed, (size, 0), np.vstack([limit, constraints]))[0]
        except SolveLimitError:
            return None


@dataclass(frozen=True, slots=True)
class _Found:
    """A solution that becomes a row with its account."""

    graph: DependenceGraph
    problem: RowProblem
    solution: Solution
    objectives: Mapping[str, int]

    def row(
        self,
        aim: Literal["few", "many"],
        order: Sequence[RankedGroup],
        lines: tuple[str, ...],
        *,
        complete: bool,
        coincident: bool,
    ) -> FoundRow:
        rows = {name: self.problem.row(name, self.solution.values) for name in self.graph.names}
        return FoundRow(
            rows=rows,
            method="close",
            coincident=coincident or is_coincident(self.graph, rows),
            objectives=self.objectives,
            note="" if complete else STOPPED,
            reuse=RowReuse(aim, tuple(order), lines, tuple(_lost(self.graph, rows))),
        )


def _problem(graph: DependenceGraph, workbench: Workbench, *, coincident: bool) -> RowProblem:
    problem = RowProblem(graph.nodes, workbench.cones)
    problem.legality(graph.validity)
    if coincident:
        problem.coincidence(graph.coincidence)
    return problem


def _is_possible(graph: DependenceGraph, workbench: Workbench) -> bool:
    """Whether there is a coincident row at all: without bounds this is found out quickly."""
    problem = _problem(graph, workbench, coincident=True)
    return solve_row(problem, requirements(problem, graph), workbench)[0] is not None


def _ranked(graph: DependenceGraph) -> list[tuple[ReuseGroup, RankedGroup]]:
    """The groups that still have reuse to serve, the most precious first."""
    rows = {node.name: node.rows for node in graph.nodes}
    left = [group for group in graph.reuse if group.temporal or group.spatial]
    ranked = [(group, RankedGroup(group.label, group.rank(rows), group.multiplicity)) for group in left]
    return sorted(ranked, key=lambda pair: (-pair[1].rank, -pair[1].multiplicity))


def _subsets(groups: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The larger ones first, among equals those of the more precious groups."""
    for size in range(len(groups), 0, -1):
        yield from combinations(groups, size)


def _lost(graph: DependenceGraph, rows: Mapping[str, AffineRow]) -> Iterator[str]:
    """The reuse, in part or whole, that the new row separates."""
    alone = {name: (row,) for name, row in rows.items()}
    for group in graph.reuse:
        kept = group.kept(alone)
        for kind, before, after in (
            ("temporal", group.temporal, kept.temporal),
            ("spatial", group.spatial, kept.spatial),
        ):
            if len(after) < len(before):
                yield f"{kind} {group.label}" + (" in part" if after else "")
