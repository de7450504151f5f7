"""Who tries a candidate: an executor builds it, has it verified and timed, or knows its time from a recording."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.model.tuning import TrialStatus
    from polyviz.tuning.candidates import Candidate

CLEARLY_SLOWER = 1.2
"""A candidate that takes so many times as long as the best in its first runs is not timed any further."""

CLEARLY_FASTER = 1.02
"""What a candidate has to gain to be accepted: less is noise, and not worth another search."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one candidate; ``ratio`` is how many times as fast as the champion it is, where it was timed."""

    status: TrialStatus
    verified: bool | None = None
    seconds: float | None = None
    ratio: float | None = None
    note: str = ""


class Executor(Protocol):
    """Tries candidates, one at a time."""

    def try_first(self, candidate: Candidate) -> Outcome:
        """Verify and time the candidate that all others are compared with; ``accepted`` where that worked."""

    def challenge(self, candidate: Candidate, champion: Candidate) -> Outcome:
        """Verify ``candidate`` and time it against ``champion``, which was accepted before."""

    def rematch(self, candidate: Candidate, champion: Candidate) -> Outcome:
        """Time two candidates that were verified against each other once more."""


@dataclass(slots=True)
class Simulated:
    """An executor that runs nothing: ``times`` are recorded seconds by description, every other takes ``otherwise``.

    ``wrong`` are descriptions of candidates that would compute something else, ``lucky`` those whose recorded time does
    not come again. Each trial moves ``now`` by ``cost`` seconds, so that ``clock`` can stand for the time of day.

    >>> from polyviz.tuning.candidates import Candidate
    >>> simulated = Simulated({"the defaults": 2.0, "without pack": 1.0})
    >>> simulated.challenge(Candidate.of({"pack": False}), Candidate()).ratio
    2.0
    """

    times: Mapping[str, float]
    otherwise: float = 10.0
    wrong: frozenset[str] = frozenset()
    lucky: frozenset[str] = frozenset()
    cost: float = 1.0
    now: float = 0.0
    asked: list[str] = field(default_factory=list)
    before: Callable[[str], None] | None = None

    def clock(self) -> float:
        """The seconds that all trials so far have taken."""
        return self.now

    def try_first(self, candidate: Candidate) -> Outcome:
        """The recorded time."""
        return Outcome("accepted", True, self._run(candidate))

    def challenge(self, candidate: Candidate, champion: Candidate) -> Outcome:
        """Compare recorded times."""
        seconds = self._run(candidate)
        if str(candidate) in self.wrong:
            return Outcome("wrong", False, note="recorded as wrong")
        return self._compared(candidate, champion, seconds)

    def rematch(self, candidate: Candidate, champion: Candidate) -> Outcome:
        """Compare recorded times again; those of ``lucky`` were too short the first time."""
        lucky = str(candidate) in self.lucky
        return self._compared(candidate, champion, self.otherwise if lucky else self._run(candidate))

    def _compared(self, candidate: Candidate, champion: Candidate, seconds: float) -> Outcome:
        ratio = self.times.get(str(champion), self.otherwise) / seconds
        if ratio >= CLEARLY_FASTER:
            return Outcome("accepted", True, seconds, ratio)
        return Outcome("level" if ratio * CLEARLY_FASTER > 1.0 else "slower", True, seconds, ratio)

    def _run(self, candidate: Candidate) -> float:
        name = str(candidate)
        if self.before is not None:
            self.before(name)
        self.asked.append(name)
        self.now += self.cost
        return self.times.get(name, self.otherwise)
