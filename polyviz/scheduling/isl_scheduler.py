"""The scheduler that comes with isl, its options exposed and its running time bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import islpy as isl

from polyviz.model.isl_limits import solved
from polyviz.model.schedule import Decision
from polyviz.scheduling.isl_process import apply_options, schedule_within
from polyviz.scheduling.problem import Proposal, SchedulingProblem

# Most loop nests need fewer basic operations than this; more are left to a process that can be stopped.
QUICK_OPERATIONS = 60_000


@dataclass(frozen=True, slots=True)
class IslScheduler:
    """The built-in scheduler of isl: bands of close and parallel rows.

    ``proximity`` and ``coincidence`` say whether these relations take part; ``outer_coincidence`` insists on a parallel
    outermost row, ``serialize`` fuses nothing, ``maximize_band_depth`` refuses a fusion that shortens a band. The
    search stops after ``time_limit`` seconds (some programs would take many minutes) and the order of the source is
    kept.
    """

    name: ClassVar[str] = "isl"
    proximity: bool = True
    coincidence: bool = True
    outer_coincidence: bool = False
    serialize: bool = False
    maximize_band_depth: bool = False
    time_limit: float = 10.0

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Let isl compute the schedule; falls back to the original order at the time limit."""
        statements = tuple(statement.name for statement in problem.scop.statements)
        constraints = self._constraints(problem)
        tree = self._quickly(constraints)
        if tree is None:
            tree = schedule_within(constraints, self._options(), self.time_limit)
        if tree is None:
            text = (
                f"isl found no schedule within {self.time_limit:g} s; the loops keep the order of the source."
            )
            return Proposal(problem.scop.schedule, (Decision("fallback", text, statements),))
        return Proposal(tree, (Decision("isl", self._sentence(), statements),))

    def _quickly(self, constraints: isl.ScheduleConstraints) -> isl.Schedule | None:
        """The schedule, when few operations are enough for it."""
        # The options of the isl scheduler belong to the whole context: they are put back afterwards.
        before = apply_options(isl.DEFAULT_CONTEXT, self._options())
        try:
            return solved(constraints.compute_schedule, QUICK_OPERATIONS)
        finally:
            apply_options(isl.DEFAULT_CONTEXT, before)

    def _options(self) -> dict[str, int]:
        return {
            "schedule_outer_coincidence": int(self.outer_coincidence),
            "schedule_serialize_sccs": int(self.serialize),
            "schedule_maximize_band_depth": int(self.maximize_band_depth),
        }

    def _constraints(self, problem: SchedulingProblem) -> isl.ScheduleConstraints:
        dependences = problem.dependences
        constraints = isl.ScheduleConstraints.on_domain(problem.domain)
        constraints = constraints.set_context(problem.scop.context).set_validity(dependences.validity)
        if self.proximity:
            constraints = constraints.set_proximity(dependences.proximity)
        if self.coincidence:
            constraints = constraints.set_coincidence(dependences.coincidence)
        return constraints

    def _sentence(self) -> str:
        wishes = [
            wish
            for wish, wanted in (
                ("dependent instances close together", self.proximity),
                ("parallel rows", self.coincidence),
                ("a parallel outermost row", self.outer_coincidence),
                ("no fusion", self.serialize),
                ("deep bands", self.maximize_band_depth),
            )
            if wanted
        ]
        return f"isl computed the order, asked for {', '.join(wishes) or 'nothing but legality'}."
