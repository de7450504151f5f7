"""Fusion: loops that run one after the other become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.branches import branch_paths, checked_parts, union
from polyviz.transform.move import Move
from polyviz.transform.nest import unwrapped
from polyviz.transform.rows import positive
from polyviz.transform.shape import (
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

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.transform.nest import Rows
    from polyviz.transform.shape import Shape
    from polyviz.transform.tree import Path


@dataclass(frozen=True, slots=True)
class Fuse(Move):
    """Let loops that run one after the other become one, ``depth`` loops deep.

    ``children`` are their positions in the sequence at ``path``, in the order in which they run inside the fused
    loops, which take the place of the first. Iterations with equal values of the loops run together: shift or scale
    first where they should not.
    """

    name: ClassVar[str] = "fuse"
    parts: ClassVar[tuple[str, ...]] = ("children",)
    children: tuple[int, ...] = (0, 1)
    depth: int = 1

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every sequence with two children that begin with loops."""
        return branch_paths(
            tree, lambda branches: sum(isinstance(p.child, Loops) for p in branches.parts) > 1
        )

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """One child in place of several."""
        depth = positive("The number of loops to fuse", self.depth)
        shape = shape_of(tree)
        branches = branches_at(shape, self.path)
        chosen = [branches.parts[place] for place in checked_parts(branches, self.children, 2)]
        _refuse_shared(chosen)
        outer = [_outer(part, depth) for part in chosen]
        inner = [Part(rest, part.instances) for part, (_, rest) in zip(chosen, outer, strict=True)]
        rows = [joined([rows[level] for rows, _ in outer]) for level in range(depth)]
        fused = Part(loops_around(rows, sequence_of(inner)), union(part.instances for part in chosen))
        parts = [
            fused if place == min(self.children) else part
            for place, part in enumerate(branches.parts)
            if place == min(self.children) or place not in self.children
        ]
        changed = with_part(shape, self.path, sequence_of(parts))
        names = statements_in(fused.instances)
        groups = " and ".join(", ".join(statements_in(part.instances)) for part in chosen)
        loops = "loop" if depth == 1 else f"{depth} outermost loops"
        text = f"{groups} share their {loops}."
        details = {"path": self.path, "children": self.children, "depth": depth}
        return tree_of(tree.get_domain(), tidy(changed)), Decision("fuse", text, names, details)


def _outer(part: Part, depth: int) -> tuple[Rows, Shape]:
    """The ``depth`` outermost rows of a child, and the rest of it."""
    rows, inside = unwrapped(part.child)
    names = ", ".join(statements_in(part.instances))
    if not rows:
        raise OptionError(f"{names} has no loop there to fuse: sink it into the loop of the others.")
    if len(rows) < depth:
        raise OptionError(f"{names} has {len(rows)} loops directly inside one another there, not {depth}.")
    kept = [restricted(row, part.instances) for row in rows]
    return tuple(kept[:depth]), loops_around(kept[depth:], inside)


def _refuse_shared(parts: list[Part]) -> None:
    seen: set[str] = set()
    for part in parts:
        names = set(statements_in(part.instances))
        if seen & names:
            raise OptionError(
                f"{min(seen & names)} runs in several of these loops: it was split, and stays so."
            )
        seen |= names
