"""The best row among those that are independent of the rows already found, by optimistic search.

Independence is not linear: the program is solved without it, and only where a node got a dependent row the search
branches on which vector of the complement shall not vanish, and on its sign (Verdoolaege and Janssens, *Scheduling for
PPCG*, 2017, section 4.3). A branch whose objectives cannot beat the best row so far is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyviz.scheduling.program import SolveLimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.scheduling.farkas import Matrix
    from polyviz.scheduling.solver import Accept, LexicographicSolver, Solution


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """At least one of ``combinations`` (constraint rows without constant) must not be zero."""

    combinations: tuple[Matrix, ...]

    def holds(self, values: Matrix) -> bool:
        """Whether ``values`` satisfies the requirement."""
        return any(combination[1:] @ values != 0 for combination in self.combinations)

    def branches(self) -> list[Matrix]:
        """Disjoint ways to satisfy it, the preferred ones first: constraint rows."""
        found = []
        zero: list[Matrix] = []
        for combination in self.combinations:
            for sign in (1, -1):
                row = sign * combination
                row[0] = -1
                found.append(np.array([*zero, row]))
            zero += [combination, -combination]
        return found


def best_solution(
    solver: LexicographicSolver,
    requirements: Sequence[Requirement],
    ideal: Sequence[int] = (),
    given: Matrix | None = None,
) -> tuple[Solution | None, bool]:
    """The best solution that meets all ``requirements`` and the constraints ``given``; whether the search was complete.

    Among equal objectives the branch that was tried first wins. Objectives known to be the best possible (``ideal``)
    end the search. When the budget of the solver runs out, the best solution so far is returned; raises
    ``SolveLimitError`` when there is none.
    """
    best: Solution | None = None
    pending = [np.zeros((0, solver.program.size + 1), dtype=np.int64) if given is None else given]
    while pending:
        constraints = pending.pop()
        try:
            solution = solver.minimum(constraints, _better_than(best))
        except SolveLimitError:
            if best is None:
                raise
            return best, False
        if solution is None or (best is not None and solution.objectives >= best.objectives):
            continue
        missing = next((need for need in requirements if not need.holds(solution.values)), None)
        if missing is None:
            best = solution
            if solution.objectives == tuple(ideal):
                break
            continue
        pending += [np.vstack([constraints, branch]) for branch in reversed(missing.branches())]
    return best, True


def _better_than(best: Solution | None) -> Accept | None:
    if best is None:
        return None
    goal = best.objectives
    return lambda objectives: (
        objectives < goal or (len(objectives) < len(goal) and objectives == goal[: len(objectives)])
    )
