"""The scheduler that comes with isl, its options exposed and its running time bounded."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import islpy as isl

from polyviz.model.schedule import Decision
from polyviz.scheduling.problem import Proposal, SchedulingProblem

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class IslScheduler:
    """The built-in scheduler of isl: bands of close and parallel rows.

    ``proximity`` and ``coincidence`` say whether these relations take part; ``outer_coincidence`` insists on a parallel
    outermost row, ``serialize`` fuses nothing, ``maximize_band_depth`` refuses a fusion that shortens a band. The
    search stops after ``operation_limit`` basic operations of isl (some programs would take it many minutes) and the
    order of the source is kept.
    """

    name: ClassVar[str] = "isl"
    proximity: bool = True
    coincidence: bool = True
    outer_coincidence: bool = False
    serialize: bool = False
    maximize_band_depth: bool = False
    operation_limit: int = 60_000

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Let isl compute the schedule; falls back to the original order at the operation limit."""
        statements = tuple(statement.name for statement in problem.scop.statements)
        constraints = self._constraints(problem)
        context = problem.domain.get_ctx()
        with self._configured(context):
            try:
                tree = constraints.compute_schedule()
            except isl.Error:
                text = (
                    f"isl found no schedule within {self.operation_limit} operations; "
                    "the loops keep the order of the source."
                )
                return Proposal(problem.scop.schedule, (Decision("fallback", text, statements),))
        return Proposal(tree, (Decision("isl", self._sentence(), statements),))

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

    @contextmanager
    def _configured(self, context: isl.Context) -> Iterator[None]:
        """Options of the isl scheduler belong to the whole context: they are put back afterwards."""
        wanted = {
            "schedule_outer_coincidence": self.outer_coincidence,
            "schedule_serialize_sccs": self.serialize,
            "schedule_maximize_band_depth": self.maximize_band_depth,
            "max_operations": self.operation_limit,
        }
        before = {name: getattr(context, f"get_{name}")() for name in wanted}
        context.reset_operations()
        try:
            for name, value in wanted.items():
                getattr(context, f"set_{name}")(int(value))
            yield
        finally:
            for name, value in before.items():
                getattr(context, f"set_{name}")(value)
