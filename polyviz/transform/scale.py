"""Scaling: a loop counts in larger steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import islpy as isl

from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import (
    changed_for,
    checked_member,
    loop_text,
    of_statements,
    positive,
    with_changed_row,
)
from polyviz.transform.tree import Path, band_at, bands, members, statements_under


@dataclass(frozen=True, slots=True)
class Scale(Move):
    """Multiply the value of a loop by ``factor``, for all statements or for some only.

    ``member`` is the loop in the band at ``path``. For all statements this changes no order; for some it makes room
    between their iterations, into which others can be shifted.
    """

    name: ClassVar[str] = "scale"
    member: int = 0
    factor: int = 2
    statements: tuple[str, ...] = ()

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band."""
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The band with one row multiplied.

        >>> tree = isl.Schedule('{ domain: "{ S[i] }", child: { schedule: "[{ S[i] -> [i] }]" } }')
        >>> print(Scale((0,), factor=2).apply(tree)[0].get_map())
        { S[i] -> [2i] }
        """
        band = band_at(tree, self.path)
        row = members(band)[checked_member(tree, self.path, self.member)]
        factor = isl.Val(positive("A scale", self.factor))
        changed = with_changed_row(
            tree,
            self.path,
            self.member,
            lambda row: changed_for(row, self.statements, lambda part: part.scale_val(factor)),
        )
        text = f"Loop {loop_text(row)}{of_statements(self.statements)} counts in steps of {self.factor}."
        details = {"path": self.path, "member": self.member, "factor": self.factor}
        return changed, Decision("scale", text, self.statements or statements_under(band), details)
