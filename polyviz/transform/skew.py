"""Skewing: one loop shifted along another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.tree import Path, band_at, bands, members, replace_rows, statements_under


@dataclass(frozen=True, slots=True)
class Skew(Move):
    """Add ``factor`` times the loop ``by`` to the loop ``member`` of the band at ``path`` (counted from 0).

    Adding an outer loop to an inner one never changes the order; the other way round it may.
    """

    name: ClassVar[str] = "skew"
    loops: ClassVar[tuple[str, ...]] = ("by",)
    member: int = 1
    by: int = 0
    factor: int = 1

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band of two and more loops."""
        return tuple(path for path, band in bands(tree) if band.band_n_member() > 1)

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The band with one row changed; whether its loops are parallel has to be found out again."""
        band = band_at(tree, self.path)
        rows = list(members(band))
        if self.member == self.by or not {self.member, self.by} <= set(range(len(rows))):
            raise OptionError(f"Among {len(rows)} loops, {self.member} cannot be skewed by {self.by}.")
        rows[self.member] = rows[self.member].add(rows[self.by].scale_val(isl.Val(self.factor)))
        changed = replace_rows(tree, self.path, rows)
        node = band_at(changed, self.path).band_set_permutable(0)
        text = f"Loop {self.member + 1} at {self.path} is skewed by {self.factor} times loop {self.by + 1}."
        details = {"path": self.path, "member": self.member, "by": self.by, "factor": self.factor}
        return node.get_schedule(), Decision("skew", text, statements_under(band), details)


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
