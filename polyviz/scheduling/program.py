"""The integer programs that the rows of a schedule are found by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from polyviz.scheduling.farkas import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class IntegerProgram:
    """Find non-negative integers ``x``, smallest in lexicographic order of the objectives.

    A row ``(constant, coefficients)`` of ``inequalities`` means ``constant + coefficients @ x >= 0``, of ``equalities``
    ``== 0``. ``objectives`` (one row each, without constant) are minimised one after the other, then the unknowns
    themselves in the sequence ``order``. ``upper`` bounds each unknown.
    """

    inequalities: Matrix
    equalities: Matrix
    objectives: Matrix
    order: tuple[int, ...]
    upper: Matrix

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return int(self.upper.shape[0])

    @property
    def steps(self) -> int:
        """What solving it once costs: see :class:`StepBudget`."""
        coefficients = np.count_nonzero(self.inequalities) + np.count_nonzero(self.equalities)
        return 1 + int(coefficients) // 1000

    def admits(self, solution: Matrix, extra: Matrix) -> bool:
        """Whether ``solution`` satisfies every constraint, and those of ``extra``, in exact integer arithmetic."""
        point = np.concatenate(([1], solution))
        return bool(
            (solution >= 0).all()
            and (solution <= self.upper).all()
            and (self.inequalities @ point >= 0).all()
            and (self.equalities @ point == 0).all()
            and (extra @ point >= 0).all()
        )


class SolveLimitError(Exception):
    """A search took more steps than it is allowed; whoever called has a fallback."""


@dataclass(slots=True)
class StepBudget:
    """How much more may be solved: a limit that does not depend on the speed of the machine.

    A linear program costs one step, and one more for every thousand coefficients: about a third of a millisecond each.
    """

    remaining: int

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.remaining <= 0

    def spend(self, steps: int = 1) -> None:
        """Take ``steps``; raises ``SolveLimitError`` when none is left."""
        if self.is_spent:
            raise SolveLimitError
        self.remaining -= steps
