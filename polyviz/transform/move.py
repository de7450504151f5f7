"""What a move is: a change of a schedule tree at one place, with its answers to three questions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.analysis import check

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.model.dependences import Dependences, Legality
    from polyviz.model.schedule import Decision
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path


@dataclass(frozen=True, slots=True)
class Move(ABC):
    """A change at the node ``path``; the fields of a subclass are its arguments.

    A person names loops and statements where a field holds positions: ``loops`` lists the fields that count the members
    of the band at ``path``, ``parts`` those that count the children of a sequence. A field called ``member`` is the
    loop that the move is about.
    """

    name: ClassVar[str]
    loops: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[tuple[str, ...]] = ()
    path: Path

    @property
    def extent(self) -> int:
        """How many loops the band at ``path`` must have, no more and no less; 0 when any number will do."""
        return 0

    @classmethod
    @abstractmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Where in ``tree`` the move makes sense; whether a given use is legal is for :meth:`check`."""

    @abstractmethod
    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """What ``tree`` becomes, and the entry for the log; raises ``OptionError`` where the move makes no sense."""

    def check(self, scop: Scop, dependences: Dependences, tree: isl.Schedule) -> Legality:
        """Whether the move keeps all dependences of ``scop``; if not, with the pairs of instances that forbid it."""
        return check(scop, self.apply(tree)[0], known=dependences)
