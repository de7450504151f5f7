"""Unroll-and-jam: several iterations of an outer loop share the loops inside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.plan import UNROLL
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.nest import nested_bands, unwrapped
from polyviz.transform.rows import checked_member, loop_text, unroll_factor
from polyviz.transform.shape import Marked, loops_around, loops_at, shape_of, tree_of, with_part
from polyviz.transform.tree import Path, band_at, members, statements_under

if TYPE_CHECKING:
    from polyviz.transform.shape import Shape


@dataclass(frozen=True, slots=True)
class UnrollAndJam(Move):
    """Run ``factor`` iterations of a loop together in the body of the innermost loop of its nest.

    ``member`` is the loop in the band at ``path``. It is cut into strips, and the loop inside a strip moves to the
    innermost place, unrolled: what the iterations have in common is loaded once. Legal when that loop may be
    moved there.
    """

    name: ClassVar[str] = "unroll-and-jam"
    member: int = 0
    factor: int = 4

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band from which on two loops are directly inside one another."""
        return nested_bands(tree)

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """Strips around the inner loops around the unrolled loop."""
        factor = unroll_factor(self.factor)
        band = band_at(tree, self.path)
        row = members(band)[checked_member(tree, self.path, self.member)]
        shape = shape_of(tree)
        rows, inside = unwrapped(loops_at(shape, self.path))
        inner = rows[self.member + 1 :]
        if not inner:
            raise OptionError(f"Loop {loop_text(row)} has no loop directly inside it: unroll it instead.")
        strips = row.scale_down_val(isl.Val(factor)).floor()
        copies = Marked(loops_around([row], inside), f"{UNROLL}:{factor}")
        points: Shape = Marked(loops_around(inner, copies), "point")
        jammed = loops_around(rows[: self.member], Marked(loops_around([strips], points), "tile"))
        text = f"{factor} iterations of loop {loop_text(row)} run together inside {loop_text(inner[-1])}."
        details = {"path": self.path, "member": self.member, "factor": factor}
        changed = tree_of(tree.get_domain(), with_part(shape, self.path, jammed))
        return changed, Decision("unroll-and-jam", text, statements_under(band), details)
