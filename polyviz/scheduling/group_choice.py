"""Which statements a private temporary ties together: they stand one after the other in one loop body.

Those right in the body always stay together. Loops in the body that the temporary goes through may be better off
apart: then every nest may get an order of its own, and a product of matrices its tiles in registers; the temporary
becomes an array with a cell per iteration of the loops around. That array is worth its traffic when much work is done
per cell, and when the order of the source is a bad one. It is never worth memory that outgrows the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.privatization import copies_of, users_of
from polyviz.analysis.strides import access_rows
from polyviz.analysis.trip_counts import SHORT, longest
from polyviz.scheduling.bodies import LoopBody, loop_bodies
from polyviz.scheduling.products import has_large_product

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from polyviz.analysis.strides import Row
    from polyviz.model.dependences import Privatization
    from polyviz.model.scop import Access, Scop, Statement
    from polyviz.scheduling.problem import SchedulingProblem

_SET = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive statements of one loop body: ``leader`` stands for ``members`` (itself among them), in their order.

    ``depth`` is the number of loops around the body, ``temporaries`` the scalars that live inside the group.
    """

    leader: str
    members: tuple[str, ...]
    depth: int
    temporaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Span:
    """The parts of a body, first to last, between which ``temporaries`` live."""

    first: int
    last: int
    temporaries: frozenset[str]


def find_groups(problem: SchedulingProblem) -> Iterator[Group]:
    """The groups of ``problem``, which share no statement."""
    scop = problem.scop
    private = {found.array: found for found in problem.dependences.privatizations}
    users = {name: users_of(scop, name) for name in private}
    grouped: set[str] = set()
    for body in loop_bodies(scop.schedule):
        if body.statements & grouped:  # it lies in loops of a group
            continue
        spans = [
            span for name, found in private.items() if (span := _span(body, users[name], found)) is not None
        ]
        for group in _groups_of(problem, body, spans):
            grouped.update(group.members)
            yield group


def _span(body: LoopBody, users: frozenset[str], found: Privatization) -> _Span | None:
    """Where in ``body`` the temporary lives; None when it lives elsewhere too."""
    if found.depth != body.depth or not users <= body.statements:
        return None
    places = [place for place, part in enumerate(body.parts) if part.statements & users]
    return _Span(places[0], places[-1], frozenset({found.array})) if len(places) > 1 else None


def _groups_of(problem: SchedulingProblem, body: LoopBody, spans: Sequence[_Span]) -> Iterator[Group]:
    for joined in _joined(spans):
        group = _group(problem, body, joined)
        if group is not None:
            yield group
            continue
        flat = [
            span for span in spans if span.temporaries <= joined.temporaries and not _has_loops(body, span)
        ]
        if len(flat) < len(joined.temporaries):
            yield from _groups_of(problem, body, flat)


def _joined(spans: Sequence[_Span]) -> list[_Span]:
    """The spans with those that overlap as one."""
    result: list[_Span] = []
    for span in sorted(spans, key=lambda one: (one.first, one.last)):
        if result and span.first <= result[-1].last:
            before = result.pop()
            names = before.temporaries | span.temporaries
            result.append(_Span(before.first, max(before.last, span.last), names))
        else:
            result.append(span)
    return result


def _has_loops(body: LoopBody, span: _Span) -> bool:
    return any(part.has_loops for part in body.parts[span.first : span.last + 1])


def _group(problem: SchedulingProblem, body: LoopBody, span: _Span) -> Group | None:
    parts, scop = body.parts[span.first : span.last + 1], problem.scop
    looped = [name for part in parts if part.has_loops for name in sorted(part.statements)]
    inside = frozenset[str]().union(*(part.statements for part in parts))
    members = tuple(part.name for part in scop.statements if part.name in inside)
    if looped and not (
        _outgrow_the_data(problem, members, body.depth) or _pay_together(problem, looped, body.depth)
    ):
        return None
    leader = _leader(scop, members, body.depth)
    return None if leader is None else Group(leader, members, body.depth, tuple(sorted(span.temporaries)))


