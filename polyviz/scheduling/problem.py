"""What a scheduler is given and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    import islpy as isl

    from polyviz.model.dependences import Dependences
    from polyviz.model.schedule import Decision
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Superposition


@dataclass(frozen=True, slots=True)
class SchedulingProblem:
    """A static control part and the dependences that a schedule of it has to respect.

    ``sizes`` holds the values that parameters will have in the run at hand, as far as they are known: a scheduler may
    choose by them, but its order has to be right for all others too. The options of a scheduler are the fields of the
    scheduler itself.
    """

    scop: Scop
    dependences: Dependences
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def domain(self) -> isl.UnionSet:
        """All statement instances, under what is known of the parameters."""
        return self.scop.domain.intersect_params(self.scop.context)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A schedule tree that nobody has checked yet, and the decisions that led to it.

    ``superposition`` is what a scheduler of blocks and threads knows beside the order.
    """

    tree: isl.Schedule
    decisions: tuple[Decision, ...] = ()
    superposition: Superposition | None = None


class Scheduler(Protocol):
    """What the registry expects of a scheduler: a frozen dataclass whose fields are its options.

    The first line of its docstring is the summary shown to the user.
    """

    name: ClassVar[str]

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Propose an order for all instances of ``problem``; the exact check follows."""
