"""Shift: a loop counts from somewhere else, which moves statements against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import (
    Amount,
    changed_for,
    checked_member,
    expression_row,
    loop_text,
    of_statements,
    with_changed_row,
)
from polyviz.transform.tree import Path, band_at, bands, members, statements_under

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, slots=True)
class Shift(Move):
    """Add ``amount`` to the value of a loop for some statements: they run that many iterations later.

    ``member`` is the loop in the band at ``path``; ``amount`` a number or an expression over the sizes (``"n - 1"``).
    Without ``statements`` all are shifted alike, which changes no order.
    """

    name: ClassVar[str] = "shift"
    member: int = 0
    amount: Amount = 1
    statements: tuple[str, ...] = ()

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band."""
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The band with one row moved.

        >>> import islpy as isl
        >>> tree = isl.Schedule('{ domain: "{ S[i] }", child: { schedule: "[{ S[i] -> [i] }]" } }')
        >>> print(Shift((0,), amount=3).apply(tree)[0].get_map())
        { S[i] -> [3 + i] }
        """
        band = band_at(tree, self.path)
        row = members(band)[checked_member(tree, self.path, self.member)]
        amounts = expression_row(self.amount, band.get_domain())

        def later(part: isl.UnionPwAff) -> isl.UnionPwAff:
            return part.add(amounts.intersect_domain(part.domain().universe()))

        changed = with_changed_row(
            tree, self.path, self.member, lambda row: changed_for(row, self.statements, later)
        )
        text = f"Loop {loop_text(row)}{of_statements(self.statements)} is shifted by {self.amount}."
        details = {"path": self.path, "member": self.member, "amount": self.amount}
        return changed, Decision("shift", text, self.statements or statements_under(band), details)
