"""Peeling: the first or last iterations of a loop apart from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.nest import one_band
from polyviz.transform.rows import checked_member, loop_text, positive
from polyviz.transform.split import split_iterations
from polyviz.transform.tree import Path, band_at, bands, members, statements_under

Side = Literal["first", "last"]


@dataclass(frozen=True, slots=True)
class Peel(Move):
    """Take the ``first`` or ``last`` ``count`` iterations out of a loop, each time it runs.

    ``member`` is the loop in the band at ``path``. It never changes the order, and makes guards on the boundary go.
    """

    name: ClassVar[str] = "peel"
    member: int = 0
    count: int = 1
    side: Side = "first"

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band."""
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """A sequence of the peeled iterations and the loop, or the other way round.

        >>> tree = isl.Schedule('{ domain: "{ S[i] : 0 <= i < 9 }", child: { schedule: "[{ S[i] -> [i] }]" } }')
        >>> print(Peel((0,)).apply(tree)[0].get_root().child(0).child(0).filter_get_filter())
        { S[i = 0] }
        """
        count = positive("The number of iterations to peel", self.count)
        if self.side not in ("first", "last"):
            raise OptionError(f"A loop is peeled at its first or its last iterations, not {self.side!r}.")
        band = band_at(tree, self.path)
        row = members(band)[checked_member(tree, self.path, self.member)]
        alone, path = one_band(tree, self.path, self.member, 1)
        reached = _with_neighbour(band_at(alone, path), count if self.side == "first" else -count)
        early = band.get_domain().subtract(reached) if self.side == "first" else reached
        changed = split_iterations(alone, path, 0, early)
        peeled = f"{self.side} iteration" if count == 1 else f"{self.side} {count} iterations"
        text = f"Loop {loop_text(row)} is split from its {peeled}."
        details = {"path": self.path, "member": self.member, "count": count, "side": self.side}
        return changed, Decision("peel", text, statements_under(band), details)


def _with_neighbour(band: isl.ScheduleNode, distance: int) -> isl.UnionSet:
    """The instances with an iteration of the loop at least ``distance`` before theirs (after it if negative)."""
    prefix = band.get_prefix_schedule_multi_union_pw_aff()
    times = prefix.flat_range_product(band.band_get_partial_schedule())
    domain = band.get_domain()
    moments = isl.UnionMap.from_multi_union_pw_aff(times).intersect_domain(domain)
    around = "".join(f"p{position}, " for position in range(prefix.dim(isl.dim_type.out)))
    relation = f"w >= v + {distance}" if distance > 0 else f"w <= v - {-distance}"
    beyond = moments.range().apply(isl.UnionMap(f"{{ [{around}v] -> [{around}w] : {relation} }}"))
    return moments.intersect_range(beyond).domain().coalesce()
