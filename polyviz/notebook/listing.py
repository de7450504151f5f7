"""A plain table as a result: aligned text in a terminal, an HTML table in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.scheduling import schedulers
from polyviz.views.html import table
from polyviz.views.tables import columns

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, repr=False)
class Listing:
    """Rows under a header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        return columns(self.rows, self.header)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": table(self.rows, self.header)}


def listing(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Listing:
    """A listing from any sequences."""
    return Listing(tuple(header), tuple(tuple(row) for row in rows))


def scheduler_listing() -> Listing:
    """Every scheduler with its summary."""
    return listing(("scheduler", "what it does"), list(schedulers().items()))
