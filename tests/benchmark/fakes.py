"""Peers whose behaviour is known, and a way to run jobs without processes; importable in worker processes too."""

from __future__ import annotations

import importlib
import itertools
import os
import pickle
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from polyviz.api.targets import Availability
from polyviz.benchmark.entrants import Entrant
from polyviz.benchmark.peers.protocol import Candidate
from polyviz.benchmark.records import VariantRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.benchmark.session import Call
    from polyviz.benchmark.subject import Subject
    from polyviz.runtime.original import Original

Behaviour = Literal[
    "right", "wrong", "meddles", "raises", "crashes", "hangs", "slow", "wavers", "stalls", "fails to compile"
]
SLOW = 0.02
"""Much longer than the smallest kernels take, however busy the machine is."""

STALL = 0.5
"""What keeps a run out of the rounds, if it is believed."""


@dataclass(frozen=True, slots=True)
class Fake:
    """Runs the loop as plain Python, and then behaves as told."""

    original: Original
    behaviour: Behaviour = "right"

    def prepare(self, _example: Mapping[str, Any], _parameters: Mapping[str, int]) -> Call:
        if self.behaviour == "fails to compile":
            raise ValueError("Failed in nopython mode pipeline (step: x)\nno such type")
        function = self.original.python()
        runs = itertools.count()

        def run(values: Mapping[str, Any], _: Mapping[str, int]) -> Any:
            if self.behaviour == "raises":
                raise ZeroDivisionError("division by zero")
            if self.behaviour == "crashes":
                os.kill(os.getpid(), signal.SIGSEGV)
            if self.behaviour == "hangs":
                time.sleep(3600)
            if self.behaviour == "slow":
                time.sleep(SLOW)
            if self.behaviour == "stalls" and not next(runs):
                time.sleep(STALL)
            result = function(*values.values())
            if self.behaviour == "wrong" or (self.behaviour == "wavers" and next(runs)):
                values["x2"][3] += 1.0
            if self.behaviour == "meddles":
                values["A"][0, 0] += 1.0
            return result

        return run


@dataclass(frozen=True, slots=True)
class FakePeer:
    """A peer with one variant per behaviour."""

    name: str
    behaviours: tuple[Behaviour, ...] = ("right",)
    missing: str = ""

    def available(self) -> Availability:
        return Availability(not self.missing, self.missing or f"{self.name} 1.0")

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(
                self.name if behaviour == "right" else behaviour, "-O9", Fake(subject.original, behaviour)
            )
            for behaviour in self.behaviours
        )


def entrant(subject: Subject, behaviour: Behaviour, side: Literal["peer", "polyviz"] = "peer") -> Entrant:
    label = behaviour if side == "peer" else f"{behaviour}/{side}"
    row = VariantRecord(side, side, label, "", "ok")
    return Entrant(row, label, Fake(subject.original, behaviour))


class InlineWorkers:
    """Runs every job here; nothing that crashes or hangs may be run with it."""

    def run(self, _name: str, job: str, *arguments: object, time_limit: float, label: str) -> Any:
        module, _, function = job.partition(":")
        result = getattr(importlib.import_module(module), function)(*pickle.loads(pickle.dumps(arguments)))
        return pickle.loads(pickle.dumps(result))

    def settle(self) -> bool:
        return True
