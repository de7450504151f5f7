"""gcc on the original order in C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.benchmark.peers.native import OPTIMISED, Compiler
from polyviz.runtime.machine import thread_count

if TYPE_CHECKING:
    from polyviz.api.targets import Availability
    from polyviz.benchmark.peers.protocol import Candidate
    from polyviz.benchmark.subject import Subject


class Gcc:
    """gcc as most people call it, and with its own loop-nest optimiser and automatic threads."""

    name = "gcc"
    compiler = Compiler("gcc", ("gcc",))

    def available(self) -> Availability:
        """Whether gcc is there."""
        return self.compiler.available()

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """Plain, and automatic."""
        automatic = (*OPTIMISED, "-floop-nest-optimize", f"-ftree-parallelize-loops={thread_count().count}")
        return (
            self.compiler.candidate("gcc", subject, OPTIMISED),
            self.compiler.candidate("gcc auto-parallel", subject, automatic),
        )
