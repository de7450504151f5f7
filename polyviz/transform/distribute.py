"""Distribution: what shares a loop gets loops of its own, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.branches import union
from polyviz.transform.move import Move
from polyviz.transform.nest import unwrapped
from polyviz.transform.rows import checked_member, loop_text
from polyviz.transform.shape import (
    Branches,
    Part,
    loops_around,
    loops_at,
    restricted,
    sequence_of,
    shape_of,
    statements_in,
    tidy,
    tree_of,
    with_part,
)
from polyviz.transform.tree import Path, band_at, bands, statements_under

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, slots=True)
class Distribute(Move):
    """Give statements that share a loop loops of their own, one after the other.

    Distributed are ``member`` of the band at ``path`` and all loops inside it. The sequence is the one directly
    inside these loops. ``groups`` holds the positions of the children that stay together, in the order in which the
    groups shall run; without it every child is on its own.
    """

    name: ClassVar[str] = "distribute"
    parts: ClassVar[tuple[str, ...]] = ("groups",)
    member: int = 0
    groups: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band with a sequence directly inside its nest."""
        shape = shape_of(tree)
        return tuple(
            path for path, _ in bands(tree) if isinstance(unwrapped(loops_at(shape, path))[1], Branches)
        )

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """A sequence of loops in place of loops around a sequence."""
        band = band_at(tree, self.path)
        checked_member(tree, self.path, self.member)
        shape = shape_of(tree)
        rows, inside = unwrapped(loops_at(shape, self.path))
        if not isinstance(inside, Branches):
            raise OptionError(
                f"Loop {loop_text(rows[self.member])} holds no sequence that it could be distributed over."
            )
        groups = self.groups or tuple((place,) for place in range(len(inside.parts)))
        if sorted(place for group in groups for place in group) != list(range(len(inside.parts))):
            raise OptionError(
                f"{groups} does not put each of the {len(inside.parts)} children into one group."
            )
        own = [_own_loops(rows[self.member :], [inside.parts[place] for place in group]) for group in groups]
        changed = with_part(shape, self.path, loops_around(rows[: self.member], sequence_of(own)))
        names = [", ".join(statements_in(part.instances)) for part in own]
        text = f"Loop {loop_text(rows[self.member])} is distributed: {' | '.join(names)}."
        details = {"path": self.path, "member": self.member, "groups": groups}
        decision = Decision("distribute", text, statements_under(band), details)
        return tree_of(tree.get_domain(), tidy(changed)), decision


def _own_loops(rows: tuple[isl.UnionPwAff, ...], parts: list[Part]) -> Part:
    instances = union(part.instances for part in parts)
    return Part(loops_around([restricted(row, instances) for row in rows], sequence_of(parts)), instances)
