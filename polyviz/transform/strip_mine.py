"""Strip-mining: one loop becomes a loop over strips around a loop inside each strip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import checked_member, loop_text, positive
from polyviz.transform.tile import tile_band
from polyviz.transform.tree import Path, band_at, bands, isolate_member, members, statements_under

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, slots=True)
class StripMine(Move):
    """Cut a loop into strips of ``size`` iterations: a tile of one loop, which never changes the order.

    ``member`` is the loop in the band at ``path``.
    """

    name: ClassVar[str] = "strip-mine"
    member: int = 0
    size: int = 32

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band."""
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """Two bands, under marks as those of a tile, in place of the loop.

        >>> import islpy as isl
        >>> tree = isl.Schedule('{ domain: "{ S[i] : 0 <= i < 9 }", child: { schedule: "[{ S[i] -> [i] }]" } }')
        >>> print(StripMine((0,), size=4).apply(tree)[0].get_map())
        { S[i] -> [o0, i] : -3 + i <= 4o0 <= i }
        """
        size = positive("A strip", self.size)
        band = band_at(tree, self.path)
        row = members(band)[checked_member(tree, self.path, self.member)]
        alone, path = isolate_member(tree, self.path, self.member)
        changed, _ = tile_band(alone, path, (size,))
        text = f"Loop {loop_text(row)} runs in strips of {size}."
        details = {"path": self.path, "member": self.member, "size": size}
        return changed, Decision("strip-mine", text, statements_under(band), details)
