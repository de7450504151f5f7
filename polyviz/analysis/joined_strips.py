"""Loops that were cut into strips by hand are one loop again, where nothing depends on the strips.

    for ii in range(0, n, 32):                         for i in range(n):
        for jj in range(0, n, 32):                         for j in range(n):
            for i in range(ii, min(ii + 32, n)):    ->         B[j, i] = A[i, j]
                for j in range(jj, min(jj + 32, n)):
                    B[j, i] = A[i, j]

Someone who cuts loops into tiles decides what fits the cache; here a schedule is looked for, and strips would be in its
way: tiles of register tiles, vectors and time need the loop that was there before. A loop goes when its value follows
from that of the loops inside it (``ii`` is where the strip of ``i`` begins), when no statement needs it but to say
which strip it is in (``A[ii + i]`` with ``i`` in ``range(32)``), and when every dependence keeps its direction.

Source: the inverse of strip mining; tiling a band is legal when all of its loops may be interchanged (Wolf and Lam, "A
data locality optimizing algorithm", 1991), and so is the way back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import islpy as isl

from polyviz.analysis.dependences import dependences
from polyviz.analysis.nesting import loop_nests
from polyviz.analysis.other_loops import (
    Changed,
    bounded_by_sizes,
    changed_order,
    identity,
    is_used_at_once,
    loop_name,
    may_run_again,
    source_loops,
)
from polyviz.analysis.strip_sums import StripSum, strip_sums, without_order
from polyviz.model.expression import Constant, Expression, rebuild, rewritten, substitute
from polyviz.model.linear import linear_parts, linear_terms, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from polyviz.analysis.nesting import Nest
    from polyviz.errors import Span
    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Node
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Scop, Statement

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_T = TypeVar("_T")


def with_strips_joined(scop: Scop, known: Dependences, *, reassociate: bool = False) -> Scop:
    """``scop`` without the loops over strips that its order does not need; itself where there are none.

    With ``reassociate``, sums of strips that are added to a cell become one sum. Notes say which loops are gone.

    >>> import polyviz as pv
    >>> part = pv.extract('''def double(A, n):
    ...     for ii in range(0, n, 8):
    ...         for i in range(ii, min(ii + 8, n)):
    ...             A[i] = 2 * A[i]''')
    >>> joined = with_strips_joined(part, pv.analysis.dependences(part))
    >>> print(joined.statements[0].domain)
    [n] -> { S0[i] : 0 <= i < n }
    """
    names, once = list[str](), _Once(frozenset(), ())
    sums = tuple(strip_sums(scop, known)) if reassociate else ()
    alone = frozenset(one.name for one in scop.statements if may_run_again(scop, known, one.name))
    done = Changed.nothing(scop)
    for span in source_loops(scop):
        found = _without_loop(done.scop, span, _Once(alone, sums))
        if found is None:
            continue
        change, more = found
        needed = without_order(known.validity_relations, {one.total for one in (*once.sums, *more.sums)})
        total = done.then(change, scop, needed)
        if total is None:
            continue
        names.append(loop_name(done.scop, span))
        done, once = total, once.with_others(more)
    if not names or not once.holds(done.scop):
        return scop
    return replace(done.scop, notes=(*scop.notes, _said(names)))


@dataclass(frozen=True, slots=True)
class _Once:
    """What may run once where it ran in every strip: statements that are ``alone``, and the ends of ``sums``."""

    alone: frozenset[str]
    sums: tuple[StripSum, ...]

    def of(self, repeated: Iterable[str]) -> _Once | None:
        """What of this is ``repeated``; None where something else is."""
        left = frozenset(repeated)
        sums = tuple(one for one in self.sums if {one.zero, one.total} <= left)
        alone = left.difference(*((one.zero, one.total) for one in sums))
        return _Once(alone, sums) if alone <= self.alone else None

    def with_others(self, more: _Once) -> _Once:
        """Both together."""
        return _Once(self.alone | more.alone, (*self.sums, *more.sums))

    def holds(self, scop: Scop) -> bool:
        """Whether in ``scop`` every value is used in the iteration that stores it, as it was before."""
        if not self.alone and not self.sums:
            return True
        known = dependences(scop)
        return all(is_used_at_once(scop, known, name) for name in self.alone) and all(
            one.is_one(scop, known) for one in self.sums
        )


def _said(names: list[str]) -> str:
    which = ", ".join(f"`{name}`" for name in names)
    if len(names) == 1:
        return f"The loop {which} only says where strips begin, which are taken as the one loop they were cut from."
    return f"The loops {which} only say where strips begin, which are taken as the loops that they were cut from."


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the parameters of a part: its ``context``, and those that have one value there."""

    context: isl.Set
    values: dict[str, Expression]

    @classmethod
    def of(cls, context: isl.Set) -> _Known:
        """What ``context`` tells."""
        parameter = isl.dim_type.param
        found = {
            context.get_dim_name(parameter, place): context.plain_get_val_if_fixed(parameter, place)
            for place in range(context.dim(parameter))
        }
        return cls(
            context,
            {str(name): Constant(int(one.to_python())) for name, one in found.items() if one.is_int()},
        )

    def terms(self, node: Node) -> Terms | None:
        """``node`` as a linear combination of names, once parameters of one value are numbers."""
        told = substitute(node, self.values) if self.values else node
        return linear_terms(told) if isinstance(told, Expression) else None

    def sums(self, statement: Statement) -> Iterator[Terms]:
        """The linear combinations of names in the text of ``statement``."""
        return linear_parts(substitute(one, self.values) if self.values else one for one in statement.body)


