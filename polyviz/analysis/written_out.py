"""Loops of a known, small number of iterations written out: a copy of each statement for each of them.

A copy stands where its iteration stood, at the same place of the source, so that the order of everything stays what it
is; only the subscripts that moved with the loop are numbers now.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

import islpy as isl

from polyviz.analysis.nesting import Kind, node_kind
from polyviz.analysis.times import sets_of
from polyviz.model.expression import Binary, Constant, Element, rebuild, rewritten, substitute
from polyviz.model.isl_callbacks import interrupts_afterwards
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.model.expression import Expression, Node
    from polyviz.model.scop import Access, Scop, Statement

_T = TypeVar("_T")
Values = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """``statement`` called ``name``, for the ``values`` of its iterators at ``positions``."""

    statement: Statement
    name: str
    positions: tuple[int, ...]
    values: Values

    def domain(self) -> isl.Set:
        """The instances of the copy, by the iterators that are left."""
        found = self.statement.domain
        for position, value in self._from_the_last():
            found = found.fix_val(isl.dim_type.set, position, value)
            found = found.project_out(isl.dim_type.set, position, 1)
        return found.set_tuple_name(self.name)

    def made(self) -> Statement:
        """The copy as a statement of its own."""
        known: dict[str, Expression] = {
            self.statement.iterators[position]: Constant(value)
            for position, value in zip(self.positions, self.values, strict=True)
        }
        return replace(
            self.statement,
            name=self.name,
            iterators=self._kept(self.statement.iterators),
            domain=self.domain(),
            accesses=tuple(map(self._access, self.statement.accesses)),
            body=rewritten(self.statement.body, lambda node: _folded(substitute(node, known))),
            loop_spans=self._kept(self.statement.loop_spans),
        )

    def origin(self) -> isl.Map:
        """The instances of the copy, each to the one that it stands for."""
        own = isl.Map.identity(self.statement.domain.get_space().map_from_set())
        own = own.intersect_domain(self.statement.domain)
        return self._mapped(own)

    def _access(self, access: Access) -> Access:
        return access.mapped(self._mapped)

    def _mapped(self, relation: isl.Map) -> isl.Map:
        for position, value in self._from_the_last():
            relation = relation.fix_val(isl.dim_type.in_, position, value)
            relation = relation.project_out(isl.dim_type.in_, position, 1)
        return relation.set_tuple_name(isl.dim_type.in_, self.name)

    def _from_the_last(self) -> list[tuple[int, int]]:
        return sorted(zip(self.positions, self.values, strict=True), reverse=True)

    def _kept(self, by_loop: Sequence[_T]) -> tuple[_T, ...]:
        return tuple(one for position, one in enumerate(by_loop) if position not in self.positions)


def iterations(statement: Statement, positions: Iterable[int], most: int) -> list[Values] | None:
    """The values that the iterators of ``statement`` at ``positions`` take together, in order; None where there are
    more than ``most``, where a size decides, or other iterators.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, n):\\n  for i in range(n):\\n    for k in range(1, 4):\\n      A[i, k] = 0.0")
    >>> iterations(part.statements[0], [1], 9), iterations(part.statements[0], [0], 9)
    ([(1,), (2,), (3,)], None)
    """
    chosen = sorted(positions)
    domain = statement.domain
    others = [position for position in range(len(statement.iterators)) if position not in chosen]
    inside = _without(domain, others)
    if not domain.is_equal(_without(domain, chosen).intersect(inside)):
        return None
    for position in reversed(others):
        inside = inside.project_out(isl.dim_type.set, position, 1)
    inside = inside.project_out(isl.dim_type.param, 0, inside.dim(isl.dim_type.param)).reset_tuple_id()
    return _points(inside, most)


def _without(domain: isl.Set, positions: Iterable[int]) -> isl.Set:
    for position in positions:
        domain = domain.eliminate(isl.dim_type.set, position, 1)
    return domain


def _points(inside: isl.Set, most: int) -> list[Values] | None:
    if not inside.is_bounded():
        return None
    rank = inside.dim(isl.dim_type.set)
    count = inside.count_val()
    if not count.is_int() or count.to_python() > most:
        return None
    found: list[Values] = []

    def note(point: isl.Point) -> None:
        values = (point.get_coordinate_val(isl.dim_type.set, place) for place in range(rank))
        found.append(tuple(int(value.to_python()) for value in values))

    with interrupts_afterwards():
        inside.foreach_point(note)
    return sorted(found)


def with_loops_written_out(
    scop: Scop, loops: Mapping[str, tuple[int, ...]], values: Mapping[str, Sequence[Values]]
) -> Scop:
    """``scop`` with a copy of each statement in ``loops`` for each of its ``values``.

    ``loops`` holds the positions of the iterators that the values are for. All statements of a loop must be there.
    """
    taken = {part.name for part in scop.statements}
    copies: dict[str, list[Copy]] = {}
    for part in scop.statements:
        if part.name not in loops:
            continue
        for number, own in enumerate(values[part.name]):
            name = unused_name(f"{part.name}_{number}", taken.__contains__)
            taken.add(name)
            copies.setdefault(part.name, []).append(Copy(part, name, loops[part.name], own))
    statements = tuple(
        one
        for part in scop.statements
        for one in ([copy.made() for copy in copies[part.name]] if part.name in loops else [part])
    )
    tree = _Tree({copy.name: copy.positions for many in copies.values() for copy in many})
    schedule = tree.of(scop, [copy for many in copies.values() for copy in many])
    return replace(scop, statements=statements, schedule=schedule)


@dataclass(frozen=True, slots=True)
class _Tree:
    """Makes the order of the copies; ``positions`` are those of the loops that are gone, by the copy's name."""

    positions: Mapping[str, tuple[int, ...]]

    def of(self, scop: Scop, copies: Iterable[Copy]) -> isl.Schedule:
        names = {copy.statement.name for copy in copies}
        origin = isl.UnionMap.empty(scop.context.get_space())
        for copy in copies:
            origin = origin.union(isl.UnionMap.from_map(copy.origin()))
        for part in (one for one in scop.statements if one.name not in names):
            own = isl.Map.identity(part.domain.get_space().map_from_set()).intersect_domain(part.domain)
            origin = origin.union(isl.UnionMap.from_map(own))
        pulled = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(origin))
        return self._below(pulled.get_root(), origin.domain(), 0)

    def _below(self, node: isl.ScheduleNode, domain: isl.UnionSet, depth: int) -> isl.Schedule:
        """The part of the tree below ``node`` that runs ``domain``, inside ``depth`` of the old loops."""
        kind = node_kind(node)
        if kind == Kind.leaf:
            return isl.Schedule.from_domain(domain)
        if kind in (Kind.sequence, Kind.set):
            inside = [(child, domain.intersect(child.filter_get_filter())) for child in _children(node)]
            parts = [self._below(child.child(0), own, depth) for child, own in inside if not own.is_empty()]
            return reduce(isl.Schedule.sequence, parts)
        if kind != Kind.band:
            return self._below(node.child(0), domain, depth)
        rows = node.band_get_partial_schedule()
        if not any(depth in self.positions.get(one.get_tuple_name(), ()) for one in sets_of(domain)):
            below = self._below(node.child(0), domain, depth + 1)
            return below.get_root().child(0).insert_partial_schedule(rows.intersect_domain(domain)).get_schedule()
        turns = _by_time(isl.UnionMap.from_multi_union_pw_aff(rows).intersect_domain(domain))
        parts = [self._below(node.child(0), own, depth + 1) for own in turns]
        return reduce(isl.Schedule.sequence, parts)


