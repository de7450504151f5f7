"""What the engine decided, as sentences with the numbers behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.scheduling.band_search import FoundRow
    from polyviz.scheduling.clusters import Cluster
    from polyviz.scheduling.graph import DependenceGraph
    from polyviz.scheduling.rows import AffineRow


def components_decision(groups: Sequence[tuple[str, ...]]) -> Decision:
    """The strongly connected components and their order."""
    order = ", then ".join(f"{{{', '.join(group)}}}" for group in groups)
    names = tuple(name for group in groups for name in group)
    return Decision(
        "components",
        f"Components in an order that respects the dependences: {order}.",
        names,
        {"components": groups},
    )


def band_decision(cluster: Cluster, graph: DependenceGraph) -> Decision:
    """The rows of a band: each with its functions, its objective values and what was relaxed."""
    rows = [_row_details(row, graph) for row in cluster.band]
    kind = "close and permutable" if cluster.is_close else "carrying as much as possible"
    sentences = "; ".join(str(row["text"]) for row in rows)
    return Decision("band", f"Band of {len(rows)}, {kind}: {sentences}.", cluster.names, {"rows": rows})


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


def _row_details(row: FoundRow, graph: DependenceGraph) -> dict[str, object]:
    functions = {
        node.name: row_text(
            row.rows[node.name],
            _names(node.domain, isl.dim_type.set),
            _names(node.domain, isl.dim_type.param),
        )
        for node in graph.nodes
    }
    listed = ", ".join(f"{name}: {function}" for name, function in functions.items())
    notes = [note for note in ("parallel" if row.coincident else "carries dependences", row.note) if note]
    return {
        "text": f"{listed} ({', '.join(notes)})",
        "functions": functions,
        "objectives": dict(row.objectives),
        "coincident": row.coincident,
    }


def _names(domain: isl.Set, kind: isl.dim_type) -> list[str]:
    return [domain.get_dim_name(kind, position) or f"i{position}" for position in range(domain.dim(kind))]
