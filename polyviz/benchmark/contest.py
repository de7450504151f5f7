"""One kernel: everybody compiles, everybody is verified, and those that matter are timed in interleaved rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from polyviz.benchmark.entrants import OWN_WORKER, Entrant
from polyviz.benchmark.failures import failed, first_line
from polyviz.benchmark.limits import (
    CLOSE,
    COMPILE_LIMIT,
    REFERENCE_LIMIT,
    SECOND_LOOK,
    SHORTEST_LIMIT,
    VERIFICATION_SHARE,
    choose_field,
    run_limit,
)
from polyviz.benchmark.peers.numba_serial import LoopUnderNumba
from polyviz.benchmark.records import KernelRecord, VariantRecord
from polyviz.benchmark.subject import Data, Subject
from polyviz.benchmark.verification import Judge
from polyviz.benchmark.workers import Workers
from polyviz.errors import VerificationError
from polyviz.runtime.machine import usable_cores

if TYPE_CHECKING:
    from polyviz.benchmark.session import Outcome
    from polyviz.model.measurement import Status

Say = Callable[[str], None]
Gather = Callable[[Workers, Subject], Sequence[Entrant]]

REFERENCE = "the original loop"


@dataclass(frozen=True, slots=True)
class Contest:
    """The rules for every kernel: ``repeats`` rounds of as many variants as fit into ``budget`` seconds.

    ``gather`` finds the entrants for a subject; ``say`` gets a line of progress now and then. ``exact``: variants of
    polyviz have to agree bit for bit.
    """

    workers: Workers
    gather: Gather
    repeats: int
    budget: float
    say: Say
    exact: bool = False

    def run(self, data: Data) -> KernelRecord:
        """The record of one kernel. What fails is a row, or, when nothing can be compared, a note."""
        started = time.monotonic()
        try:
            record = self._run(data)
        except Exception as error:
            record = KernelRecord(
                data.label, _sizes(data), (), notes=(f"nothing was run: {first_line(error)}",)
            )
        return replace(record, wall_seconds=time.monotonic() - started)

    def _run(self, data: Data) -> KernelRecord:
        subject = self._job(OWN_WORKER, "subject:analyse", data, limit=COMPILE_LIMIT, label="The analysis")
        entrants = self.gather(self.workers, subject)
        self.say(
            f"{data.label}: compiling {sum(entrant.runnable is not None for entrant in entrants)} variants"
        )
        entrants = self._compile(subject, entrants)
        judge = self._judge(subject)
        self.say(f"{data.label}: verifying")
        rows = self._verify(subject, entrants, judge)
        rows = self._time(subject, entrants, rows, judge)
        return KernelRecord(
            data.label,
            _sizes(data),
            tuple(rows),
            subject.analysis_seconds,
            notes=tuple(subject.notes),
            work=subject.work,
        )

    def _compile(self, subject: Subject, entrants: Sequence[Entrant]) -> list[Entrant]:
        """Everybody at once, as many as there are cores: nothing is timed yet but compiling, which is told apart."""
        pool = ThreadPoolExecutor(usable_cores())
        try:
            return list(pool.map(lambda entrant: self._compile_one(subject, entrant), entrants))
        finally:
            # After an interrupt nobody waits for the compilers: closing the workers ends them.
            pool.shutdown(wait=False, cancel_futures=True)

    def _compile_one(self, subject: Subject, entrant: Entrant) -> Entrant:
        if entrant.runnable is None:
            return entrant
        try:
            seconds = self._variant_job("prepare", subject, entrant, COMPILE_LIMIT)
        except Exception as error:
            return replace(entrant, runnable=None, row=failed(entrant.row, error))
        return replace(entrant, row=replace(entrant.row, compile_seconds=seconds))

    def _judge(self, subject: Subject) -> Judge:
        return Judge(self._original(subject, "run_once"), lambda: self._original(subject, "run_nudged"))

    def _original(self, subject: Subject, job: str) -> Mapping[str, Any]:
        runnable = LoopUnderNumba(subject.original, parallel=False, fast=False)
        arguments = (subject, REFERENCE, runnable)
        try:
            outcome = self._job(
                OWN_WORKER, f"session:{job}", *arguments, limit=REFERENCE_LIMIT, label="The original loop"
            )
        except Exception as error:
            raise VerificationError(f"The original loop itself fails: {first_line(error)}") from error
        return _outputs(subject, outcome)

    def _verify(self, subject: Subject, entrants: Sequence[Entrant], judge: Judge) -> list[VariantRecord]:
        """One run of everybody; when the time is used up, only of those whose side has no verified run yet."""
        rows: dict[str, VariantRecord] = {}
        best: float | None = None
        deadline = time.monotonic() + VERIFICATION_SHARE * self.budget
        for entrant in alternating(entrants):
            verified = {row.side for row in rows.values() if row.verified}
            if time.monotonic() > deadline and entrant.row.side in verified:
                rows[entrant.row.label] = _not_run(entrant)
                continue
            row = self._verify_one(subject, entrant, judge, run_limit(best))
            rows[row.label] = row
            if row.verified and row.first_seconds is not None:
                best = min(row.first_seconds, best or row.first_seconds)
        return [rows[entrant.row.label] for entrant in entrants]

    def _verify_one(self, subject: Subject, entrant: Entrant, judge: Judge, limit: float) -> VariantRecord:
        if entrant.runnable is None:
            return entrant.row
        try:
            outcome = self._variant_job("run_once", subject, entrant, limit)
            agrees, note = judge.verdict(_outputs(subject, outcome), exact=self._exactly(entrant))
        except VerificationError:
            raise
        except Exception as error:
            return failed(entrant.row, error)
        status: Status = "ok" if agrees else "wrong"
        return replace(entrant.row, first_seconds=outcome.seconds, status=status, verified=agrees, note=note)

    def _time(
        self, subject: Subject, entrants: Sequence[Entrant], rows: Sequence[VariantRecord], judge: Judge
    ) -> list[VariantRecord]:
        seconds = {
            row.label: row.first_seconds for row in rows if row.verified and row.first_seconds is not None
        }
        field = choose_field(seconds, _kept(rows, seconds), self.repeats, self.budget)
        seconds |= self._second_look(subject, entrants, {label: seconds[label] for label in field.left_out})
        field = choose_field(seconds, _kept(rows, seconds), self.repeats, self.budget)
        self.say(f"{subject.data.label}: timing {len(field.racing)} variants in {field.rounds} rounds")
        racers = {
            entrant.row.label: replace(entrant, row=row)
            for entrant, row in zip(entrants, rows, strict=True)
            if row.label in field.racing
        }
        # A sample of a short run holds many runs, which together stay far below the shortest limit.
        limit = 2 * run_limit(min(seconds.values(), default=None))
        finished = self._rounds(subject, racers, field.rounds, limit, judge)
        return [finished.get(row.label) or _left_out(row, field.left_out) for row in rows]

    def _second_look(
        self, subject: Subject, entrants: Sequence[Entrant], seconds: Mapping[str, float]
    ) -> dict[str, float]:
        """The time of one more run, where it is shorter: a machine that stands still for a moment keeps nobody out."""
        shorter = {}
        for entrant in entrants:
            before = seconds.get(entrant.row.label)
            if before is None or before > SECOND_LOOK:
                continue
            self.workers.settle()
            with suppress(Exception):  # it is left out, then, for its first run
                outcome = self._variant_job("run_once", subject, entrant, SHORTEST_LIMIT)
                shorter[entrant.row.label] = min(before, outcome.seconds)
        return shorter

    def _rounds(
        self, subject: Subject, racers: dict[str, Entrant], rounds: int, limit: float, judge: Judge
    ) -> dict[str, VariantRecord]:
        """The rows of the racers by label. Each round starts with another one; whoever fails drops out."""
        finished: dict[str, VariantRecord] = {}
        samples: dict[str, list[float]] = {label: [] for label in racers}
        for number in range(rounds):
            order = list(racers)
            start = number % max(1, len(order))
            for label in order[start:] + order[:start]:
                last = number == rounds - 1
                row = self._sample(subject, racers[label], samples[label], limit, judge if last else None)
                if row is not None:
                    finished[label] = row
                    del racers[label]
        return finished

    def _sample(
        self, subject: Subject, racer: Entrant, samples: list[float], limit: float, judge: Judge | None
    ) -> VariantRecord | None:
        """Add a sample; a row when the racer is finished: it failed, or this was its last sample.

        The last sample is verified again by ``judge``: a race between threads may well spare the first run.
        """
        if not self.workers.settle():
            self.say(f"{subject.data.label}: threads of another variant are still busy")
        try:
            outcome = self._variant_job("sample", subject, racer, limit, judge is not None)
            samples.append(outcome.seconds)
            if judge is None:
                return None
            agrees, note = judge.verdict(_outputs(subject, outcome), exact=self._exactly(racer))
        except VerificationError:
            raise
        except Exception as error:
            return failed(racer.row, error)
        if not agrees:
            note = f"right in its first run, wrong in the last one: {note}"
            return replace(racer.row, status="wrong", verified=False, note=note)
        return replace(racer.row, samples=tuple(samples))

    def _exactly(self, entrant: Entrant) -> bool:
        return self.exact and entrant.row.side == "polyviz"

    def _variant_job(self, job: str, subject: Subject, entrant: Entrant, limit: float, *more: object) -> Any:
        arguments = (subject, entrant.row.label, entrant.runnable, *more)
        return self._job(entrant.worker, f"session:{job}", *arguments, limit=limit, label=entrant.row.label)

    def _job(self, worker: str, path: str, *arguments: object, limit: float, label: str) -> Any:
        return self.workers.run(
            worker, f"polyviz.benchmark.{path}", *arguments, time_limit=limit, label=label
        )


def alternating(entrants: Sequence[Entrant]) -> list[Entrant]:
    """A peer, a variant of polyviz, a peer …, so that time that runs out leaves both sides with somebody."""
    peers = [entrant for entrant in entrants if entrant.row.side == "peer"]
    own = [entrant for entrant in entrants if entrant.row.side == "polyviz"]
    return [entrant for pair in zip_longest(peers, own) for entrant in pair if entrant is not None]


def _not_run(entrant: Entrant) -> VariantRecord:
    if entrant.runnable is None:
        return entrant.row
    return replace(
        entrant.row, status="cancelled", note="not run, since the time for this kernel was used up"
    )


def _outputs(subject: Subject, outcome: Outcome) -> dict[str, Any]:
    results = outcome.result if isinstance(outcome.result, tuple) else (outcome.result,)
    returned = zip(subject.results, results, strict=True) if subject.results else ()
    return {**outcome.arrays, **{f"{name} (returned)": value for name, value in returned}}


def _kept(rows: Sequence[VariantRecord], seconds: Mapping[str, float]) -> set[str]:
    """The fastest of each side, and the second where it is close: they make the ratio, so they are always timed."""
    kept: set[str] = set()
    for side in ("peer", "polyviz"):
        labels = [row.label for row in rows if row.side == side and row.label in seconds]
        first, *others = sorted(labels, key=seconds.__getitem__)[:2] or [""]
        kept.update([first, *(label for label in others if seconds[label] <= CLOSE * seconds[first])])
    return kept & seconds.keys()


def _left_out(row: VariantRecord, labels: Sequence[str]) -> VariantRecord:
    if row.label not in labels:
        return row
    note = "run once only, too slow for the rounds"
    return replace(row, note="; ".join(filter(None, [row.note, note])))


def _sizes(data: Data) -> dict[str, int]:
    return data.extents
