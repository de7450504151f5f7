"""clang on the original order in C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.benchmark.peers.native import OPTIMISED, Compiler

if TYPE_CHECKING:
    from polyviz.api.targets import Availability
    from polyviz.benchmark.peers.protocol import Candidate
    from polyviz.benchmark.subject import Subject

CLANG = Compiler("clang", ("clang", "clang-19"))


class Clang:
    """clang as most people call it."""

    name = "clang"

    def available(self) -> Availability:
        """Whether clang is there."""
        return CLANG.available()

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """Plain."""
        return (CLANG.candidate("clang", subject, OPTIMISED),)
