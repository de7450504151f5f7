"""How to get from the original order to a given one by moves that have names.

The target tree is followed from its root. At each loop the statements under it get a loop with the rows of the target:
the loop that contributes to it comes to the front by interchange, and is scaled, reversed, skewed and shifted;
statements that share loops but need different ones are distributed before, and fused, or sunk where they have no loop
of their own, afterwards. At each sequence the loops around it are distributed. Every step is an ordinary move;
whether the orders in between are legal is not asked here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from polyviz.editing.vectors import Vector, combination
from polyviz.editing.walk import Names, UnreachableError, Walk, plain_vector
from polyviz.errors import OptionError
from polyviz.transform.shape import Branches, Loops, Marked, Shape, statements_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import islpy as isl

Row = dict[str, Vector]
"""What the value of a loop is for each statement."""


class Change(NamedTuple):
    """What one loop needs to get a row of the target: factors of other loops, by their depth, and the rest."""

    scale: int
    skews: tuple[tuple[int, int], ...]
    shift: str


@dataclass(slots=True, kw_only=True)
class Recovery(Walk):
    """The way to one target: ``targets`` are all its rows per statement, ``is_legal`` judges an order in between."""

    targets: dict[str, list[Vector | None]]
    is_legal: Callable[[isl.Schedule], bool]

    def reach(self, target: Shape, statements: Names) -> None:
        """Give the subtree of ``statements`` the form of ``target``; raises ``UnreachableError``."""
        if isinstance(target, Marked):
            self.reach(target.child, statements)
        elif isinstance(target, Loops):
            self._band([{name: plain_vector(row, name) for name in statements} for row in target.rows])
            self.reach(target.child, statements)
        elif isinstance(target, Branches):
            groups = [statements_in(part.instances) for part in target.parts]
            if sorted(name for group in groups for name in group) != sorted(statements):
                raise UnreachableError("a statement runs at several places of the tree")
            self._separate(groups)
            for part, group in zip(target.parts, groups, strict=True):
                self.reach(part.child, group)

    def _band(self, rows: Sequence[Row]) -> None:
        """Make the next loops of all statements those with ``rows``.

        Where they are the loops of the source in another order there are two ways: to change the order for every
        statement alone, or first to let all of them share the loops and then to interchange these. The one with fewer
        illegal orders is taken, and of two alike the shorter one.
        """
        order = self._source_order(rows)
        if order == sorted(order):
            for row in rows:
                self._row(row)
            return
        trials = [self._copy(), self._copy()]
        costs = [trials[0]._cost_of(rows, range(len(rows))), trials[1]._cost_of(rows, order)]
        best = trials[costs.index(min(costs))]
        self.steps, self.finished, self.tree, self.places = best.steps, best.finished, best.tree, best.places

    def _cost_of(self, rows: Sequence[Row], order: Sequence[int]) -> tuple[int, int, int]:
        """Reach ``rows`` in ``order``, then interchange; whether that fails, illegal orders, and moves."""
        known = len(self.steps)
        depths = []
        try:
            for place in order:
                depths.append(self.finished[next(iter(rows[0]))])
                self._row(rows[place])
            if list(order) != sorted(order):
                self._interchange_finished(
                    next(iter(rows[0])), [depths[order.index(place)] for place in sorted(order)]
                )
        except (UnreachableError, OptionError):
            return 1, 0, 0
        new = self.steps[known:]
        return 0, sum(not self.is_legal(step.tree) for step in new), len(new)

    def _interchange_finished(self, name: str, depths: Sequence[int]) -> None:
        if len(set(depths)) < len(depths) or max(depths) >= self.finished[name]:
            raise UnreachableError("a row of the target needs no loop")
        self.do("interchange", order=tuple(self.address(name, depth) for depth in depths))

    def _copy(self) -> Recovery:
        twin = replace(self, steps=list(self.steps))
        twin.finished = dict(self.finished)
        return twin

    def _source_order(self, rows: Sequence[Row]) -> list[int]:
        """``rows`` in the order in which the loops that contribute to them stand now.

        That is the order of the statement with the most loops; unchanged where it has fewer loops than there are rows.
        """
        name = max(rows[0], key=lambda one: len(self.remaining(one)))
        taken: list[int] = []
        for row in rows:
            factors = self._remaining_factors(name, row[name])
            free = [place for place, factor in enumerate(factors) if factor and place not in taken]
            if not free:
                return list(range(len(rows)))
            taken.append(self._pivot(name, row[name]) if len(free) > 1 else free[0])
        if len(set(taken)) < len(taken):
            return list(range(len(rows)))
        return sorted(range(len(rows)), key=taken.__getitem__)

    def _row(self, wanted: Row) -> None:
        """Make the next loop of all statements the one with the rows ``wanted``."""
        if all(self._needs_no_loop(name, vector) for name, vector in wanted.items()):
            if len({vector.text(self.scop.statement(name).iterators) for name, vector in wanted.items()}) > 1:
                raise UnreachableError("a loop orders statements that have no iterations left to order")
            return
        self._bring(tuple(sorted(wanted, key=self.rank.__getitem__)), wanted)
        for name in wanted:
            self.finished[name] += 1

    def _bring(self, statements: Names, wanted: Row) -> None:
        """Let ``statements`` share one loop with the rows ``wanted``, directly inside what is finished."""
        if self.is_shared(statements):
            if self._front(statements, wanted):
                return
            self.distribute(statements, [(name,) for name in statements])
        for group in self.children(statements):
            if not all(self._needs_no_loop(name, wanted[name]) for name in group):
                self._bring(group, wanted)
        self._join(statements, wanted)

    def _front(self, statements: Names, wanted: Row) -> bool:
        """Bring the contributing loop to the front and give it its rows; False when the statements differ in it."""
        if any(self._needs_no_loop(name, wanted[name]) for name in statements):
            return False
        places = {name: self._pivot(name, wanted[name]) for name in statements}
        keys = {self.remaining(name)[place].key for name, place in places.items()}
        if len(keys) > 1:
            return False
        place = next(iter(places.values()))
        if place:
            loops = [self.places.address(loop) for loop in self.remaining(statements[0])[: place + 1]]
            self.do("interchange", order=(loops[-1], *loops[:-1]))
        self._change(statements, wanted)
        return True

    def _change(self, statements: Names, wanted: Row) -> None:
        changes: dict[Change, list[str]] = {}
        for name in statements:
            changes.setdefault(self._needed(name, wanted[name]), []).append(name)
        for change, names in changes.items():
            self._apply_change(change, names, () if len(changes) == 1 else tuple(names))

    def _apply_change(self, change: Change, names: Sequence[str], only: Names) -> None:
        restriction: dict[str, Any] = {"statements": only} if only else {}
        depth = self.finished[names[0]]
        if abs(change.scale) > 1:
            self.do("scale", self.address(names[0], depth), factor=abs(change.scale), **restriction)
        if change.scale < 0:
            self.do("reversal", self.address(names[0], depth), **restriction)
        for other, factor in change.skews:
            by = self.address(names[0], other)
            self.do("skew", self.address(names[0], depth), by=by, factor=factor, **restriction)
        if change.shift != "0":
            amount = int(change.shift) if change.shift.lstrip("-").isdecimal() else change.shift
            self.do("shift", self.address(names[0], depth), amount=amount, **restriction)

    def _needed(self, name: str, wanted: Vector) -> Change:
        """What turns the next loop of ``name`` into ``wanted``."""
        vectors = [self.vector(loop, name) for loop in self.loops(name)]
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

        Fewest changes are needed for one with the factor 1 or -1 that the target does not have as it is further inside.
        """
        factors = self._remaining_factors(name, wanted)
        found = [place for place, factor in enumerate(factors) if factor]
        found = [place for place in found if abs(factors[place]) == 1] or found
        later = {vector.factors for vector in self.targets[name] if vector is not None}
        loops = [self.vector(loop, name) for loop in self.remaining(name)]
        kept = {place for place in found if {loops[place].factors, loops[place].negated()} & later}
        return min(found, key=lambda place: (place in kept and len(found) > 1, place))

    def _needs_no_loop(self, name: str, wanted: Vector) -> bool:
        return not any(self._remaining_factors(name, wanted))

    def _remaining_factors(self, name: str, wanted: Vector) -> tuple[int, ...]:
        vectors = [self.vector(loop, name) for loop in self.loops(name)]
        factors = combination(wanted, vectors)
        if factors is None:
            raise UnreachableError(f"a row of {name} is no whole combination of its loops")
        return factors[self.finished[name] :]

    def _join(self, statements: Names, wanted: Row) -> None:
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
            self.fuse(tuple(group[0] for group in with_loop))

    def _sink(self, group: Names, host: Names, wanted: Row) -> None:
        points = {wanted[name].text(self.scop.statement(name).iterators) for name in group}
        if len(points) > 1:
            raise UnreachableError("statements that share loops would have to run at different iterations")
        self.do("sink", child=group[0], into=host[0], point=points.pop())

    def _sorted(self, statements: Names) -> list[Names]:
        """The children of the sequence that hold ``statements``, in the order of the target."""
        groups = sorted(self.children(statements), key=lambda group: min(map(self.rank.__getitem__, group)))
        self.reorder([group[0] for group in groups])
        return groups

    def _separate(self, groups: Sequence[Names]) -> None:
        """Let the groups run one after the other, directly inside what is finished."""
        statements = tuple(name for group in groups for name in group)
        if self.is_shared(statements):
            self.distribute(statements, groups)
            return
        for child in self.children(statements):
            inside = [tuple(name for name in group if name in child) for group in groups]
            inside = [group for group in inside if group]
            if len(inside) > 1:
                self.distribute(child, inside)
        self.reorder(
            [child[0] for group in groups for child in self.children(statements) if set(child) <= set(group)]
        )
