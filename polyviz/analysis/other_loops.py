"""A part with other loops around its statements: their instances by other iterators, in the order of the same tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.legality import surely_keeps_order
from polyviz.analysis.nesting import Kind, loop_nests, member_rows, node_kind
from polyviz.analysis.times import maps_of, sets_of, union_of
from polyviz.model.expression import Assign
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.isl_limits import solved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from polyviz.errors import Span
    from polyviz.model.dependences import Dependence, Dependences
    from polyviz.model.scop import Scop, Statement

    NewRow = Callable[[str, int, isl.Map], isl.Map | None]


def source_loops(scop: Scop) -> list[Span]:
    """The loops of the source, outermost first; none where the order of ``scop`` is not that of its iterators."""
    nests = loop_nests(scop.schedule)
    if any(len(nests[one.name].loops) != len(one.iterators) for one in scop.statements):
        return []
    if any(len(one.loop_spans) < len(one.iterators) for one in scop.statements):
        return []
    return list(
        dict.fromkeys(span for one in scop.statements for span in one.loop_spans[: len(one.iterators)])
    )


def loop_name(scop: Scop, span: Span) -> str:
    """What the iterator of the loop at ``span`` is called."""
    return next(
        one.iterators[one.loop_spans.index(span)] for one in scop.statements if span in one.loop_spans
    )


@dataclass(frozen=True, slots=True)
class Changed:
    """``scop`` is another part with other loops; ``moved`` tells, for each statement of that, where instances went."""

    scop: Scop
    moved: Mapping[str, isl.Map]

    @classmethod
    def nothing(cls, scop: Scop) -> Changed:
        """``scop`` as it is."""
        return cls(scop, {one.name: identity(one) for one in scop.statements})

    def then(self, change: Changed, first: Scop, needed: Iterable[Dependence]) -> Changed | None:
        """``change``, which is one of the part that this one made of ``first``, after this one; None where the
        dependences ``needed`` in ``first`` do not surely keep their direction."""
        moved = {
            name: own.apply_range(change.moved[own.get_tuple_name(isl.dim_type.out)])
            for name, own in self.moved.items()
        }
        times = times_in(change.scop, first, moved)
        if times is None or not surely_keeps_order(first, times, needed):
            return None
        return Changed(change.scop, moved)


def bounded_by_sizes(domain: isl.Set) -> isl.Set:
    """``domain`` with bounds that sizes tell in place of conditions on quotients of iterators, where these say the
    same: no loop has to test them in each iteration.

    >>> print(bounded_by_sizes(isl.Set("[n] -> { S[i] : i >= 0 and 8 * floor(i / 8) < n }")))
    [n] -> { S[i] : i >= 0 and 8*floor((-1 + n)/8) >= -7 + i }
    """
    if domain.n_basic_set() != 1 or domain.get_basic_set_list().get_at(0).dim(isl.dim_type.div) == 0:
        return domain
    box, space = domain.remove_divs(), domain.get_space()
    zero = isl.PwAff.zero_on_domain(isl.LocalSpace.from_space(space))
    for position in range(domain.dim(isl.dim_type.set)):
        value = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, position)
        for end in _ends(domain, position):
            box = box.intersect(value.le_set(end))
        steps = domain.get_stride_info(position)
        if not steps.get_stride().is_one():
            start = isl.PwAff.from_aff(steps.get_offset())
            box = box.intersect(value.sub(start).mod_val(steps.get_stride()).eq_set(zero))
    return box if box.is_equal(domain) else domain


def _ends(domain: isl.Set, position: int) -> list[isl.PwAff]:
    """What a dimension of ``domain`` stays below: one end, or several where the smallest of them is the last value."""
    space, last = domain.get_space(), domain.dim_max(position)
    value = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, position)
    found = [isl.PwAff.from_aff(end).insert_domain(space) for _, end in pieces_of(last)]
    everywhere = [end for end in found if domain.is_subset(value.le_set(end))]
    return everywhere if len(everywhere) == len(found) else [last.insert_domain(space)]


def identity(statement: Statement) -> isl.Map:
    """Every point of the space of ``statement``, to itself."""
    return isl.Map.identity(statement.domain.get_space().map_from_set())


def times_in(changed: Scop, scop: Scop, moved: Mapping[str, isl.Map]) -> isl.UnionMap | None:
    """When the instances of ``scop`` run in the order of ``changed``, whose instances they are ``moved`` to; None where
    isl would take long to tell.

    The domains come last: composing plain functions leaves isl no quotients to work with.
    """
    return solved(partial(_times_in, changed, scop, moved))


def _times_in(changed: Scop, scop: Scop, moved: Mapping[str, isl.Map]) -> isl.UnionMap:
    order = {
        one.get_tuple_name(isl.dim_type.in_): one for one in maps_of(changed.schedule.get_map())
    }  # one map per statement: every instance runs once
    found = list[isl.Map]()
    for statement in scop.statements:
        there = moved[statement.name].get_tuple_name(isl.dim_type.out)
        times = order[there].gist_domain(changed.statement(there).domain)
        found.append(moved[statement.name].apply_range(times).intersect_domain(statement.domain))
    return union_of(found, scop.context.get_space())


def changed_order(scop: Scop, domains: Mapping[str, isl.Set], row: NewRow) -> isl.Schedule:
    """The tree of ``scop`` for the instances in ``domains``; statements that have none there are gone.

    ``row`` is asked for the value of a loop for the new instances of a statement, given its name, the number of loops
    around that one and what it is for the old instances; None where the loop is gone.
    """
    order = _Tree(domains, row).below(scop.schedule.get_root(), 0)
    assert order is not None
    return order


def may_run_again(scop: Scop, known: Dependences, name: str) -> bool:
    """Whether instances of a statement that are alike store the same value, which is used where it is stored."""
    statement = scop.statement(name)
    match statement.body:
        case (Assign(operator=None),):
            read = {one.array for one in statement.accesses if one.kind == "read"}
            stored = {one.array for part in scop.statements for one in part.accesses if one.kind == "write"}
            return statement.exact and not read & stored and is_used_at_once(scop, known, name)
    return False


def is_used_at_once(scop: Scop, known: Dependences, name: str) -> bool:
    """Whether what a statement stores is a temporary of the iteration, that of all loops around it."""
    depth = len(scop.statement(name).iterators)
    [array] = {one.array for one in scop.statement(name).accesses if one.kind == "write"}
    writers = [
        part for part in scop.statements for one in part.accesses if (one.kind, one.array) == ("write", array)
    ]
    private = {found.array: found.depth for found in known.privatizations}
    return len(writers) == 1 and private.get(array) == depth


@dataclass(frozen=True, slots=True)
class _Tree:
    domains: Mapping[str, isl.Set]
    row: NewRow

    def below(self, node: isl.ScheduleNode, depth: int) -> isl.Schedule | None:
        """The tree below ``node``, which is inside ``depth`` loops; None where nothing is left."""
        kind = node_kind(node)
        if kind == Kind.leaf:
            names = [one.get_tuple_name() for one in sets_of(node.get_domain())]
            here = [isl.UnionSet.from_set(self.domains[name]) for name in names if name in self.domains]
            return isl.Schedule.from_domain(reduce(isl.UnionSet.union, here)) if here else None
        if kind in (Kind.sequence, Kind.set):
            children = [self.below(node.child(number).child(0), depth) for number in range(node.n_children())]
            parts = [one for one in children if one is not None]
            return reduce(isl.Schedule.sequence, parts) if parts else None
        if kind != Kind.band:
            return self.below(node.child(0), depth)
        below, rows = self.below(node.child(0), depth + 1), self._rows(node, depth)
        if below is None or rows is None:
            return below
        return below.get_root().child(0).insert_partial_schedule(rows).get_schedule()

    def _rows(self, band: isl.ScheduleNode, depth: int) -> isl.MultiUnionPwAff | None:
        """The loop ``band`` for the new instances; None where it is gone."""
        found = list[isl.Map]()
        for old in maps_of(member_rows(band)[0]):
            name = old.get_tuple_name(isl.dim_type.in_)
            if name not in self.domains:
                continue
            new = self.row(name, depth, old)
            if new is None:
                return None
            found.append(new)
        return (
            isl.MultiUnionPwAff.from_union_map(union_of(found, band.get_domain().get_space()))
            if found
            else None
        )
