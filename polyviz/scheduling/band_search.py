"""Bands: row after row until every iterator is used or no row is found that respects all relations of the band."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from polyviz.scheduling.farkas import ConeTable
from polyviz.scheduling.independence import complement, iterator_rows, rank, spread
from polyviz.scheduling.program import StepBudget
from polyviz.scheduling.search import Requirement, best_solution
from polyviz.scheduling.solver import LexicographicSolver, Solution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.scheduling.farkas import Matrix
    from polyviz.scheduling.graph import DependenceGraph, Node
    from polyviz.scheduling.reuse_rows import RowReuse
    from polyviz.scheduling.row_problem import RowProblem
    from polyviz.scheduling.rows import AffineRow

# Steps for the search of one row, and for all rows of a program; ordinary loop nests need some hundreds in all.
ROW_STEPS = 3_000
STEPS = 12_000


@dataclass(slots=True)
class Workbench:
    """What all row problems of one run share."""

    cones: ConeTable = field(default_factory=ConeTable)
    budget: StepBudget = field(default_factory=lambda: StepBudget(STEPS))

    @contextmanager
    def half(self) -> Iterator[Workbench]:
        """The same cones with half of the steps that are left: for a search that others come after."""
        given = self.budget.remaining // 2
        part = Workbench(self.cones, StepBudget(given))
        yield part
        self.budget.remaining -= given - part.budget.remaining


@dataclass(frozen=True, slots=True)
class FoundRow:
    """One row for every node and how it came about.

    ``method`` tells a row that keeps dependent instances close from one that carries as many relations as possible.
    ``coincident``: no coincidence relation is carried. ``objectives`` holds the minimised values by name; ``note`` says
    what was relaxed, or is empty; ``fallback`` why a row that carries as much as possible stands in for a close one.
    ``reuse`` is there when the row was chosen for the reuse of lines.
    """

    rows: Mapping[str, AffineRow]
    method: Literal["close", "carrying"]
    coincident: bool
    objectives: Mapping[str, int]
    note: str = ""
    fallback: str = ""
    reuse: RowReuse | None = None


@dataclass(frozen=True, slots=True)
class BandState:
    """A band under construction: ``graph`` with the rows in its nodes, the rows of this band in ``found``; ``sparse``
    is the row that was left out at its end, since it reaches only some of its whole values."""

    graph: DependenceGraph
    found: tuple[FoundRow, ...] = ()
    sparse: FoundRow | None = None

    @property
    def coincident(self) -> tuple[bool, ...]:
        """Which rows of the band carry no coincidence relation."""
        return tuple(row.coincident for row in self.found)

    def rows(self, name: str) -> tuple[AffineRow, ...]:
        """The rows of node ``name`` in this band."""
        return tuple(found.rows[name] for found in self.found)

    def extended(self, found: FoundRow) -> BandState:
        """The band with one row more."""
        nodes = tuple(replace(node, rows=(*node.rows, found.rows[node.name])) for node in self.graph.nodes)
        rows = {name: (row,) for name, row in found.rows.items()}
        reuse = tuple(group.kept(rows) for group in self.graph.reuse)
        return BandState(replace(self.graph, nodes=nodes, reuse=reuse), (*self.found, found))


class RowRule(Protocol):
    """How a scheduler finds the next row of a band."""

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        """A row that respects the validity of ``state.graph`` and meets the requirements, or None."""


def find_band(graph: DependenceGraph, rule: RowRule, workbench: Workbench) -> BandState:
    """As many rows as ``rule`` finds for ``graph``; possibly none.

    Along a line, a second and last row that leaves gaps between the iterations of a statement ends the band: of steps
    along ``3t + 2i`` no several run together in vectors (``polyviz.mapping.time_steps``), and tiled they are slower
    than the loop over ``i`` as it is. Planes have rows that stay whole.
    """
    state = BandState(graph)
    while missing_rows(state.graph) > 0:
        found = rule.next_row(state, workbench)
        if found is None:
            break
        further = state.extended(found)
        is_line = len(state.found) == 1 and missing_rows(further.graph) == 0
        if is_line and _gaps(further.graph) > _gaps(state.graph):
            return replace(state, sparse=found)
        state = further
    return state


def _gaps(graph: DependenceGraph) -> int:
    """The places of the rows so far for each iteration of the statement with most of them."""
    return max(spread(iterator_rows(node.rows)) for node in graph.nodes)


def missing_rows(graph: DependenceGraph) -> int:
    """How many rows the node that needs most still needs."""
    return max((_missing(node) for node in graph.nodes), default=0)


def requirements(problem: RowProblem, graph: DependenceGraph) -> list[Requirement]:
    """Independence for the nodes that cannot wait: a shallower node may get rows that add nothing, early on."""
    most = missing_rows(graph)
    return [
        Requirement(
            tuple(
                problem.combination(node.name, vector)
                for vector in complement(iterator_rows(node.rows), node.size)
            )
        )
        for node in graph.nodes
        if _missing(node) == most > 0
    ]


def every_node(problem: RowProblem, graph: DependenceGraph) -> list[Requirement]:
    """Independence wherever a node still needs rows, and a row that is not zero for the others."""
    return [
        Requirement(
            tuple(
                problem.combination(node.name, vector)
                for vector in complement(iterator_rows(node.rows) if _missing(node) else [], node.size)
            )
        )
        for node in graph.nodes
        if node.size > 0
    ]


def solve_row(
    problem: RowProblem,
    needed: list[Requirement],
    workbench: Workbench,
    ideal: Sequence[int] = (),
    given: Matrix | None = None,
) -> tuple[Solution | None, bool]:
    """The best solution of ``problem``, and whether the search was complete; ``ideal`` objectives end it.

    ``given`` holds further constraints on the unknowns.

    Raises ``SolveLimitError`` when none was found within the limit.
    """
    return RowSearch(problem, workbench).best(needed, ideal, given)


class RowSearch:
    """Solves one row problem again and again under different constraints, from a warm start."""

    def __init__(self, problem: RowProblem, workbench: Workbench) -> None:
        self.program = problem.program()
        self._shared = workbench.budget
        self._budget = StepBudget(0)
        self._solver = LexicographicSolver(self.program, self._budget)

    def best(
        self, needed: list[Requirement], ideal: Sequence[int] = (), given: Matrix | None = None
    ) -> tuple[Solution | None, bool]:
        """As :func:`solve_row`."""
        steps = min(ROW_STEPS, self._shared.remaining)
        self._budget.remaining = steps
        try:
            return best_solution(self._solver, needed, ideal, given)
        finally:
            self._shared.remaining -= steps - self._budget.remaining


def _missing(node: Node) -> int:
    return node.size - rank(iterator_rows(node.rows))