def _children(node: isl.ScheduleNode) -> Iterable[isl.ScheduleNode]:
    return (node.child(position) for position in range(node.n_children()))


def _by_time(rows: isl.UnionMap) -> list[isl.UnionSet]:
    """The instances of each value of the loop ``rows``, in their order: numbers, for copies."""
    turns: dict[int, isl.UnionSet] = {}
    for one in sets_of(rows.domain()):
        own = rows.intersect_domain(isl.UnionSet.from_set(one))
        [time] = sets_of(own.range())
        value = int(time.dim_min_val(0).to_python())
        instances = isl.UnionSet.from_set(one)
        turns[value] = turns[value].union(instances) if value in turns else instances
    return [turns[value] for value in sorted(turns)]


def _folded(node: Node) -> Node:
    """``node`` with sums and products of whole numbers worked out: a person would write ``2 * (3 + 1)`` as 8, and
    ``i + 0 - 1`` in a subscript as ``i - 1``."""
    node = rebuild(node, _folded)
    match node:
        case Binary("+" | "-" | "*" as operator, Constant(int(left)), Constant(int(right))):
            value = {"+": left + right, "-": left - right, "*": left * right}[operator]
            is_plain = not (isinstance(left, bool) or isinstance(right, bool)) and abs(value) < _LARGEST
            return Constant(value) if is_plain else node
        case Element(subscripts=subscripts):
            return replace(node, subscripts=tuple(map(_moved, subscripts)))
    return node


_LARGEST = 2**31
"""What is worked out stays below: nothing wraps there, in whatever type."""


def _moved(subscript: Expression) -> Expression:
    """``subscript`` with the numbers that are added to it behind everything else, as one."""
    rest, distance = subscript, 0
    while True:
        match rest:
            case Binary("+", left, Constant(int(value))) | Binary("+", Constant(int(value)), left):
                rest, distance = left, distance + value
            case Binary("-", left, Constant(int(value))):
                rest, distance = left, distance - value
            case _:
                break
    if rest is subscript or not distance:
        return rest
    return Binary("+" if distance > 0 else "-", rest, Constant(abs(distance)))
