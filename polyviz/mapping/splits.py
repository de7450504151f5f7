"""Loops that one of their iterations ties together, taken apart there.

``path[i, j] = min(path[i, j], path[i, k] + path[k, j])`` has parallel loops over ``i`` and ``j`` but for the row ``k``
and the column ``k``, which all others read. With the iterations before, at and behind ``k`` in loops of their own, in
the same order as before, the long ones are parallel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.carried import backward, forward, undecided, visits
from polyviz.model.isl_limits import solved, with_known_quotients
from polyviz.model.schedule import Decision
from polyviz.transform.shape import (
    Loops,
    Part,
    Shape,
    loops_at,
    pruned,
    restricted,
    sequence_of,
    shape_of,
    tree_of,
    with_part,
)
from polyviz.transform.tree import bands, members, node_at, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.analysis.carried import BandVisit
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path


def split_at_equal_iterators(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with the loops of a nest in pieces where all of them are parallel but for the iteration that equals a
    loop around, and what was decided.

    The order of all instances stays as it is.
    """
    decisions: list[Decision] = []
    walk = list(zip(bands(tree), visits(scop, dependences, tree), strict=True))
    for (path, band), visit in reversed(walk):
        if _has_bands_below(tree, path) or not visit.depth:
            continue
        found = next((row for row in _rows_around(tree, path) if _is_tied_there(visit, row)), None)
        if found is None:
            continue
        shape = shape_of(tree)
        pieces = _pieces(members(band), found, band.get_domain(), loops_at(shape, path).child)
        tree = tree_of(tree.get_domain(), with_part(shape, path, pieces))
        decisions.append(_said(statements_under(band)))
    return tree, tuple(decisions)


def _has_bands_below(tree: isl.Schedule, path: Path) -> bool:
    return any(other != path and other[: len(path)] == path for other, _ in bands(tree))


def _rows_around(tree: isl.Schedule, path: Path) -> Iterator[isl.UnionPwAff]:
    prefix = node_at(tree, path).get_prefix_schedule_multi_union_pw_aff()
    for position in reversed(range(prefix.dim(isl.dim_type.out))):
        yield prefix.get_at(position)


def _is_tied_there(visit: BandVisit, row: isl.UnionPwAff) -> bool:
    """Whether every loop of the band carries something, and all of it starts or ends where the loop equals ``row``."""
    every = isl.UnionMap.from_union_pw_aff(row)
    left = visit.constraints
    for rows in visit.rows:
        equal = {name: _equal(own, every) for name, own in rows.items()}
        carried = [(found, forward(found, rows).union(backward(found, rows))) for found in left]
        if all(pairs.is_empty() for _, pairs in carried):
            return False
        if not all(_touches(pairs, equal[found.source], equal[found.sink]) for found, pairs in carried):
            return False
        left = undecided(left, rows)
    return True


def _equal(own: isl.Map, every: isl.UnionMap) -> isl.Set:
    """The instances for which the row ``own`` of their statement has the value that ``every`` row has for them."""
    return own.intersect(every.extract_map(own.get_space()).reset_tuple_id(isl.dim_type.out)).domain()


def _touches(pairs: isl.Map, sources: isl.Set, sinks: isl.Set) -> bool:
    """Whether each of ``pairs`` starts in ``sources`` or ends in ``sinks``; no, where isl cannot tell with few
    operations.

    The others are an inequality to either side. Pairs subtracted from pairs would be pieces times pieces.
    """
    first, last = (with_known_quotients(instances).complement() for instances in (sources, sinks))
    none_left = solved(lambda: pairs.intersect_domain(first).intersect_range(last).is_empty())
    return none_left is True


def _pieces(rows: tuple[isl.UnionPwAff, ...], row: isl.UnionPwAff, instances: isl.UnionSet, body: Shape) -> Shape:
    """The loops ``rows`` over ``instances`` around ``body``, each in three pieces: below, at and above ``row``."""
    if not rows:
        return pruned(body, instances)
    parts = []
    for inside in _compared(rows[0], row, instances):
        if not inside.is_empty():
            pieces = _pieces(rows[1:], row, inside, body)
            parts.append(Part(Loops(pieces, (restricted(rows[0], inside),)), inside))
    return sequence_of(parts)


def _compared(loop: isl.UnionPwAff, row: isl.UnionPwAff, instances: isl.UnionSet) -> Iterator[isl.UnionSet]:
    """The instances whose value of ``loop`` is smaller than that of ``row``, equal, and larger."""
    difference = isl.UnionMap.from_union_pw_aff(loop.sub(row)).intersect_domain(instances)
    for values in ("{ [x] : x < 0 }", "{ [0] }", "{ [x] : x > 0 }"):
        yield difference.intersect_range(isl.UnionSet(values)).domain()


def _said(names: tuple[str, ...]) -> Decision:
    text = (
        "only the iterations that equal a loop around tie the others together: each loop runs up to them, then them, "
        "then the rest, and the long pieces are parallel"
    )
    return Decision("split", text, names)
