"""What kind of loop a candidate row makes: forall, reduction, sequential, or no legal loop at all.

A row takes one iterator of each statement, possibly reversed and shifted. Every dependence that the loops around leave
open contributes the distances of its pairs along the row; the classes follow Shirako, Hayashi, Sarkar (CC 2017),
section 4.3. Distances are bounds over all sizes, found by integer programming, so the verdicts are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.possible_sizes import possible_sizes
from polyviz.analysis.reductions import same_cell
from polyviz.analysis.witness import (
    conflict_words,
    instance_text,
    parameters_text,
    smallest_pair,
    violation_of,
)
from polyviz.model.superposition import Distance, affine_map

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from polyviz.analysis.carried import Constraint, Rows
    from polyviz.analysis.reductions import Reduction
    from polyviz.analysis.witness import Pair
    from polyviz.model.dependences import Dependence, Violation
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import LoopKind


@dataclass(frozen=True, slots=True)
class Term:
    """One iterator of a statement, by its place, as a row: ``sign * iterator + shift``.

    >>> Term(1, -1, 2).text(("i", "j"))
    '-j + 2'
    """

    iterator: int
    sign: int = 1
    shift: int = 0

    def text(self, iterators: Sequence[str]) -> str:
        """The row with the names of the iterators."""
        name = iterators[self.iterator]
        moved = f" {'+' if self.shift > 0 else '-'} {abs(self.shift)}" if self.shift else ""
        return f"{'-' if self.sign < 0 else ''}{name}{moved}"


Terms = dict[str, Term]


@dataclass(frozen=True, slots=True)
class Span:
    """All distances of one dependence along a row; None where there is no bound."""

    low: int | None
    high: int | None

    @property
    def is_zero(self) -> bool:
        """Whether no pair is apart."""
        return self.low == 0 and self.high == 0

    @property
    def is_forward(self) -> bool:
        """Whether no pair runs backwards."""
        return self.low is not None and self.low >= 0

    def moved(self, sign: int, shift: int) -> Span:
        """The distances after reversing the row (``sign`` -1) and shifting its sink against its source."""
        low, high = (self.low, self.high) if sign > 0 else (_negated(self.high), _negated(self.low))
        return Span(None if low is None else low + shift, None if high is None else high + shift)


def row_maps(scop: Scop, terms: Mapping[str, Term]) -> Rows:
    """The row of each statement as a map to one value."""
    found = {}
    for name, term in terms.items():
        statement = scop.statement(name)
        found[name] = affine_map(statement.domain, term.text(statement.iterators))
    return found


def row_texts(scop: Scop, terms: Mapping[str, Term]) -> dict[str, str]:
    """The row of each statement as text."""
    return {name: term.text(scop.statement(name).iterators) for name, term in terms.items()}


def inside(constraints: Sequence[Constraint], names: Sequence[str]) -> tuple[Constraint, ...]:
    """The constraints between the statements ``names``."""
    return tuple(found for found in constraints if found.source in names and found.sink in names)


@dataclass(slots=True)
class Distances:
    """The distances of some constraints along any row of single iterators; each is computed once."""

    constraints: tuple[Constraint, ...]
    _known: dict[tuple[int, int, int], Span] = field(default_factory=dict)

    def kind(self, terms: Mapping[str, Term]) -> LoopKind:
        """The class of the row ``terms``; the first that fits."""
        spans = list(self.spans(terms))
        if all(span.is_zero for _, span in spans):
            return "forall"
        if all(span.is_zero or self.is_reduction(found, terms) for found, span in spans):
            return "reduction"
        return "sequential" if all(span.is_forward for _, span in spans) else "violation"

    def reducing(self, terms: Mapping[str, Term]) -> frozenset[str]:
        """The statements whose reductions add up values of different iterations of the row."""
        return frozenset(
            found.source
            for found, span in self.spans(terms)
            if self.is_reduction(found, terms) and not span.is_zero
        )

    def shares_cells(self, terms: Mapping[str, Term]) -> bool:
        """Whether each reduction across the row adds up in one cell, so that partial sums of threads can be joined."""
        return all(
            _stays(found.reduction, terms[found.source].iterator)
            for found, span in self.spans(terms)
            if found.reduction is not None and not span.is_zero
        )

    def is_forward(self, terms: Mapping[str, Term]) -> bool:
        """Whether the row may run in this order on one processor, reductions included."""
        return all(span.is_forward for _, span in self.spans(terms))

    def spans(self, terms: Mapping[str, Term]) -> Iterator[tuple[Constraint, Span]]:
        """Every ordering constraint between the statements of ``terms``, with its distances."""
        for number, found in enumerate(self.constraints):
            if found.dependence is not None and found.source in terms and found.sink in terms:
                source, sink = terms[found.source], terms[found.sink]
                if source.sign != sink.sign:
                    yield found, Span(None, None)
                else:
                    raw = self.raw(number, source.iterator, sink.iterator)
                    yield found, raw.moved(source.sign, sink.shift - source.shift)

    def raw(self, number: int, source: int, sink: int) -> Span:
        """The distances of constraint ``number`` from iterator ``source`` to iterator ``sink``."""
        key = (number, source, sink)
        if key not in self._known:
            self._known[key] = _span(self.constraints[number].pairs, source, sink)
        return self._known[key]

    def is_reduction(self, constraint: Constraint, names: Collection[str]) -> bool:
        """Whether the pairs are steps of a reduction whose cells no other of the statements ``names`` touches."""
        return constraint.reduction is not None and not any(
            found.dependence is None and found.source == constraint.source and found.sink in names
            for found in self.constraints
        )


def _stays(reduction: Reduction, iterator: int) -> bool:
    """Whether the accumulating cell is the same for all values of one iterator, the others unchanged."""
    domain = reduction.target.domain()
    moved = isl.Map.universe(domain.get_space().map_from_set())
    for place in range(domain.dim(isl.dim_type.set)):
        if place != iterator:
            moved = moved.equate(isl.dim_type.in_, place, isl.dim_type.out, place)
    moved = moved.intersect_domain(domain).intersect_range(domain)
    return bool(moved.is_subset(same_cell(reduction)))


def _negated(bound: int | None) -> int | None:
    return None if bound is None else -bound


def _span(pairs: isl.Map, source: int, sink: int) -> Span:
    points = pairs.wrap()
    distance = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(points.get_space()))
    place = pairs.dim(isl.dim_type.in_) + sink
    distance = distance.set_coefficient_val(isl.dim_type.in_, source, isl.Val(-1))
    distance = distance.set_coefficient_val(isl.dim_type.in_, place, isl.Val(1))
    return Span(_bound(points.min_val(distance)), _bound(points.max_val(distance)))


def _bound(value: isl.Val) -> int | None:
    return int(value.to_python()) if value.is_int() else None


def distance_of(constraint: Constraint, span: Span) -> Distance:
    """The distances as a value for the views."""
    assert constraint.dependence is not None
    dependence = constraint.dependence
    return Distance(
        dependence.array, dependence.kind, constraint.source, constraint.sink, span.low, span.high
    )


def witness_of(scop: Scop, constraint: Constraint, rows: Rows, kind: LoopKind) -> Violation:
    """The smallest pair that shows why the row is of this ``kind``: one that runs backwards, or one that is apart."""
    source, sink = rows[constraint.source], rows[constraint.sink]
    backwards = constraint.pairs.intersect(source.lex_gt_map(sink))
    pairs = backwards
    if kind != "violation" or backwards.is_empty():
        pairs = backwards.union(constraint.pairs.intersect(source.lex_lt_map(sink)))
    return pair_violation(scop, constraint, pairs)


def pair_violation(scop: Scop, constraint: Constraint, pairs: isl.Map, end: str = "") -> Violation:
    """The smallest of ``pairs``, a part of ``constraint`` that is not empty, as a sentence with ``end`` at its end."""
    assert constraint.dependence is not None
    pair = smallest_pair(pairs, possible_sizes(scop))
    return violation_of(constraint.dependence, pair, _sentence(scop, constraint.dependence, pair) + end)


def _sentence(scop: Scop, dependence: Dependence, pair: Pair) -> str:
    does, cell, then = conflict_words(scop, dependence, pair)
    source = instance_text(dependence.source, pair.source)
    sink = instance_text(dependence.sink, pair.sink)
    return f"{source} {does} {cell}, which {sink} {then}{parameters_text(pair.parameters)}"
