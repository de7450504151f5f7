"""Which loops of a schedule tree surround a statement, and which of them two statements have in common."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, cast

import islpy as isl

from polyviz.analysis.times import maps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = isl.schedule_node_type


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the way from the root of a schedule tree to a statement.

    A loop is a member of a band; ``row`` then maps the statement to the value of the loop. A branch is a child of a
    sequence or set. ``place`` tells steps apart: two statements share a loop when their steps have the same place.
    """

    place: tuple[int, ...]
    row: isl.Map | None

    @property
    def is_loop(self) -> bool:
        """Whether this step is a loop."""
        return self.row is not None


@dataclass(frozen=True, slots=True)
class Nest:
    """The steps from the root of a tree to one statement, outermost first."""

    statement: str
    steps: tuple[Step, ...]

    @property
    def loops(self) -> tuple[Step, ...]:
        """The loops around the statement, outermost first."""
        return tuple(step for step in self.steps if step.is_loop)


def loop_nests(schedule: isl.Schedule) -> dict[str, Nest]:
    """The nest of every statement; of one that several leaves execute, the part that these have in common.

    >>> tree = isl.Schedule('{ domain: "{ S[i] }", child: { schedule: "[{ S[i] -> [i] }]" } }')
    >>> [str(loop.row) for loop in loop_nests(tree)["S"].loops]
    ['{ S[i] -> [i] }']
    """
    nests: dict[str, Nest] = {}
    for name, steps in _leaves(schedule.get_root(), (), ()):
        known = nests.get(name)
        nests[name] = Nest(name, steps if known is None else _shared(known.steps, steps))
    return nests


def common_loops(nests: Iterable[Nest]) -> int:
    """How many loops, counted from the outermost, surround all of ``nests``: the same nodes, not just equal names."""
    steps = [nest.steps for nest in nests]
    shared = steps[0]
    for other in steps[1:]:
        shared = _shared(shared, other)
    return sum(step.is_loop for step in shared)


def same_iteration(source: Nest, sink: Nest, depth: int) -> isl.Map:
    """The pairs of instances that lie in one iteration of the ``depth`` outermost loops of both nests."""
    pairs: isl.Map | None = None
    for left, right in zip(source.loops[:depth], sink.loops[:depth], strict=True):
        equal = equal_values(left, right)
        pairs = equal if pairs is None else pairs.intersect(equal)
    if pairs is None:
        raise ValueError("two statements that share no loop have no common iteration")
    return pairs


def equal_values(source: Step, sink: Step) -> isl.Map:
    """The pairs of instances for which two loops have the same value."""
    assert source.row is not None and sink.row is not None
    return source.row.apply_range(sink.row.reverse())


def _shared(left: tuple[Step, ...], right: tuple[Step, ...]) -> tuple[Step, ...]:
    pairs = zip(left, right, strict=False)
    return tuple(step for step, _ in takewhile(lambda pair: pair[0].place == pair[1].place, pairs))


def _leaves(
    node: isl.ScheduleNode,
    place: tuple[int, ...],
    rows: tuple[tuple[tuple[int, ...], isl.UnionMap | None], ...],
) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """The statements at the leaves below ``node`` with their steps."""
    if node_kind(node) == Kind.leaf:
        for name in _statement_names(node.get_domain()):
            yield name, tuple(_step(position, rows_here, name) for position, rows_here in rows)
        return
    branching = node_kind(node) in (Kind.sequence, Kind.set)
    here = rows + _loops_of(node, place)
    for position in range(node.n_children()):
        below = (*place, position)
        yield from _leaves(node.child(position), below, (*here, (below, None)) if branching else here)


def _loops_of(
    node: isl.ScheduleNode, place: tuple[int, ...]
) -> tuple[tuple[tuple[int, ...], isl.UnionMap | None], ...]:
    if node_kind(node) != Kind.band:
        return ()
    return tuple(((*place, -1 - member), row) for member, row in enumerate(member_rows(node)))


def member_rows(band: isl.ScheduleNode) -> tuple[isl.UnionMap, ...]:
    """Per member of a band the map from instances to the value of its loop, with a nameless range."""
    partial = band.band_get_partial_schedule()
    domain = band.get_domain()
    return tuple(
        isl.UnionMap.from_union_pw_aff(partial.get_at(member)).intersect_domain(domain)
        for member in range(band.band_n_member())
    )


def node_kind(node: isl.ScheduleNode) -> isl.schedule_node_type:
    """The type of a tree node; the stubs of islpy call it an integer."""
    return cast("isl.schedule_node_type", node.get_type())


def _statement_names(domain: isl.UnionSet) -> list[str]:
    sets = domain.get_set_list()
    return [sets.get_at(position).get_tuple_name() for position in range(sets.n_set())]


def _step(place: tuple[int, ...], rows: isl.UnionMap | None, name: str) -> Step:
    if rows is None:
        return Step(place, None)
    mine = [row for row in maps_of(rows) if row.get_tuple_name(isl.dim_type.in_) == name]
    return Step(place, mine[0])
