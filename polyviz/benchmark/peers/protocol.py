"""What every peer is asked: are you here, which version, and how would you run this loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from polyviz.api.targets import Availability
    from polyviz.benchmark.session import Runnable
    from polyviz.benchmark.subject import Subject


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way in which a peer runs the loop: ``label`` names it in the table, ``flags`` say exactly what was asked.

    Without a ``runnable`` the peer does not run this loop, for ``reason``.
    """

    label: str
    flags: str
    runnable: Runnable | None
    reason: str = ""


class Peer(Protocol):
    """A compiler or library that a user could take instead. One file each."""

    @property
    def name(self) -> str:
        """What the tables call it."""

    def available(self) -> Availability:
        """Whether it is installed, and its version or what is missing."""

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """How it runs this loop, in each of its documented ways; called only when it is installed."""
