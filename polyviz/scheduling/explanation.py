"""What the engine decided, as sentences with the numbers behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.details import (
    BandDetails,
    CarriedDetails,
    ComponentsDetails,
    FallbackDetails,
    InstancePair,
    LoopDetails,
    RowDetails,
)
from polyviz.model.schedule import Decision
from polyviz.model.words import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.analysis.parallelism import BandProperties, MemberProperties
    from polyviz.model.dependences import LoopParallelism, Violation
    from polyviz.scheduling.band_search import FoundRow
    from polyviz.scheduling.clusters import Cluster
    from polyviz.scheduling.graph import DependenceGraph
    from polyviz.scheduling.rows import AffineRow


LOOP = "loop"
"""The step of the entries about the loops of a tree."""


def components_decision(groups: Sequence[tuple[str, ...]]) -> Decision:
    """The strongly connected components and their order."""
    order = ", then ".join(f"{{{', '.join(group)}}}" for group in groups)
    names = tuple(name for group in groups for name in group)
    return Decision(
        "components",
        f"Components in an order that respects the dependences: {order}.",
        names,
        ComponentsDetails(components=tuple(groups)),
    )


def band_decision(cluster: Cluster, graph: DependenceGraph) -> Decision:
    """The rows of a band; the entries of the rows before it say how each came about."""
    rows = tuple(_row_details(row, graph) for row in cluster.band)
    first = len(graph.around) + 1
    last = first + len(rows) - 1
    which = f"Row {first} is" if first == last else f"Rows {first} to {last} are"
    if not cluster.is_close:
        text = f"{which} a band that carries as many dependences as possible."
    elif first == last:
        text = f"{which} a band of its own."
    else:
        parallel = cluster.coincident_rows or "none"
        text = f"{which} a permutable band, {parallel} of them parallel: the loops may change places and be tiled."
    return Decision("band", text, cluster.names, BandDetails(rows=rows))


def fallback_decision(failed: str, instead: str, reason: str, statements: Sequence[str] = ()) -> Decision:
    """Something could not be used: what, what was used in its place, and why.

    >>> fallback_decision("pluto", "the order of the source", "no affine row was found").text
    'Not pluto but the order of the source was used: no affine row was found.'
    """
    text = f"Not {failed} but {instead} was used: {reason}."
    details = FallbackDetails(failed=failed, instead=instead, reason=reason)
    return Decision("fallback", text, tuple(statements), details)


def limit_decision(inexact: int) -> Decision:
    """Some cones would have taken isl too long."""
    relations = "one convex relation" if inexact == 1 else f"{inexact} convex relations"
    text = (
        f"The exact condition that {relations} put on a row would take isl too long: larger relations with fewer "
        "constraints stand in for them. What they allow is legal; better rows may have been missed."
    )
    return Decision("limit", text)


def loop_decisions(
    properties: Sequence[BandProperties], loops: Sequence[LoopParallelism]
) -> tuple[Decision, ...]:
    """One entry per loop: is it parallel, which pair of instances forbids it, and which dependences it carries.

    ``properties`` and ``loops`` are those of one tree, in depth-first order.
    """
    places = [(band, member) for band, found in enumerate(properties) for member in range(len(found.members))]
    return tuple(
        _loop_decision(band, member, loop, properties[band].members[member])
        for (band, member), loop in zip(places, loops, strict=True)
    )


def _loop_decision(band: int, member: int, loop: LoopParallelism, found: MemberProperties) -> Decision:
    text = loop.explanation[:1].upper() + loop.explanation[1:].rstrip(".") + "."
    if loop.parallel and not found.coincident:
        # The flag of the band says otherwise: it is about the loop wherever in the band it stands.
        text = text.replace("is parallel:", "could be parallel where it stands:", 1)
        text += " That holds inside the loops around it in its band, which carry what advances along it."
    if loop.carries:
        carried = (f"{one.kind} of {one.array} ({one.source} → {one.sink})" for one in loop.carries)
        text += f" It carries {listed(list(carried))}."
    details = LoopDetails(
        band=band,
        member=member,
        depth=loop.depth,
        loop=loop.loop,
        parallel=loop.parallel,
        reduction_parallel=loop.reduction_parallel,
        carries=tuple(
            CarriedDetails(kind=one.kind, array=one.array, source=one.source, sink=one.sink)
            for one in loop.carries
        ),
        pair=None if loop.witness is None else _pair(loop.witness),
    )
    return Decision(LOOP, text, loop.statements, details)


def _pair(witness: Violation) -> InstancePair:
    return InstancePair(
        kind=witness.kind,
        array=witness.array,
        source=witness.source,
        source_instance=witness.source_instance,
        sink=witness.sink,
        sink_instance=witness.sink_instance,
        parameters=dict(witness.parameters),
    )


def function_of(row: AffineRow, domain: isl.Set) -> str:
    """The affine function with the names of the iterators and parameters of ``domain``."""
    return row_text(row, _names(domain, isl.dim_type.set), _names(domain, isl.dim_type.param))


def row_text(row: AffineRow, iterators: Sequence[str], parameters: Sequence[str]) -> str:
    """The affine function with the names of the user.

    >>> from polyviz.scheduling.rows import AffineRow
    >>> row_text(AffineRow((2, -1), (1,), -3), ("t", "i"), ("n",))
    '2t - i + n - 3'
    >>> row_text(AffineRow((0,), (), 0), ("i",), ())
    '0'
    """
    factors = [*row.iterators, *row.parameters, row.constant]
    names = [*iterators, *parameters, ""]
    text = ""
    for factor, name in zip(factors, names, strict=True):
        if factor == 0:
            continue
        size = str(abs(factor)) if abs(factor) != 1 or not name else ""
        separator = (" - " if factor < 0 else " + ") if text else ("-" if factor < 0 else "")
        text += f"{separator}{size}{name}"
    return text or "0"


def kind_of(row: FoundRow) -> str:
    """What a row is within its band; how its loop runs inside the rows before it is another question."""
    return "parallel" if row.coincident else "dependences advance along it"


def functions_of(row: FoundRow, graph: DependenceGraph) -> dict[str, str]:
    """The affine function of each node of ``graph``, with the names of the user."""
    return {node.name: function_of(row.rows[node.name], node.domain) for node in graph.nodes}


def listing_of(functions: Mapping[str, str]) -> str:
    """All of them in a line.

    >>> listing_of({"S0": "t + i", "S1": "t"})
    'S0: t + i, S1: t'
    """
    return ", ".join(f"{name}: {function}" for name, function in functions.items())


def _row_details(row: FoundRow, graph: DependenceGraph) -> RowDetails:
    functions = functions_of(row, graph)
    kind = kind_of(row)
    return RowDetails(
        text=f"{listing_of(functions)} ({kind})",
        functions=functions,
        objectives=dict(row.objectives),
        method=row.method,
        coincident=row.coincident,
        note=row.note,
    )


def _names(domain: isl.Set, kind: isl.dim_type) -> list[str]:
    return [domain.get_dim_name(kind, position) or f"i{position}" for position in range(domain.dim(kind))]
