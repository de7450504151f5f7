"""The order in which the user wrote the loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polyviz.model.schedule import Decision
from polyviz.scheduling.problem import Proposal, SchedulingProblem


@dataclass(frozen=True, slots=True)
class Original:
    """The loops as written, with every parallel loop found."""

    name: ClassVar[str] = "original"

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Hand back the schedule of the source."""
        statements = tuple(statement.name for statement in problem.scop.statements)
        return Proposal(
            problem.scop.schedule,
            (Decision("original", "The loops keep the order of the source.", statements),),
        )
