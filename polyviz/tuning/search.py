"""The search: one candidate after the other until the time is up, nothing is better, or somebody stops it."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from polyviz.model.tuning import Trial
from polyviz.runtime.worker import CancelledError
from polyviz.tuning.candidates import Candidate

if TYPE_CHECKING:
    from polyviz.tuning.candidates import Space
    from polyviz.tuning.executors import Executor, Outcome
    from polyviz.tuning.strategies import Strategy

Progress = Callable[[str, int, int], None]
INTERRUPTED = "it was interrupted"
NOTHING_BETTER = "no candidate that was left to try promised more"


@dataclass(slots=True)
class Search:
    """One search, step by step; what it has learned so far is in ``trials`` whatever happens.

    ``seconds`` bounds it: a candidate that is being tried then is finished, so none is begun that would mostly run
    beyond, going by those before. ``first`` are candidates to try before the strategy is asked; ``learned`` is called
    with every accepted trial, the defaults left out.
    """

    space: Space
    strategy: Strategy
    executor: Executor
    seconds: float
    progress: Progress
    learned: Callable[[Trial], None]
    first: tuple[Candidate, ...] = ()
    clock: Callable[[], float] = time.monotonic
    trials: list[Trial] = field(default_factory=list)
    began: float = 0.0

    def run(self) -> str:
        """Search until the end, and say what ended it."""
        self.began = self.clock()
        try:
            ended = self._run()
            self._confirm()
        except (KeyboardInterrupt, CancelledError):
            return INTERRUPTED
        return ended

    def _confirm(self) -> None:
        """The best against the defaults once more: steps that seemed faster by luck add up to nothing."""
        champion = self._champion
        if champion is self.trials[0]:
            return
        self.progress(f"tuning: confirming {champion.name}", 0, 0)
        outcome = self.executor.rematch(Candidate.of(champion.options), Candidate())
        if outcome.status == "accepted":
            confirmed = replace(champion, seconds=outcome.seconds, speedup=outcome.ratio)
            self.trials[self.trials.index(champion)] = confirmed
            return
        note = "not confirmed: in a last race against the defaults it was not clearly faster"
        self.trials[1:] = [
            replace(trial, status="level", note=note) if trial.status == "accepted" else trial
            for trial in self.trials[1:]
        ]

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.began

    def _run(self) -> str:
        self.progress("tuning: verifying and timing the defaults", 0, 0)
        self._note(Candidate(), self.executor.try_first(Candidate()), 1.0)
        waiting = list(self.first)
        while self.elapsed + self._usual / 2 < self.seconds:
            candidate = waiting.pop(0) if waiting else self.strategy.propose(self.space, self.trials)
            if candidate is None:
                return NOTHING_BETTER
            champion = self._champion
            self.progress(
                f"tuning: {len(self.trials)} tried, best {champion.speedup or 1.0:.2f}x, now {candidate}",
                0,
                0,
            )
            outcome = self.executor.challenge(candidate, Candidate.of(champion.options))
            self._note(candidate, outcome, champion.speedup or 1.0)
            if outcome.status == "accepted":
                self.learned(self.trials[-1])
        return f"the {self.seconds:g} seconds were up"

    @property
    def _usual(self) -> float:
        """How many seconds a candidate took so far."""
        ends = [trial.elapsed for trial in self.trials]
        return statistics.median([end - begin for begin, end in itertools.pairwise(ends)] or [0.0])

    @property
    def _champion(self) -> Trial:
        return next(trial for trial in reversed(self.trials) if trial.status == "accepted")

    def _note(self, candidate: Candidate, outcome: Outcome, speedup: float) -> None:
        ratio = 1.0 if not self.trials else outcome.ratio
        self.trials.append(
            Trial(
                options=candidate.keywords,
                name=str(candidate),
                status=outcome.status,
                verified=outcome.verified,
                seconds=outcome.seconds,
                speedup=None if ratio is None else speedup * ratio,
                note=outcome.note or _raced(outcome.ratio if self.trials else None),
                elapsed=self.elapsed,
            )
        )


def _raced(ratio: float | None) -> str:
    """What a candidate was raced against: the medians of two races differ by what else the machine did meanwhile."""
    return "" if ratio is None else f"{ratio:.2f}x the best before it, in the same race"
