"""Where a part uses a cell, or a neighbour of it in the same cache line, again.

Apart by array and pattern of the references, because different references want different loops innermost. Source:
Reddy, *Polyhedral Compilation for Domain Specific Languages* (2019), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.analysis.accesses import accesses_by_array
from polyviz.analysis.cache_lines import line_neighbours
from polyviz.analysis.dependences import allowance_for
from polyviz.analysis.order import Order
from polyviz.analysis.references import Reference, by_pattern, references
from polyviz.analysis.times import times_by_statement
from polyviz.model.exclusion import exclusive
from polyviz.model.isl_limits import coalesced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import islpy as isl

    from polyviz.model.dependences import Dependence, Dependences
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True)
class PatternReuse:
    """What the references of one pattern use again; all relations go from an earlier to a later instance.

    ``temporal``: the same cell, written or read before and read now by one of the references. ``spatial``: the same
    line, touched by references of this pattern one after the other.
    """

    references: tuple[Reference, ...]
    temporal: tuple[isl.Map, ...]
    spatial: tuple[isl.Map, ...]


@dataclass(frozen=True, slots=True)
class Reuse:
    """The reuse of a part, pattern by pattern in the order of the text; ``notes`` tell what is not known."""

    patterns: tuple[PatternReuse, ...]
    notes: tuple[str, ...] = ()


@exclusive
def find_reuse(scop: Scop, dependences: Dependences, *, line: int = 8) -> Reuse:
    """The temporal and spatial reuse of ``scop`` in its own order, for lines of ``line`` elements.

    Temporal reuse is that of ``dependences``: flow, and one read after the other. Scalars have no lines, and where
    they are read again does not matter.
    """
    order = Order(times_by_statement(scop.schedule.get_map()), scop.context.get_space())
    allowance = allowance_for(accesses_by_array(scop))
    flows = [one for one in dependences.validity_relations if one.kind == "flow"]
    inputs = [one for one in dependences.relations if one.kind == "input" and scop.array(one.array).rank > 0]
    known = references(scop)
    patterns, unknown = [], []
    for group in by_pattern(known):
        neighbours = line_neighbours(group, line, order, allowance)
        if not neighbours.complete:
            unknown.append(group[0].label)
        temporal = tuple(_temporal(group, known, [*flows, *inputs]))
        patterns.append(PatternReuse(group, temporal, neighbours.relations))
    return Reuse(tuple(patterns), tuple(_notes(scop, known, unknown)))


def _temporal(
    group: Sequence[Reference], known: Sequence[Reference], dependences: Iterable[Dependence]
) -> Iterator[isl.Map]:
    """The pairs of each dependence that end in a read of ``group``."""
    reads = [reference for reference in group if reference.kind == "read"]
    for dependence in dependences:
        sinks = [one for one in reads if (one.array, one.statement) == (dependence.array, dependence.sink)]
        kind = "write" if dependence.kind == "flow" else "read"
        sources = [
            one
            for one in known
            if (one.array, one.statement, one.kind) == (dependence.array, dependence.source, kind)
        ]
        pairs = _through(dependence.relation, sources, sinks)
        if pairs is not None:
            yield pairs


def _through(relation: isl.Map, sources: Sequence[Reference], sinks: Sequence[Reference]) -> isl.Map | None:
    """The pairs of ``relation`` that meet at a cell of one of ``sources`` and one of ``sinks``; None without any."""
    if not sources or not sinks:
        return None
    touching = [source.relation.apply_range(sink.relation.reverse()) for source in sources for sink in sinks]
    meeting = touching[0]
    for more in touching[1:]:
        meeting = meeting.union(more)
    pairs = relation.intersect(meeting)
    return None if pairs.is_empty() else coalesced(pairs)


def _notes(scop: Scop, known: Sequence[Reference], unknown: Sequence[str]) -> Iterator[str]:
    total = sum(len(statement.accesses) for statement in scop.statements)
    if len(known) < total:
        yield f"{total - len(known)} of {total} references are no functions of the loops: their reuse is not known."
    if unknown:
        yield f"Which iterations share lines of {', '.join(unknown)} is not known: the analysis would take too long."
