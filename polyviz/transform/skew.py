"""Skewing: one loop shifted along another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import changed_for, loop_text, of_statements
from polyviz.transform.tree import Path, band_at, bands, members, replace_rows, row_texts, statements_under


@dataclass(frozen=True, slots=True)
class Skew(Move):
    """Shift a loop along another one: add ``factor`` times the loop ``by`` to it.

    It is the loop ``member`` of the band at ``path`` (counted from 0). Adding an outer loop to an inner one never
    changes the order; the other way round it may. ``by`` counts the members of the band at ``by_path``, of the same
    band without it; with ``statements`` only these are skewed.
    """

    name: ClassVar[str] = "skew"
    loops: ClassVar[tuple[str, ...]] = ("by",)
    member: int = 1
    by: int = 0
    factor: int = 1
    statements: tuple[str, ...] = ()
    by_path: Path | None = None

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band of two and more loops."""
        return tuple(path for path, band in bands(tree) if band.band_n_member() > 1)

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The band with one row changed; whether its loops are parallel has to be found out again."""
        band = band_at(tree, self.path)
        rows = list(members(band))
        other = self._other(tree, rows)
        added = other.scale_val(isl.Val(self.factor))
        skewed = rows[self.member]
        rows[self.member] = changed_for(skewed, self.statements, lambda row: _sum(row, added))
        node = band_at(replace_rows(tree, self.path, rows), self.path).band_set_permutable(0)
        loop = f"Loop {loop_text(skewed)}{of_statements(self.statements)}"
        text = f"{loop} is skewed by {self.factor} times loop {loop_text(other)}."
        details = {"path": self.path, "member": self.member, "by": self.by, "factor": self.factor}
        concerned = self.statements or statements_under(band)
        return node.get_schedule(), Decision("skew", text, concerned, details)

    def _other(self, tree: isl.Schedule, rows: list[isl.UnionPwAff]) -> isl.UnionPwAff:
        """The row of the other loop; raises ``OptionError`` where that is no loop, or not one for all statements."""
        same_band = self.by_path is None or self.by_path == self.path
        others = rows if same_band else list(members(band_at(tree, self.by_path or ())))
        if same_band and self.member == self.by:
            loop = loop_text(rows[self.member]) if self.member in range(len(rows)) else str(self.member)
            raise OptionError(f"Loop {loop} cannot be skewed by itself: name another loop in `by`.")
        if self.by not in range(len(others)) or self.member not in range(len(rows)):
            raise OptionError(f"Among {len(rows)} loops, {self.member} cannot be skewed by {self.by}.")
        inside = row_texts(others[self.by]).keys()
        missing = sorted(set(self.statements or row_texts(rows[self.member])) - inside)
        if missing:
            raise OptionError(f"{missing[0]} is not inside both loops: name the `statements` to skew.")
        return others[self.by]


def _sum(row: isl.UnionPwAff, added: isl.UnionPwAff) -> isl.UnionPwAff:
    return row.add(added.intersect_domain(row.domain().universe()))


def skew(
    tree: isl.Schedule, path: Path, member: int, by: int, factor: int = 1
) -> tuple[isl.Schedule, Decision]:
    """``Skew(path, member, by, factor)`` applied to ``tree``.

    >>> rows = '[{ S[t, i] -> [t] }, { S[t, i] -> [i] }]'
    >>> tree = isl.Schedule(f'{{ domain: "{{ S[t, i] }}", child: {{ schedule: "{rows}" }} }}')
    >>> print(skew(tree, (0,), member=1, by=0, factor=2)[0].get_map())
    { S[t, i] -> [t, 2t + i] }
    """
    return Skew(path, member, by, factor).apply(tree)
