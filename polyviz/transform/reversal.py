"""Reversal: a loop runs backwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import changed_for, checked_member, loop_text, of_statements, with_changed_row
from polyviz.transform.tree import Path, band_at, bands, members, statements_under

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, slots=True)
class Reversal(Move):
    """Run a loop backwards: its row becomes its negative.

    ``member`` is the loop in the band at ``path``; only for ``statements``, or for all under it. Legal when the loop
    carries no dependence.
    """

    name: ClassVar[str] = "reversal"
    member: int = 0
    statements: tuple[str, ...] = ()

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band."""
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The band with one row negated.

        >>> import islpy as isl
        >>> tree = isl.Schedule('{ domain: "{ S[i] }", child: { schedule: "[{ S[i] -> [i] }]" } }')
        >>> print(Reversal((0,)).apply(tree)[0].get_map())
        { S[i] -> [-i] }
        """
        band = band_at(tree, self.path)
        row = members(band)[checked_member(tree, self.path, self.member)]
        changed = with_changed_row(
            tree,
            self.path,
            self.member,
            lambda row: changed_for(row, self.statements, lambda part: part.neg()),
        )
        text = f"Loop {loop_text(row)}{of_statements(self.statements)} runs backwards."
        details = {"path": self.path, "member": self.member, "statements": self.statements}
        return changed, Decision("reversal", text, self.statements or statements_under(band), details)
