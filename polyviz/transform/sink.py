"""Code sinking: a statement before or after a loop runs in one iteration of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.branches import branch_paths, checked_parts, union
from polyviz.transform.move import Move
from polyviz.transform.nest import unwrapped
from polyviz.transform.rows import Amount, expression_row, loop_text
from polyviz.transform.shape import (
    Branches,
    Loops,
    Part,
    branches_at,
    joined,
    loops_around,
    restricted,
    sequence_of,
    shape_of,
    statements_in,
    tidy,
    tree_of,
    with_part,
)
from polyviz.transform.tree import Path, node_at

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, slots=True)
class Sink(Move):
    """Move a statement into a loop that runs before or after it, at iteration ``point``.

    ``child`` and ``into`` are positions in the sequence at ``path``; ``point`` is an affine expression over the
    sizes and the iterators of what is moved. It runs before the rest of that iteration if it ran before the loop,
    and after it if it ran after.
    """

    name: ClassVar[str] = "sink"
    parts: ClassVar[tuple[str, ...]] = ("child", "into")
    child: int = 0
    into: int = 1
    point: Amount = 0

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every sequence with a child that begins with a loop."""
        return branch_paths(tree, _has_loop)

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """One child in place of two."""
        shape = shape_of(tree)
        branches = branches_at(shape, self.path)
        moved, target = (
            branches.parts[place] for place in checked_parts(branches, (self.child, self.into), 2)
        )
        rows, inside = unwrapped(target.child)
        moved_names, target_names = statements_in(moved.instances), statements_in(target.instances)
        if not rows:
            raise OptionError(f"{', '.join(target_names)} has no loop there to sink into.")
        domain = node_at(tree, self.path).get_domain().intersect(moved.instances)
        rows = tuple(restricted(row, target.instances) for row in rows)
        shared = joined([rows[0], expression_row(self.point, domain)])
        rest = Part(loops_around(rows[1:], inside), target.instances)
        order = [moved, rest] if self.child < self.into else [rest, moved]
        sunk = Part(loops_around([shared], sequence_of(order)), union([moved.instances, target.instances]))
        parts = [
            sunk if place == self.into else part
            for place, part in enumerate(branches.parts)
            if place != self.child
        ]
        place = f"loop {loop_text(rows[0])} of {', '.join(target_names)}"
        text = f"{', '.join(moved_names)} runs in {place}, at {self.point}."
        details = {"path": self.path, "child": self.child, "into": self.into, "point": self.point}
        changed = with_part(shape, self.path, sequence_of(parts))
        return tree_of(tree.get_domain(), tidy(changed)), Decision("sink", text, moved_names, details)


def _has_loop(branches: Branches) -> bool:
    return any(isinstance(part.child, Loops) for part in branches.parts)
