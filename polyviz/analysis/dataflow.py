"""Value-based and memory-based dependences of one array.

Value-based dependences keep only neighbours in time: a read depends on the last write before it (Feautrier, *Dataflow
analysis of array and scalar references*, 1991). A may write never hides what came before it, so every may write up to
the nearest must write is a neighbour. The memory order is contained in the transitive closure of the neighbours:
between two conflicting accesses that are no neighbours lies a must write, which is ordered with both. Where the
analysis would take too long, some pairs that are no neighbours stay; the order they impose is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import parts_of
from polyviz.analysis.known_answers import known_or, whatever_array
from polyviz.analysis.neighbours import Search, Sources, earlier_touches, source_to_sink
from polyviz.analysis.times import maps_of, union_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from polyviz.analysis.accesses import ArrayAccesses
    from polyviz.analysis.order import Order
    from polyviz.model.dependences import DependenceKind
    from polyviz.model.isl_limits import Allowance


@dataclass(frozen=True, slots=True)
class Found:
    """Pairs of instances, source to sink; ``exact`` unless the analysis stopped early."""

    relation: isl.UnionMap
    exact: bool = True


@dataclass(frozen=True, slots=True)
class _Question:
    """Which ``references`` look back, at which sources, in which order."""

    references: tuple[isl.Map, ...]
    sinks: isl.UnionMap
    sources: isl.UnionMap
    certain: isl.UnionMap
    order: Order

    def sources_by_statement(self) -> Sources:
        return Sources(_by_statement(self.sources), _by_statement(self.certain))

    def asked(self) -> Hashable:
        """What the answer depends on."""
        names = sorted({*_by_statement(self.sinks), *_by_statement(self.sources)})
        accesses = (whatever_array(maps_of(one)) for one in (self.sinks, self.sources, self.certain))
        return "together", *accesses, *((name, self.order.times[name]) for name in names)


# What isl's dataflow analysis needs for programs that are easy grows with the number of pairs.
_PER_REFERENCE, _PER_PAIR = 2_000, 30
_FOR_REUSE = 130_000
"""Operations for one step of a search for what is no more than good to know: enough for all kernels of the gallery."""


def value_based(kind: DependenceKind, accesses: ArrayAccesses, order: Order, allowance: Allowance) -> Found:
    """The dependences of one kind between neighbours in time.

    When the allowance ends, flow, anti and output hold more pairs than the neighbours (all of them in order and on one
    cell), input holds fewer.
    """
    looking = order.backwards() if kind == "anti" else order
    questions = [_question(kind, part, looking) for part in parts_of(accesses)]
    found = [_nearest(question, allowance, complete=kind != "input") for question in questions]
    relation = reduce(isl.UnionMap.union, (one.relation for one in found))
    return Found(relation.reverse() if kind == "anti" else relation, all(one.exact for one in found))


def memory_based(kind: DependenceKind, accesses: ArrayAccesses, order: Order, allowance: Allowance) -> Found:
    """The dependences of one kind between all pairs of instances that touch a cell; needs no ``allowance``."""
    sources = accesses.writes if kind in ("flow", "output") else accesses.reads
    sinks = accesses.reads if kind in ("flow", "input") else accesses.writes
    return Found(union_of(_touching(sinks, sources, order), order.parameters))


def last_writers(accesses: ArrayAccesses, order: Order, allowance: Allowance) -> isl.UnionMap:
    """The writes that may have left the value a read sees, to the reads; more of them when the allowance ends."""
    return value_based("flow", accesses, order, allowance).relation


def readers_from_before(accesses: ArrayAccesses, order: Order, allowance: Allowance) -> set[str]:
    """The statements of which some read may see a value from before the part; more when the allowance ends."""
    return set(_reading_from_before(accesses, order, allowance))


def is_read_from_before(accesses: ArrayAccesses, order: Order, allowance: Allowance) -> bool:
    """Whether there are such statements: the first one found is enough, and most arrays have one at once."""
    return any(True for _ in _reading_from_before(accesses, order, allowance))


def _reading_from_before(accesses: ArrayAccesses, order: Order, allowance: Allowance) -> Iterator[str]:
    for part in parts_of(accesses):
        search = Search(order, _question("flow", part, order).sources_by_statement(), allowance)
        yield from (_name(read) for read in part.read_references if not search.unreached(read).is_empty())


def _question(kind: DependenceKind, accesses: ArrayAccesses, order: Order) -> _Question:
    """``order`` is the opposite one for anti dependences, which are looked for from the reads on."""
    reads, writes, must = accesses.reads, accesses.writes, accesses.must_writes
    if kind == "output":
        return _Question(accesses.write_references, writes, writes, must, order)
    if kind == "input":
        return _Question(accesses.read_references, reads, reads, reads, order)
    return _Question(accesses.read_references, reads, writes, must, order)


def _nearest(question: _Question, allowance: Allowance, *, complete: bool) -> Found:
    """For each sink the sources before it, back to the nearest certain one; :func:`_search` finds what is not known."""
    if question.sinks.is_empty() or question.sources.is_empty():
        return Found(isl.UnionMap.empty(question.order.parameters))
    return known_or(
        question.asked(), lambda: _search(question, allowance, complete=complete), lambda found: found.exact
    )


def _search(question: _Question, allowance: Allowance, *, complete: bool) -> Found:
    """The nearest sources of all sinks: by isl, else reference by reference."""
    size = len(question.references) + question.sources.n_map()
    whole = allowance.attempt(lambda: _by_isl(question), size * (_PER_REFERENCE + size * _PER_PAIR))
    if whole is not None:
        return Found(whole)
    pairs: list[isl.Map] = []
    exact = True
    for position, reference in enumerate(question.references):
        if allowance.is_spent:
            pairs += _all_before(question, question.references[position:]) if complete else []
            return Found(union_of(pairs, question.order.parameters), exact=False)
        search = Search(question.order, question.sources_by_statement(), allowance)
        if not complete:
            search.most = _FOR_REUSE
        before = search.before(reference)
        exact = exact and search.exact
        if not (complete or exact):
            break  # the others are much like this one
        pairs += before
    return Found(union_of(pairs, question.order.parameters), exact)


def _all_before(question: _Question, references: Iterable[isl.Map]) -> list[isl.Map]:
    """All sources before the ``references``, whatever lies between."""
    return _touching(union_of(references, question.order.parameters), question.sources, question.order)


def _by_isl(question: _Question) -> isl.UnionMap:
    information = isl.UnionAccessInfo.from_sink(question.sinks)
    information = information.set_must_source(question.certain)
    information = information.set_may_source(question.sources.subtract(question.certain))
    return information.set_schedule_map(question.order.together()).compute_flow().get_may_dependence()


def _touching(sinks: isl.UnionMap, sources: isl.UnionMap, order: Order) -> list[isl.Map]:
    """For each pair of statements the instances that touch one cell, in order."""
    pairs = (
        earlier_touches(sink, source, order.after(_name(sink), _name(source)))
        for sink in maps_of(sinks)
        for source in maps_of(sources)
    )
    return [source_to_sink(found) for found in pairs]


def _by_statement(accesses: isl.UnionMap) -> dict[str, isl.Map]:
    return {_name(relation): relation for relation in maps_of(accesses)}


def _name(relation: isl.Map) -> str:
    return relation.get_tuple_name(isl.dim_type.in_) or ""
