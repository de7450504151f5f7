"""Which barriers between the phases of a kernel are needed, and for which dependence.

At first there is one at every place; then each is left out again when no two threads race without it (the elision
test; Shirako, Hayashi, Sarkar (CC 2017), section 3.3, name the places, not the test).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.analysis.loop_kinds import pair_violation, row_maps
from polyviz.model.superposition import Barrier
from polyviz.scheduling.superposed.phases import Phase, Place, gaps_of, phases_of

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
    gaps = gaps_of(phases)
    kept = {gap.place for gap in gaps}
    barriers = []
    for gap in gaps:
        unprotected = [found for found in hazards if not found.passes & (kept - {gap.place})]
        protects = None
        if unprotected:
            found = unprotected[0]
            protects = pair_violation(rows.scop, found.constraint, found.pairs, ", in another thread")
        else:
            kept.discard(gap.place)
        barriers.append(Barrier(gap.before, gap.after, gap.wraps, gap.depth, protects))
    return tuple(barriers)


def _hazards(
    phases: Sequence[Phase], constraints: Sequence[Constraint], rows: SuperposedRows
) -> Iterator[_Hazard]:
    phase_of = {name: phase for phase in phases for name in phase.group.names}
    for found in constraints:
        if found.dependence is None:
            continue
        pairs = _in_different_threads(found, rows)
        if not pairs.is_empty():
            yield from _by_loops(phase_of[found.source], phase_of[found.sink], found, pairs, rows)


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
    while source.number != sink.number or level + 1 < len(source.way):
        if source.way[level].position != sink.way[level].position:
            break
        level += 1
        stop = source.way[level]
        assert stop.terms is not None
        ends = row_maps(rows.scop, {name: stop.terms[name] for name in (found.source, found.sink)})
        first, second = ends[found.source], ends[found.sink]
        later = pairs.intersect(first.lex_lt_map(second))
        if not later.is_empty():
            end = Place(stop.sequence, stop.length - 1)
            yield _Hazard(found, later, source.after(level) | {end} | sink.before(level))
        pairs = pairs.intersect(first.apply_range(second.reverse()))
    if source.number != sink.number and not pairs.is_empty():
        yield _Hazard(found, pairs, _between(source, sink, level))


def _between(source: Phase, sink: Phase, level: int) -> frozenset[Place]:
    one, other = source.way[level], sink.way[level]
    here = frozenset(Place(one.sequence, position) for position in range(one.position, other.position))
    return source.after(level + 1) | here | sink.before(level + 1)
