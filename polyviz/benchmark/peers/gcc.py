"""gcc on the original order in C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.benchmark.peers.native import OPTIMISED, Compiler

if TYPE_CHECKING:
    from polyviz.api.targets import Availability
    from polyviz.benchmark.peers.protocol import Candidate
    from polyviz.benchmark.subject import Subject


class Gcc:
    """gcc as most people call it."""

    name = "gcc"
    compiler = Compiler("gcc", ("gcc",))

    def available(self) -> Availability:
        """Whether gcc is there."""
        return self.compiler.available()

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """Plain."""
        return (self.compiler.candidate("gcc", subject, OPTIMISED),)
