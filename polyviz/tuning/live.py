"""Trying candidates for real: built here, verified and timed in the worker process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polyviz.errors import PolyvizError, VerificationError
from polyviz.model.measurement import VariantRow
from polyviz.runtime.race import Entrant, Race
from polyviz.runtime.statistics import distinguishable
from polyviz.runtime.worker import CancelledError, TimeLimitError, Worker
from polyviz.tuning.executors import CLEARLY_FASTER, CLEARLY_SLOWER, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.model.program import Program
    from polyviz.runtime.variants import Baseline
    from polyviz.tuning.candidates import Candidate

FIRST_ROUNDS, ROUNDS = 2, 6
_CHAMPION, _CANDIDATE = "champion", "candidate"


@dataclass(slots=True)
class Live:
    """Runs programs that ``build`` makes of candidates on the values of ``race``, next to ``reference``."""

    race: Race
    worker: Worker
    reference: Baseline
    build: Callable[[Candidate], Program]
    notes: list[str] = field(default_factory=list)
    _programs: dict[Candidate, Program] = field(default_factory=dict)
    _expected: Mapping[str, Any] | None = None

    def try_first(self, candidate: Candidate) -> Outcome:
        """Verify and time the defaults; raises VerificationError when nothing could be compared with them."""
        program = self.build(candidate)
        self._expected = self.race.expected(self.worker, self.reference, self.notes)
        row = self._verified(program, str(candidate))
        if not row.verified:
            raise VerificationError(
                f"The defaults {_FAULTS.get(row.status, 'fail')}, so there is nothing to tune: {row.note}",
                hint="Where the loop amplifies rounding, contract='strict' keeps every operation in its place.",
            )
        samples = self.race.times(self.worker, {_CHAMPION: program}, FIRST_ROUNDS)
        self._programs[candidate] = program
        return Outcome("accepted", True, samples[_CHAMPION].median)

    def challenge(self, candidate: Candidate, champion: Candidate) -> Outcome:
        """Build, verify, race: first two rounds, and only what is not clearly slower is timed further."""
        try:
            program = self.build(candidate)
        except PolyvizError as error:
            return Outcome("refused", note=error.message)
        known = next((other for other, text in self._programs.items() if program.runs_as(text)), None)
        if known is not None:
            return Outcome("same", note=f"the same program as {known}")
        self._programs[candidate] = program
        row = self._verified(program, str(candidate))
        if not row.verified:
            return Outcome(_status(row), row.verified, note=row.note)
        try:
            return self._raced(program, self._programs[champion])
        except TimeLimitError as error:
            return Outcome("timeout", True, note=error.message)
        except CancelledError:
            raise
        except PolyvizError as error:
            return Outcome("failed", True, note=error.message)

    def _verified(self, program: Program, name: str) -> VariantRow:
        row = VariantRow(name, program.target, "ok", None, floating_point=program.floating_point)
        return self.race.verified(self.worker, Entrant(row, program), self._expected)

    def rematch(self, candidate: Candidate, champion: Candidate) -> Outcome:
        """Time two known programs against each other again."""
        return self._timed(self._programs[candidate], self._programs[champion])

    def _raced(self, program: Program, champion: Program) -> Outcome:
        first = self.race.times(self.worker, {_CHAMPION: champion, _CANDIDATE: program}, FIRST_ROUNDS)
        ratio = first[_CHAMPION].median / first[_CANDIDATE].median
        if ratio * CLEARLY_SLOWER < 1.0:
            return Outcome("slower", True, first[_CANDIDATE].median, ratio)
        outcome = self._timed(program, champion)
        # Other work on the machine can slow one of the two down for a whole race, hardly for two.
        return outcome if outcome.status != "accepted" else self._timed(program, champion)

    def _timed(self, program: Program, champion: Program) -> Outcome:
        samples = self.race.times(self.worker, {_CHAMPION: champion, _CANDIDATE: program}, ROUNDS)
        best, tried = samples[_CHAMPION], samples[_CANDIDATE]
        ratio = best.median / tried.median
        if not distinguishable(best, tried) or 1.0 < ratio < CLEARLY_FASTER:
            return Outcome("level", True, tried.median, ratio)
        return Outcome("accepted" if ratio > 1.0 else "slower", True, tried.median, ratio)


_FAULTS = {
    "wrong": "compute something else than the loop as written",
    "timeout": "take too long",
    "crashed": "crash",
}


def _status(row: VariantRow) -> Any:
    return row.status if row.status in ("wrong", "timeout", "crashed", "refused") else "failed"
