"""Reordering: the children of a sequence run in another order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.branches import branch_paths
from polyviz.transform.move import Move
from polyviz.transform.shape import (
    Branches,
    branches_at,
    shape_of,
    statements_in,
    tree_of,
    with_part,
)
from polyviz.transform.tree import Path, node_at, statements_under

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, slots=True)
class Reorder(Move):
    """Run what stands one after the other in another order.

    Position ``k`` of the sequence at ``path`` gets the child that was at ``order[k]``.
    """

    name: ClassVar[str] = "reorder"
    parts: ClassVar[tuple[str, ...]] = ("order",)
    order: tuple[int, ...] = ()

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every sequence."""
        return branch_paths(tree, lambda branches: len(branches.parts) > 1)

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The sequence in the new order."""
        shape = shape_of(tree)
        branches = branches_at(shape, self.path)
        if sorted(self.order) != list(range(len(branches.parts))):
            raise OptionError(
                f"{self.order} is no order of the {len(branches.parts)} children of the sequence at {self.path}."
            )
        parts = tuple(branches.parts[place] for place in self.order)
        changed = with_part(shape, self.path, Branches(parts, branches.ordered))
        names = [", ".join(statements_in(part.instances)) for part in parts]
        text = f"The order is {', then '.join(names)}."
        details = {"path": self.path, "order": self.order}
        decision = Decision("reorder", text, statements_under(node_at(tree, self.path)), details)
        return tree_of(tree.get_domain(), changed), decision
