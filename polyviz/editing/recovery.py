"""How to get from the original order to a given one by moves that have names.

The target tree is followed from its root. At each loop the statements under it get a loop with the rows of the target: the
loop that contributes to it comes to the front by interchange, and is scaled, reversed, skewed and shifted; statements
that share loops but need different ones are distributed before, and fused, or sunk where they have no loop of their
own, afterwards. At each sequence the loops around it are distributed. Every step is an ordinary move; whether the
orders in between are legal is not asked here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from polyviz.editing.binding import bind
from polyviz.editing.places import Loop, Places, places_of
from polyviz.editing.vectors import Vector, combination, vector_of
from polyviz.transform.shape import Branches, Loops, Marked, Shape, loops_at, shape_of, statements_in

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


class Change(NamedTuple):
    """What one loop needs to get a row of the target: factors of other loops, by their depth, and the rest."""

    scale: int
    skews: tuple[tuple[int, int], ...]
    shift: str


@dataclass(slots=True)
class Recovery:
    """The tree on its way, and the moves so far.

    ``finished`` counts, per statement, the outermost loops that already are those of the target; ``rank`` is the place of
    each statement in the order of the target's leaves; ``targets`` all rows of each statement there.
    """

    scop: Scop
    tree: isl.Schedule
    rank: dict[str, int]
    targets: dict[str, list[Vector | None]]
    steps: list[NamedStep] = field(default_factory=list)
    finished: dict[str, int] = field(default_factory=dict)
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        self.places = places_of(self.tree)
        self.finished = dict.fromkeys(self.rank, 0)

    def do(self, name: str, at: Address | None = None, **arguments: Any) -> None:
        """Make one move and write it down."""
        bound = bind(self.tree, name, at, arguments, lambda tree: tree)
        self.tree, decision = bound.move.apply(bound.tree)
        self.places = places_of(self.tree)
        self.steps.append(NamedStep(bound.move.name, bound.at, dict(bound.arguments), decision, self.tree))

    def reach(self, target: Shape, statements: Names) -> None:
        """Give the subtree of ``statements`` the form of ``target``; raises ``UnreachableError``."""
        if isinstance(target, Marked):
            self.reach(target.child, statements)
        elif isinstance(target, Loops):
            for row in target.rows:
                self._row({name: _plain(row, name) for name in statements})
            self.reach(target.child, statements)
        elif isinstance(target, Branches):
            groups = [statements_in(part.instances) for part in target.parts]
            if sorted(name for group in groups for name in group) != sorted(statements):
                raise UnreachableError("a statement runs at several places of the tree")
            self._separate(groups)
            for part, group in zip(target.parts, groups, strict=True):
                self.reach(part.child, group)

    def _row(self, wanted: dict[str, Vector]) -> None:
        """Make the next loop of all statements the one with the rows ``wanted``."""
        if all(self._needs_no_loop(name, vector) for name, vector in wanted.items()):
            if len({vector.text(self.scop.statement(name).iterators) for name, vector in wanted.items()}) > 1:
                raise UnreachableError("a loop orders statements that have no iterations left to order")
            return
        self._bring(tuple(sorted(wanted, key=self.rank.__getitem__)), wanted)
        for name in wanted:
            self.finished[name] += 1

    def _bring(self, statements: Names, wanted: dict[str, Vector]) -> None:
        """Let ``statements`` share one loop with the rows ``wanted``, directly inside what is finished."""
        if self._is_shared(statements):
            if self._front(statements, wanted):
                return
            self._distribute(statements, [(name,) for name in statements])
        for group in self._children(statements):
            if not all(self._needs_no_loop(name, wanted[name]) for name in group):
                self._bring(group, wanted)
        self._join(statements, wanted)

    def _front(self, statements: Names, wanted: dict[str, Vector]) -> bool:
        """Bring the contributing loop to the front and give it its rows; False when the statements differ in it."""
        if any(self._needs_no_loop(name, wanted[name]) for name in statements):
            return False
        places = {name: self._pivot(name, wanted[name]) for name in statements}
        keys = {self._remaining(name)[place].key for name, place in places.items()}
        if len(keys) > 1:
            return False
        place = next(iter(places.values()))
        if place:
            loops = [self.places.address(loop) for loop in self._remaining(statements[0])[: place + 1]]
            self.do("interchange", order=(loops[-1], *loops[:-1]))
        self._change(statements, wanted)
        return True

    def _change(self, statements: Names, wanted: dict[str, Vector]) -> None:
        changes: dict[Change, list[str]] = {}
        for name in statements:
            changes.setdefault(self._needed(name, wanted[name]), []).append(name)
        for change, names in changes.items():
            self._apply_change(change, names, () if len(changes) == 1 else tuple(names))

    def _apply_change(self, change: Change, names: Sequence[str], only: Names) -> None:
        restriction: dict[str, Any] = {"statements": only} if only else {}
        depth = self.finished[names[0]]
        if abs(change.scale) > 1:
            self.do("scale", self._address(names[0], depth), factor=abs(change.scale), **restriction)
        if change.scale < 0:
            self.do("reversal", self._address(names[0], depth), **restriction)
        for other, factor in change.skews:
            by = self._address(names[0], other)
            self.do("skew", self._address(names[0], depth), by=by, factor=factor, **restriction)
        if change.shift != "0":
            amount = int(change.shift) if change.shift.lstrip("-").isdecimal() else change.shift
            self.do("shift", self._address(names[0], depth), amount=amount, **restriction)

    def _needed(self, name: str, wanted: Vector) -> Change:
        """What turns the next loop of ``name`` into ``wanted``."""
        vectors = [self._vector(loop, name) for loop in self._loops(name)]
        factors = combination(wanted, vectors)
        if factors is None:
            raise UnreachableError(f"a row of {name} is no whole combination of its loops")
        rest = wanted
        for vector, factor in zip(vectors, factors, strict=True):
            rest = rest.minus(vector, factor)
        here = self.finished[name]
        skews = tuple((depth, factor) for depth, factor in enumerate(factors) if factor and depth != here)
        return Change(factors[here], skews, rest.text(self.scop.statement(name).iterators))

    def _pivot(self, name: str, wanted: Vector) -> int:
        """Which of the remaining loops of ``name`` becomes the one with the row ``wanted``.

        The fewest changes are needed for one with the factor 1 or -1 that the target does not have as it is further inside.
        """
        factors = self._remaining_factors(name, wanted)
        found = [place for place, factor in enumerate(factors) if factor]
        found = [place for place in found if abs(factors[place]) == 1] or found
        remaining = self._remaining(name)
        later = self.targets[name]
        return min(
            found, key=lambda place: (self._vector(remaining[place], name) in later and len(found) > 1, place)
        )

    def _needs_no_loop(self, name: str, wanted: Vector) -> bool:
        return not any(self._remaining_factors(name, wanted))

    def _remaining_factors(self, name: str, wanted: Vector) -> tuple[int, ...]:
        vectors = [self._vector(loop, name) for loop in self._loops(name)]
        factors = combination(wanted, vectors)
        if factors is None:
            raise UnreachableError(f"a row of {name} is no whole combination of its loops")
        return factors[self.finished[name] :]

    def _join(self, statements: Names, wanted: dict[str, Vector]) -> None:
        """Fuse the children of a sequence, after the statements without a loop were sunk into their neighbours."""
        groups = self._sorted(statements)
        with_loop = [
            group for group in groups if not all(self._needs_no_loop(name, wanted[name]) for name in group)
        ]
        for group in groups[: groups.index(with_loop[0])][::-1]:
            self._sink(group, with_loop[0], wanted)
        host = with_loop[0]
        for group in groups[groups.index(host) + 1 :]:
            if group in with_loop:
                host = group
            else:
                self._sink(group, host, wanted)
        if len(with_loop) > 1:
            self.do("fuse", children=tuple(group[0] for group in with_loop))

    def _sink(self, group: Names, host: Names, wanted: dict[str, Vector]) -> None:
        points = {wanted[name].text(self.scop.statement(name).iterators) for name in group}
        if len(points) > 1:
            raise UnreachableError("statements that share loops would have to run at different iterations")
        self.do("sink", child=group[0], into=host[0], point=points.pop())

    def _sorted(self, statements: Names) -> list[Names]:
        """The children of the sequence that hold ``statements``, in the order of the target."""
        groups = sorted(self._children(statements), key=lambda group: min(map(self.rank.__getitem__, group)))
        self._reorder([group[0] for group in groups])
        return groups

    def _reorder(self, first: Sequence[str]) -> None:
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

    def _separate(self, groups: Sequence[Names]) -> None:
        """Let the groups run one after the other, directly inside what is finished."""
        statements = tuple(name for group in groups for name in group)
        if self._is_shared(statements):
            self._distribute(statements, groups)
            return
        for child in self._children(statements):
            inside = [tuple(name for name in group if name in child) for group in groups]
            inside = [group for group in inside if group]
            if len(inside) > 1:
                self._distribute(child, inside)
        self._reorder(
            [child[0] for group in groups for child in self._children(statements) if set(child) <= set(group)]
        )

    def _distribute(self, statements: Names, groups: Sequence[Names]) -> None:
        """Distribute the loops that ``statements`` share, and those inside where a group needs it."""
        loop = self._remaining(statements[0])[0]
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
        self._distribute(statements, groups)
        self.finished.update(before)

    def _common_depth(self, statements: Names) -> int:
        """How many loops surround all of ``statements`` and something else: the first loop of their own comes next."""
        for depth, loop in enumerate(self._loops(statements[0])):
            if set(loop.names) == set(statements):
                return depth
        raise UnreachableError("statements share no loop that could be distributed")

    def _distribute_loop(self, statements: Names, groups: Sequence[Names]) -> None:
        loop = self._remaining(statements[0])[0]
        children = self.places.sequences[self.places.sequence_in(loop.path)]
        named = tuple(tuple(child[0] for child in children if set(child) <= set(group)) for group in groups)
        alone = [(child[0],) for child in children]
        arguments = {} if list(named) == alone else {"groups": named}
        self.do("distribute", self.places.address(loop), **arguments)

    def _is_shared(self, statements: Names) -> bool:
        """Whether all of ``statements``, and nothing else, are in one loop directly inside what is finished."""
        remaining = self._remaining(statements[0])
        return bool(remaining) and set(remaining[0].names) == set(statements)

    def _children(self, statements: Iterable[str]) -> list[Names]:
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

    def _loops(self, name: str) -> list[Loop]:
        return [loop for loop in self.places.loops if name in loop.names]

    def _remaining(self, name: str) -> list[Loop]:
        return self._loops(name)[self.finished[name] :]

    def _address(self, name: str, depth: int) -> str:
        return self.places.address(self._loops(name)[depth])

    def _vector(self, loop: Loop, name: str) -> Vector:
        row = loops_at(shape_of(self.tree), loop.path).rows[loop.member]
        return _plain(row, name)


def _plain(row: isl.UnionPwAff, name: str) -> Vector:
    vector = vector_of(row, name)
    if vector is None:
        raise UnreachableError(f"a row of {name} is no plain affine function")
    return vector