def _leader(scop: Scop, members: Sequence[str], depth: int) -> str | None:
    """A statement right in the body that runs in every iteration in which one of ``members`` does."""
    bodies = {name: _outer(scop.statement(name).domain, depth) for name in members}
    whole = reduce(isl.Set.union, bodies.values())
    direct = (name for name in members if len(scop.statement(name).iterators) == depth)
    return next((name for name in direct if whole.is_subset(bodies[name])), None)


def _outer(domain: isl.Set, depth: int) -> isl.Set:
    """The values of the ``depth`` outer iterators."""
    count = domain.dim(isl.dim_type.set)
    return domain.project_out(isl.dim_type.set, depth, count - depth).reset_tuple_id()


def _pay_together(problem: SchedulingProblem, names: Iterable[str], depth: int) -> bool:
    """Whether ``names``, the statements in loops inside a body at ``depth``, had better stay in the source's order.

    They do when their loops are known to be short, or when at least two loops around would make the array of copies
    as large as the data while the innermost loops already go through memory without jumps. A product of two operands
    that are used again along different loops around is left apart, unless it is known to be tiny or thin: its tiles in
    registers are worth more.
    """
    statements = [problem.scop.statement(name) for name in names]
    if any(_has_large_product(problem, statement) for statement in statements):
        return False
    if all(_iterations(statement, depth, problem.sizes) <= SHORT for statement in statements):
        return True
    return depth > 1 and all(map(_moves_without_jumps, statements))


def _outgrow_the_data(problem: SchedulingProblem, members: Iterable[str], depth: int) -> bool:
    """Whether the copies for the ``depth`` loops around need more long dimensions than any array that is used has."""
    scop = problem.scop
    statements = [scop.statement(name) for name in members]
    copies = max(len(_long_loops(statement, problem.sizes) & set(range(depth))) for statement in statements)
    return copies > max(
        (
            _long_dimensions(access, _long_loops(statement, problem.sizes), len(statement.iterators))
            for statement in statements
            for access in statement.accesses
        ),
        default=0,
    )


def _long_loops(statement: Statement, sizes: Mapping[str, int]) -> set[int]:
    """The loops around ``statement`` that are not known to be short."""
    domain = _at_sizes(statement.domain, sizes)
    return {loop for loop in range(domain.dim(_SET)) if longest(domain, loop) > SHORT}


def _long_dimensions(access: Access, long: set[int], count: int) -> int:
    """In how many dimensions the ``long`` loops move ``access``; all of them where that is not known."""
    rows = access_rows(access, count)
    if rows is None:
        return access.relation.dim(isl.dim_type.out)
    return sum(any(row[loop] for loop in long) for row in rows)


def _iterations(statement: Statement, depth: int, sizes: Mapping[str, int]) -> float:
    """How often at most ``statement`` runs in one iteration of its ``depth`` outer loops."""
    domain = _at_sizes(statement.domain, sizes)
    product = 1.0
    for loop in range(depth, domain.dim(_SET)):
        product *= longest(domain, loop)
    return product


def _has_large_product(problem: SchedulingProblem, statement: Statement) -> bool:
    domain = _at_sizes(statement.domain, problem.sizes)
    return has_large_product(statement, domain, copies_of(problem.dependences))


def _at_sizes(domain: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    for position in range(domain.dim(isl.dim_type.param)):
        value = sizes.get(domain.get_dim_name(isl.dim_type.param, position) or "")
        if value is not None:
            domain = domain.fix_val(isl.dim_type.param, position, isl.Val(value))
    return domain


def _moves_without_jumps(statement: Statement) -> bool:
    """Whether its innermost loop in the source goes through every array from one element to the next, or not at all."""
    count = len(statement.iterators)
    for access in statement.accesses:
        if access.relation.dim(isl.dim_type.out) == 0:
            continue
        rows = access_rows(access, count)
        if rows is None or not _is_smooth(rows):
            return False
    return True


def _is_smooth(rows: list[Row]) -> bool:
    *others, last = (row[-1] for row in rows)
    return not any(others) and abs(last) <= 1
