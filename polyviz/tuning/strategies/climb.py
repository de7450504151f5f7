"""Climbing: always one step away from the best so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.tuning.candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.tuning import Trial
    from polyviz.tuning.candidates import Space


class Climb:
    """One step at a time from the best so far, until no neighbour is better.

    The model's defaults are taken to be close to the top, so few steps are needed; what differs from the best in two
    places that only pay together is not found.
    """

    def propose(self, space: Space, history: Sequence[Trial]) -> Candidate | None:
        """A neighbour of the best trial that was not tried yet."""
        tried = {Candidate.of(trial.options) for trial in history}
        accepted = [trial for trial in history if trial.status == "accepted"]
        if not accepted:
            return None
        top = Candidate.of(accepted[-1].options)
        return next((one for one in space.neighbours(top) if one not in tried), None)
