"""A tree on its way to another one: moves made and written down, and what stands where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from polyviz.editing.binding import bind
from polyviz.editing.places import Loop, Places, places_of
from polyviz.editing.vectors import Vector, vector_of
from polyviz.transform.shape import loops_at, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import islpy as isl

    from polyviz.editing.binding import Address
    from polyviz.model.schedule import Decision
    from polyviz.model.scop import Scop

Names = tuple[str, ...]


class UnreachableError(Exception):
    """The target has something that no sequence of named moves is known for; the message says what."""


class NamedStep(NamedTuple):
    """A move by its words, what it decided, and the tree after it."""

    name: str
    at: str | None
    arguments: dict[str, Any]
    decision: Decision
    tree: isl.Schedule


@dataclass(slots=True)
class Walk:
    """The tree, the moves so far, and how far each statement has come.

    ``finished`` counts, per statement, the outermost loops that already are those of the target; ``rank`` is the place
    of each statement in the order of the target's leaves.
    """

    scop: Scop
    tree: isl.Schedule
    rank: dict[str, int]
    steps: list[NamedStep] = field(default_factory=list)
    finished: dict[str, int] = field(default_factory=dict)
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        self.places = places_of(self.tree)
        self.finished = dict.fromkeys(self.rank, 0)

    def do(self, name: str, at: Address | None = None, **arguments: Any) -> None:
        """Make one move and write it down."""
        step = _made(self.tree, name, at, arguments)
        self.steps.append(step)
        self.tree, self.places = step.tree, places_of(step.tree)

    def fuse(self, children: Names) -> None:
        """Fuse one more loop of ``children``; if their outer loops were fused just now, that is one move."""
        last = self.steps[-1] if self.steps else None
        if last is None or last.name != "fuse" or last.arguments["children"] != children:
            self.do("fuse", children=children)
            return
        before = self.steps[-2].tree if len(self.steps) > 1 else self.scop.schedule
        self.steps.pop()
        self.tree, self.places = before, places_of(before)
        self.do("fuse", children=children, depth=last.arguments.get("depth", 1) + 1)

    def reorder(self, first: Sequence[str]) -> None:
        """Put the children that hold these statements into this order, the others of their sequence stay."""
        path = self.places.sequence(first)
        children = self.places.sequences[path]
        homes = [next(place for place, names in enumerate(children) if name in names) for name in first]
        if homes == sorted(homes):
            return
        order = [names[0] for names in children]
        for place, name in zip(sorted(homes), first, strict=True):
            order[place] = name
        self.do("reorder", order=tuple(order))

    def distribute(self, statements: Names, groups: Sequence[Names]) -> None:
        """Distribute the loops that ``statements`` share, and those inside where a group needs it."""
        loop = self.remaining(statements[0])[0]
        inner = self.places.sequences[self.places.sequence_in(loop.path)]
        for child in inner:
            parts = [tuple(name for name in group if name in child) for group in groups]
            parts = [part for part in parts if part]
            if len(parts) > 1:
                self._distribute_inside(child, parts)
        self._distribute_loop(statements, groups)

    def _distribute_inside(self, statements: Names, groups: Sequence[Names]) -> None:
        """The same for statements that share further loops inside the first sequence."""
        before = dict(self.finished)
        outer = self._common_depth(statements)
        for name in statements:
            self.finished[name] = outer
        self.distribute(statements, groups)
        self.finished.update(before)

    def _common_depth(self, statements: Names) -> int:
        """How many loops surround all of ``statements`` and something else: the first loop of their own comes next."""
        for depth, loop in enumerate(self.loops(statements[0])):
            if set(loop.names) == set(statements):
                return depth
        raise UnreachableError("statements share no loop that could be distributed")

    def _distribute_loop(self, statements: Names, groups: Sequence[Names]) -> None:
        loop = self.remaining(statements[0])[0]
        children = self.places.sequences[self.places.sequence_in(loop.path)]
        named = tuple(tuple(child[0] for child in children if set(child) <= set(group)) for group in groups)
        alone = [(child[0],) for child in children]
        arguments = {} if list(named) == alone else {"groups": named}
        self.do("distribute", self.places.address(loop), **arguments)

    def is_shared(self, statements: Names) -> bool:
        """Whether all of ``statements``, and nothing else, are in one loop directly inside what is finished."""
        remaining = self.remaining(statements[0])
        return bool(remaining) and set(remaining[0].names) == set(statements)

    def children(self, statements: Iterable[str]) -> list[Names]:
        """``statements`` by the loop that they are in directly inside what is finished, in the order of the tree."""
        wanted = set(statements)
        if len(wanted) < 2:
            return [tuple(wanted)]
        path = self._sequence_of(wanted)
        inside = (tuple(name for name in child if name in wanted) for child in self.places.sequences[path])
        return [child for child in inside if child]

    def _sequence_of(self, statements: set[str]) -> tuple[int, ...]:
        """The outermost sequence that runs ``statements`` in more than one child."""
        fitting = [
            path
            for path, children in self.places.sequences.items()
            if sum(bool(statements & set(child)) for child in children) > 1
        ]
        return min(fitting, key=len)

    def loops(self, name: str) -> list[Loop]:
        """The loops around a statement, outermost first."""
        return [loop for loop in self.places.loops if name in loop.names]

    def remaining(self, name: str) -> list[Loop]:
        """Those of its loops that are not yet the target's."""
        return self.loops(name)[self.finished[name] :]

    def address(self, name: str, depth: int) -> str:
        """What the loop with ``depth`` others around it is called."""
        return self.places.address(self.loops(name)[depth])

    def vector(self, loop: Loop, name: str) -> Vector:
        """What the value of ``loop`` is for a statement; raises ``UnreachableError`` for no plain affine function."""
        row = loops_at(shape_of(self.tree), loop.path).rows[loop.member]
        return plain_vector(row, name)


def _made(tree: isl.Schedule, name: str, at: Address | None, arguments: dict[str, Any]) -> NamedStep:
    bound = bind(tree, name, at, arguments, lambda changed: changed)
    changed, decision = bound.move.apply(bound.tree)
    return NamedStep(bound.move.name, bound.at, dict(bound.arguments), decision, changed)


def plain_vector(row: isl.UnionPwAff, name: str) -> Vector:
    """``row`` for the statement ``name``; raises ``UnreachableError`` when it is no plain affine function."""
    vector = vector_of(row, name)
    if vector is None:
        raise UnreachableError(f"a row of {name} is no plain affine function")
    return vector