@dataclass(frozen=True, slots=True)
class _Joining:
    """``statement`` without its iterator at ``strip``; ``point``, where given, counts within the strip and becomes
    ``point + factor * strip``."""

    statement: Statement
    known: _Known
    strip: int
    point: int | None = None
    factor: int = 0

    def function(self) -> isl.Map:
        """All points, each to where it goes."""
        values = self._values()
        if self.point is not None:
            values = values.set_aff(self.point, self._joined())
        return self._named(isl.Map.from_multi_aff(values).project_out(_OUT, self.strip, 1))

    def relation(self) -> isl.Map:
        """The old instances, each to the new one."""
        return self.function().intersect_domain(self.statement.domain).intersect_params(self.known.context)

    def joined(self) -> isl.Map:
        """The value of the loop that the two become."""
        return isl.Map.from_aff(self._joined()).intersect_domain(self.statement.domain)

    def _joined(self) -> isl.Aff:
        assert self.point is not None
        values = self._values()
        return values.get_at(self.point).add(values.get_at(self.strip).scale_val(isl.Val(self.factor)))

    def _values(self) -> isl.MultiAff:
        return isl.MultiAff.identity(self.statement.domain.get_space().map_from_set())

    def _named(self, relation: isl.Map) -> isl.Map:
        kept = relation.set_tuple_name(_OUT, self.statement.name)
        for position, name in enumerate(self._kept(self.statement.iterators)):
            kept = kept.set_dim_name(_OUT, position, name)
        return kept

    def made(self, relation: isl.Map) -> Statement:
        """The statement of the new instances."""
        statement, context = self.statement, self.known.context
        domain = bounded_by_sizes(relation.range().coalesce()).gist_params(context)

        def moved(old: isl.Map) -> isl.Map:
            return _moved(old, relation, domain, context)

        return replace(
            statement,
            iterators=self._kept(statement.iterators),
            domain=domain,
            accesses=tuple(one.mapped(moved) for one in statement.accesses),
            body=rewritten(statement.body, self._placed),
            loop_spans=self._kept(statement.loop_spans),
        )

    def _kept(self, by_loop: tuple[_T, ...]) -> tuple[_T, ...]:
        return tuple(one for position, one in enumerate(by_loop) if position != self.strip)

    def _placed(self, node: Node) -> Node:
        """``node`` by the new iterators: a sum that begins with the strip is the point alone."""
        name = self.statement.iterators[self.strip]
        terms = self.known.terms(node)
        if terms is None or name not in terms:
            return rebuild(node, self._placed)
        return written({one: factor for one, factor in terms.items() if one != name})


