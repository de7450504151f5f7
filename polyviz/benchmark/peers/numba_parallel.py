"""The loop under ``numba.njit(parallel=True)`` with ``prange`` where a user would put it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.benchmark.peers.numba_serial import LoopUnderNumba, numba_availability
from polyviz.benchmark.peers.protocol import Candidate

if TYPE_CHECKING:
    from polyviz.api.targets import Availability
    from polyviz.benchmark.subject import Subject


class NumbaParallel:
    """numba on all cores: the outermost loops that are parallel as written become ``prange`` loops."""

    name = "numba parallel"

    def available(self) -> Availability:
        """Whether numba is installed."""
        return numba_availability()

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """The text with ``prange``, unless no loop is parallel as written."""
        flags = "njit(parallel=True, fastmath=True, error_model='numpy'), prange"
        if subject.parallel is None:
            return (Candidate(self.name, flags, None, subject.parallel_reason),)
        return (Candidate(self.name, flags, LoopUnderNumba(subject.parallel, parallel=True, fast=True)),)
