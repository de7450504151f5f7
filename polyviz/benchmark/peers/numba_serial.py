"""The loop as written under ``numba.njit``, on one core."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from polyviz.api.targets import Availability
from polyviz.benchmark.peers.protocol import Candidate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.benchmark.session import Call
    from polyviz.benchmark.subject import Subject
    from polyviz.runtime.original import Original


@dataclass(frozen=True, slots=True)
class LoopUnderNumba:
    """The user's text under numba; ``fast`` allows it to reorder floating-point sums."""

    original: Original
    parallel: bool
    fast: bool

    def prepare(self, example: Mapping[str, Any], _parameters: Mapping[str, int]) -> Call:
        """Compile by running the example."""
        import numba

        compiler = numba.njit(parallel=self.parallel, fastmath=self.fast, error_model="numpy")
        function = compiler(self.original.python())
        function(*example.values())
        return lambda values, _: function(*values.values())


class NumbaSerial:
    """numba without threads."""

    name = "numba"

    def available(self) -> Availability:
        """Whether numba is installed."""
        return numba_availability()

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """The text as it is."""
        runnable = LoopUnderNumba(subject.original, parallel=False, fast=True)
        return (Candidate(self.name, "njit(fastmath=True, error_model='numpy')", runnable),)


def numba_availability() -> Availability:
    """The version of numba, or that there is none."""
    try:
        return Availability(True, f"numba {version('numba')}, llvmlite {version('llvmlite')}")
    except PackageNotFoundError:
        return Availability(False, "numba is not installed")