def _joining(statement: Statement, known: _Known, strip: int) -> _Joining | None:
    """How ``statement`` does without its iterator at ``strip``."""
    name, sums = statement.iterators[strip], [*known.sums(statement)]
    if not any(terms.get(name) for terms in sums):
        return _Joining(statement, known, strip)
    for point in range(strip + 1, len(statement.iterators)):
        factor = _common_factor(sums, name, statement.iterators[point])
        if factor is not None:
            return _Joining(statement, known, strip, point, factor)
    return None


def _common_factor(sums: Iterable[Terms], strip: str, point: str) -> int | None:
    """What ``strip`` counts for, in terms of ``point``, wherever one of the two is used; None where that differs."""
    both = [(terms.get(strip, 0), terms.get(point, 0)) for terms in sums]
    used = [(outer, inner) for outer, inner in both if outer or inner]
    if not all(inner and outer % inner == 0 for outer, inner in used):
        return None
    factors = {outer // inner for outer, inner in used}
    return factors.pop() if len(factors) == 1 else None


def _without_loop(scop: Scop, span: Span, once: _Once) -> tuple[Changed, _Once] | None:
    """``scop`` without the loop at ``span``, and what runs once for all strips now; None where a statement needs that
    loop, or instances would become one that may not run ``once``."""
    nests = loop_nests(scop.schedule)
    known, joinings = _Known.of(scop.context), dict[str, _Joining]()
    for statement in scop.statements:
        if span in statement.loop_spans:
            found = _joining(statement, known, statement.loop_spans.index(span))
            if found is None or not _keeps_point_loop(found, nests[statement.name]):
                return None
            joinings[statement.name] = found
    relations = {
        one.name: joinings[one.name].relation()
        if one.name in joinings
        else identity(one).intersect_domain(one.domain)
        for one in scop.statements
    }
    again = [name for name, relation in relations.items() if not relation.is_injective()]
    fewer = once.of(again)
    if fewer is None:
        return None
    statements = tuple(
        joinings[one.name].made(relations[one.name]) if one.name in joinings else one
        for one in scop.statements
    )
    domains = {one.name: one.domain for one in statements}

    def row(name: str, depth: int, old: isl.Map) -> isl.Map | None:
        joining = joinings.get(name)
        if joining is not None and joining.strip == depth:
            return None
        own = joining.joined() if joining is not None and joining.point == depth else old
        return _moved(own, relations[name], domains[name], scop.context)

    smaller = replace(scop, statements=statements, schedule=changed_order(scop, domains, row))
    functions = {
        one.name: joinings[one.name].function() if one.name in joinings else identity(one)
        for one in scop.statements
    }
    return Changed(smaller, functions), fewer


def _keeps_point_loop(joining: _Joining, nest: Nest) -> bool:
    """Whether the loop within strips counts upwards, as that over strips then does: its values are its iterator's."""
    if joining.point is None:
        return True
    row = nest.loops[joining.point].row
    assert row is not None
    return row.is_equal(_value(joining.statement, joining.point))


def _value(statement: Statement, position: int) -> isl.Map:
    own = isl.MultiAff.identity(statement.domain.get_space().map_from_set()).get_at(position)
    return isl.Map.from_aff(own).intersect_domain(statement.domain)


def _moved(old: isl.Map, relation: isl.Map, domain: isl.Set, context: isl.Set) -> isl.Map:
    """What ``old`` says of instances, said of those in ``domain`` that ``relation`` makes of them."""
    return old.apply_domain(relation).gist_params(context).gist_domain(domain).intersect_domain(domain)
