"""Where a part uses a cell, or a neighbour of it in the same cache line, again.

Apart by array and pattern of the references, because different references want different loops innermost. Source:
Reddy, *Polyhedral Compilation for Domain Specific Languages* (2019), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from polyviz.analysis.accesses import accesses_by_array
from polyviz.analysis.cache_lines import Neighbours, line_neighbours
from polyviz.analysis.dependences import allowance_for
from polyviz.analysis.order import Order
from polyviz.analysis.references import Reference, by_pattern, references
from polyviz.analysis.times import times_by_statement
from polyviz.model.exclusion import exclusive
from polyviz.model.isl_limits import coalesced, solved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    r"""The temporal and spatial reuse of ``scop`` in its own order, for lines of ``line`` elements.

    Temporal reuse is that of ``dependences``: flow, and one read after the other. Scalars have no lines, and where
    they are read again does not matter.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, B, n):\n  for i in range(n):\n    for j in range(n):\n      A[i] += B[j, i]")
    >>> for pattern in find_reuse(part, pv.dependences(part)).patterns:
    ...     print(pattern.references[0].label, len(pattern.references), *pattern.spatial)
    A[i] 2 [n] -> { S0[i, j] -> S0[i' = 1 + i, j' = j] : 0 <= i <= -2 + n and 0 <= j < n }
    B[j, i] 1 [n] -> { S0[i, j] -> S0[i' = 1 + i, j' = j] : 0 <= i <= -2 + n and 0 <= j < n }
    """
    order = Order(times_by_statement(scop.schedule.get_map()), scop.context.get_space())
    allowance = allowance_for(accesses_by_array(scop))
    flows = [one for one in dependences.validity_relations if one.kind == "flow"]
    inputs = [one for one in dependences.relations if one.kind == "input" and scop.array(one.array).rank > 0]
    known = references(scop)
    patterns, inexact = [], []
    for group in by_pattern(known):
        neighbours = line_neighbours(group, line, order, allowance)
        temporal = [_ending_in(group, known, dependence) for dependence in (*flows, *inputs)]
        if not neighbours.complete or not all(found.complete for found in temporal):
            inexact.append(group[0].label)
        pairs = tuple(relation for found in temporal for relation in found.relations)
        patterns.append(PatternReuse(group, pairs, neighbours.relations))
    return Reuse(tuple(patterns), tuple(_notes(scop, known, inexact)))


def _ending_in(group: Sequence[Reference], known: Sequence[Reference], dependence: Dependence) -> Neighbours:
    """The pairs of ``dependence`` that end in a read of ``group``; all of them where that is hard to tell."""
    kind = "write" if dependence.kind == "flow" else "read"
    sources = [one for one in known if _is_of(one, dependence.array, dependence.source, kind)]
    sinks = [one for one in group if _is_of(one, dependence.array, dependence.sink, "read")]
    if not sources or not sinks:
        return Neighbours(())
    found = solved(partial(_meeting, dependence.relation, sources, sinks))
    if found is None:
        return Neighbours((dependence.relation,), complete=False)
    return Neighbours(() if found.is_empty() else (coalesced(found),))


def _is_of(reference: Reference, array: str, statement: str, kind: str) -> bool:
    return (reference.array, reference.statement, reference.kind) == (array, statement, kind)


def _meeting(relation: isl.Map, sources: Sequence[Reference], sinks: Sequence[Reference]) -> isl.Map:
    """The pairs of ``relation`` that meet at a cell of one of ``sources`` and one of ``sinks``."""
    touching = [source.relation.apply_range(sink.relation.reverse()) for source in sources for sink in sinks]
    meeting = touching[0]
    for more in touching[1:]:
        meeting = meeting.union(more)
    return relation.intersect(meeting)


def _notes(scop: Scop, known: Sequence[Reference], inexact: Sequence[str]) -> Iterator[str]:
    total = sum(len(statement.accesses) for statement in scop.statements)
    if len(known) < total:
        yield f"{total - len(known)} of {total} references are no functions of the loops: their reuse is not known."
    if inexact:
        yield f"The reuse of {', '.join(inexact)} is not known exactly: the analysis would take too long."
