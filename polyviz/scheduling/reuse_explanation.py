"""What the reuse of cells and lines decided, as sentences with the numbers behind them.

The numbers (5.1) and (5.2) are those of the integer programs in Reddy's thesis (2019), section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.details import GroupDetails, ReuseDetails, ReuseRowDetails
from polyviz.model.schedule import Decision
from polyviz.model.words import listed
from polyviz.scheduling.explanation import fallback_decision, functions_of, kind_of, listing_of
from polyviz.scheduling.row_problem import PER_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from polyviz.scheduling.band_search import FoundRow
    from polyviz.scheduling.graph import DependenceGraph, Edge
    from polyviz.scheduling.reuse import ReuseGroup
    from polyviz.scheduling.reuse_rows import RankedGroup


def group_decision(group: ReuseGroup) -> Decision:
    """The references of one pattern and the reuse between them."""
    temporal, spatial = _pairs(group.temporal), _pairs((*group.spatial, *group.across))
    names = tuple(dict.fromkeys(placed.node for placed in group.references))
    text = (
        f"{group.label}, {_counted(group.multiplicity)} in {listed(names)}. "
        f"Temporal, the same cell again: {_where(temporal)}. Spatial, the same line again: {_where(spatial)}."
    )
    details = ReuseDetails(
        group=group.label, references=group.multiplicity, temporal=temporal, spatial=spatial
    )
    return Decision("reuse", text, names, details)


def sparse_decision(found: FoundRow, graph: DependenceGraph) -> Decision:
    """A row that every dependence respects ends the band of ``graph`` before it, for the gaps that it would leave."""
    listing = listing_of(functions_of(found, graph))
    reason = "between its iterations there would be places without one, and no vector is made of those"
    return fallback_decision(f"the row {listing}", "a band that ends before it", reason, graph.names)


def row_decision(found: FoundRow, number: int, graph: DependenceGraph) -> Decision:
    """How row ``number`` (1 is outermost) of the nodes of ``graph`` came about."""
    functions = functions_of(found, graph)
    sentences = [f"Row {number}, {listing_of(functions)}, {kind_of(found)}"]
    inner_rows = max(node.size for node in graph.nodes) > number
    sentences += [*_aim(found), *_minimised(found), *_consequences(found, inner_rows=inner_rows)]
    sentences += [text[:1].upper() + text[1:] for text in (found.note,) if text]
    reuse = found.reuse
    details = ReuseRowDetails(
        row=number,
        functions=functions,
        aim=reuse.aim if reuse else "",
        order=tuple(_group_details(group) for group in reuse.order) if reuse else (),
        objectives=dict(found.objectives),
        lines=reuse.lines if reuse else (),
        lost=reuse.lost if reuse else (),
        coincident=found.coincident,
        spatial=reuse is not None and reuse.spatial,
        relaxed=reuse.relaxed if reuse else "",
        fallback=found.fallback,
    )
    return Decision("row", ". ".join(sentences) + ".", graph.names, details)


def _aim(found: FoundRow) -> list[str]:
    reuse = found.reuse
    if reuse is None:
        return []
    few = "Carry few groups (5.1), so that rows inside can serve them"
    aim = few if reuse.aim == "few" else "Carry the lines of many groups (5.2)"
    if not reuse.order:
        return [f"{aim}; no reuse is left to serve"]
    order = ", ".join(
        f"{group.label} (rank {group.rank}, {_counted(group.multiplicity)})" for group in reuse.order
    )
    return [f"{aim}; in order of rank, then of references: {order}"]


def _minimised(found: FoundRow) -> list[str]:
    """The objectives in their order; both parts of a bound as one."""
    values = found.objectives
    parts = []
    for name, value in values.items():
        if name.endswith(PER_PARAMETER):
            continue
        slope = values.get(f"{name}{PER_PARAMETER}", 0)
        terms = [f"{slope} per parameter"] if slope else []
        terms += [str(value)] if value or not slope else []
        parts.append(f"{name} {' + '.join(terms)}")
    return [f"Minimised: {', '.join(parts)}"] if parts else []


def _consequences(found: FoundRow, *, inner_rows: bool) -> list[str]:
    reuse = found.reuse
    if reuse is None:
        return []
    relaxed = reuse.relaxed and not found.coincident
    sentences = [f"{reuse.relaxed[:1].upper()}{reuse.relaxed[1:]}"] if relaxed else []
    if reuse.spatial:
        sentences.append(f"A spatial row: its values run along the lines of {listed(reuse.lines)}")
    elif reuse.aim == "many" and reuse.order:
        sentences.append("Not a spatial row: no row this small runs along lines")
    if reuse.lost and inner_rows:
        sentences.append(f"No row inside can serve {listed(reuse.lost)} any more")
    return sentences


def _group_details(group: RankedGroup) -> GroupDetails:
    return GroupDetails(group=group.label, rank=group.rank, references=group.multiplicity)


def _pairs(edges: Iterable[Edge]) -> tuple[str, ...]:
    """Each relation as its distance within a statement, or as the pair of statements."""
    return tuple(sorted({_pair(edge) for edge in edges}))


def _pair(edge: Edge) -> str:
    if edge.source != edge.sink:
        return f"{edge.source} to {edge.sink}"
    if edge.distance is None:
        return f"{edge.source} at changing distances"
    return f"{edge.source} at distance ({', '.join(map(str, edge.distance))})"


def _where(pairs: Sequence[str]) -> str:
    return listed(pairs) if pairs else "never"


def _counted(references: int) -> str:
    return "1 reference" if references == 1 else f"{references} references"
