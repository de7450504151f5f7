"""Which barriers between the phases of a kernel are needed, and for which dependence.

At first there is one at every place; then each is left out again when no two threads race without it (the elision
test; Shirako, Hayashi, Sarkar (CC 2017), section 3.3, name the places, not the test).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.analysis.loop_kinds import inside, pair_violation, row_maps
from polyviz.model.superposition import Barrier
from polyviz.scheduling.superposed.phases import Phase, Place, phases_of, places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy as isl

    from polyviz.analysis.carried import Constraint
    from polyviz.analysis.superposed_rows import SuperposedRows
    from polyviz.scheduling.superposed.parts import Part


@dataclass(frozen=True, slots=True)
class _Hazard:
    """Pairs of one dependence in different threads; a barrier at any place of ``passes`` keeps them apart."""

    constraint: Constraint
    pairs: isl.Map
    passes: frozenset[Place]


def barriers_of(
    parts: Sequence[Part], constraints: Sequence[Constraint], rows: SuperposedRows
) -> tuple[Barrier, ...]:
    """All places for barriers in a kernel made of ``parts``, each with what it protects.

    ``constraints`` are the dependences within one launch of the kernel.
    """
    phases = phases_of(parts)
    hazards = list(_hazards(phases, constraints, rows))
    places = places_of(phases)
    kept = {place for place, *_ in places}
    barriers = []
    for place, before, after, wraps in places:
        unprotected = [found for found in hazards if not found.passes & (kept - {place})]
        protects = None
        if unprotected:
            found = unprotected[0]
            protects = pair_violation(rows.scop, found.constraint, found.pairs, ", in another thread")
        else:
            kept.discard(place)
        barriers.append(Barrier(before, after, wraps, protects))
    return tuple(barriers)


def _hazards(
    phases: Sequence[Phase], constraints: Sequence[Constraint], rows: SuperposedRows
) -> Iterator[_Hazard]:
    for source in phases:
        for sink in phases:
            names = (*source.group.names, *sink.group.names)
            for found in inside(constraints, names):
                if found.source not in source.group.names or found.sink not in sink.group.names:
                    continue
                pairs = _in_different_threads(found, rows)
                if found.dependence is not None and not pairs.is_empty():
                    yield from _by_loops(source, sink, found, pairs, rows)


def _in_different_threads(found: Constraint, rows: SuperposedRows) -> isl.Map:
    # The result of a shared reduction belongs to a thread that no row names.
    if rows.has_reduction_axis(found.source) or rows.has_reduction_axis(found.sink):
        return found.pairs
    source, sink = rows.thread(found.source), rows.thread(found.sink)
    return found.pairs.intersect(source.lex_lt_map(sink).union(source.lex_gt_map(sink)))


def _by_loops(
    source: Phase, sink: Phase, found: Constraint, pairs: isl.Map, rows: SuperposedRows
) -> Iterator[_Hazard]:
    """The pairs apart by the outermost sequential loop whose iterations they cross."""
    level = 0
    while True:
        one, other = source.way[level], sink.way[level]
        if one.position != other.position or level + 1 == min(len(source.way), len(sink.way)):
            break
        level += 1
        terms = source.way[level].terms
        assert terms is not None
        ends = row_maps(rows.scop, {**terms, **(sink.way[level].terms or {})})
        first, second = ends[found.source], ends[found.sink]
        later = pairs.intersect(first.lex_lt_map(second))
        if not later.is_empty():
            end = Place(source.way[level].sequence, source.way[level].length - 1)
            yield _Hazard(found, later, source.after(level) | {end} | sink.before(level))
        pairs = pairs.intersect(first.apply_range(second.reverse()))
    if source.number != sink.number and not pairs.is_empty():
        yield _Hazard(found, pairs, _between(source, sink, level))


def _between(source: Phase, sink: Phase, level: int) -> frozenset[Place]:
    one, other = source.way[level], sink.way[level]
    here = frozenset(Place(one.sequence, position) for position in range(one.position, other.position))
    return source.after(level + 1) | here | sink.before(level + 1)
