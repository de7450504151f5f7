"""Why a loop or a statement is what it is in a schedule and in the program made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from polyviz.model.dependences import Violation

Topic = Literal["tiles", "fusion", "vectors", "promotion", "reduction"]


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence, or a few, about ``topic``.

    ``loop`` is the address of the loop it is about, empty for one about a statement; ``statements`` are those it is
    about. ``pair`` are the two instances that forbid something.
    """

    topic: Topic
    loop: str
    statements: tuple[str, ...]
    text: str
    pair: Violation | None = None
