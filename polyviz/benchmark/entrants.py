"""Who takes part in the race for one kernel: the peers that are installed, then the variants of polyviz."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.benchmark.failures import refused
from polyviz.benchmark.generation import GeneratedProgram, Generation
from polyviz.benchmark.limits import GENERATE_LIMIT
from polyviz.benchmark.records import VariantRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.benchmark.peers import Candidate, Peer
    from polyviz.benchmark.session import Runnable
    from polyviz.benchmark.subject import Subject
    from polyviz.benchmark.workers import Workers
    from polyviz.model.measurement import Status

OWN_WORKER = "polyviz"


@dataclass(frozen=True, slots=True)
class Entrant:
    """One variant on its way through a contest: its row so far, its process, and what to run there if anything."""

    row: VariantRecord
    worker: str
    runnable: Runnable | None


@dataclass(frozen=True, slots=True)
class Entry:
    """Which peers, schedules and targets are asked for, and the floating-point contract of our variants."""

    peers: Sequence[Peer]
    schedules: Sequence[str]
    targets: Sequence[str]
    contract: str = "reassociate"

    def __call__(self, workers: Workers, subject: Subject) -> tuple[Entrant, ...]:
        """Every entrant for ``subject``; those that cannot run have a row that says why."""
        return (*self._peers(subject), *self._own(workers, subject))

    def _peers(self, subject: Subject) -> Iterator[Entrant]:
        for peer in self.peers:
            available = peer.available()
            if not available.available:
                row = VariantRecord("peer", peer.name, peer.name, "", "unavailable", note=available.reason)
                yield Entrant(row, peer.name, None)
                continue
            for candidate in peer.candidates(subject):
                yield _entrant(peer, candidate)

    def _own(self, workers: Workers, subject: Subject) -> Iterator[Entrant]:
        for target in self.targets:
            for schedule in self.schedules:
                yield _generated(workers, subject, schedule, target, self.contract)


def _entrant(peer: Peer, candidate: Candidate) -> Entrant:
    status: Status = "ok" if candidate.runnable is not None else "refused"
    row = VariantRecord("peer", peer.name, candidate.label, candidate.flags, status, note=candidate.reason)
    return Entrant(row, peer.name, candidate.runnable)


def _generated(workers: Workers, subject: Subject, schedule: str, target: str, contract: str) -> Entrant:
    label = f"{schedule}/{target}"
    row = VariantRecord("polyviz", "polyviz", label, f"schedule={schedule!r}, target={target!r}", "ok")
    # The targets have run times of their own, which should not meet in one process either.
    worker = f"{OWN_WORKER} {target}"
    job = "polyviz.benchmark.generation:generate"
    try:
        found = workers.run(
            OWN_WORKER, job, subject.data, schedule, target, contract, time_limit=GENERATE_LIMIT, label=label
        )
    except Exception as error:
        return Entrant(refused(row, error), worker, None)
    assert isinstance(found, Generation)
    generated = replace(row, generate_seconds=found.seconds, decisions=found.decisions, obstacles=found.obstacles)
    return Entrant(generated, worker, GeneratedProgram(found.program))
