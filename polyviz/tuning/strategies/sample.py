"""Sampling: candidates a few random steps away from the best so far."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from polyviz.tuning.candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.tuning import Trial
    from polyviz.tuning.candidates import Space

PATIENCE = 20
"""Candidates in a row that bring nothing before the search stops."""
_LONGEST_WALK = 4
_DRAWS = 100


class Sample:
    """Random walks of one to four steps from the best so far: finds changes that only pay together.

    The walks depend on the history alone, so that a search can be repeated.
    """

    def propose(self, space: Space, history: Sequence[Trial]) -> Candidate | None:
        """The end of a walk that was not tried yet, at best in no search; None when many in a row brought nothing."""
        accepted = [number for number, trial in enumerate(history) if trial.status == "accepted"]
        if not accepted or len(history) - 1 - accepted[-1] >= PATIENCE:
            return None
        tried = {Candidate.of(trial.options) for trial in history}
        dice = random.Random(len(history) + len(space.known))
        top = Candidate.of(history[accepted[-1]].options)
        fresh = [found for _ in range(_DRAWS) if (found := self._walk(space, top, dice)) not in tried]
        return min(fresh, key=space.known.__contains__, default=None)

    def _walk(self, space: Space, start: Candidate, dice: random.Random) -> Candidate:
        place = start
        for _ in range(dice.randint(1, _LONGEST_WALK)):
            steps = list(space.neighbours(place))
            if not steps:
                break
            place = dice.choice(steps)
        return place
