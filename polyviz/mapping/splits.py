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
        names = statements_under(band)
        if len(names) != 1 or _has_bands_below(tree, path) or not visit.depth:
            continue
        found = next((row for row in _rows_around(tree, path) if _is_tied_there(visit, row, names[0])), None)
        if found is None:
            continue
        shape = shape_of(tree)
        pieces = _pieces(members(band), found, band.get_domain())
        tree = tree_of(tree.get_domain(), with_part(shape, path, pieces))
        decisions.append(_said(names))
    return tree, tuple(decisions)


def _has_bands_below(tree: isl.Schedule, path: Path) -> bool:
    return any(other != path and other[: len(path)] == path for other, _ in bands(tree))


def _rows_around(tree: isl.Schedule, path: Path) -> Iterator[isl.UnionPwAff]:
    prefix = node_at(tree, path).get_prefix_schedule_multi_union_pw_aff()
    for position in reversed(range(prefix.dim(isl.dim_type.out))):
        yield prefix.get_at(position)


def _is_tied_there(visit: BandVisit, row: isl.UnionPwAff, name: str) -> bool:
    """Whether every loop of the band carries something, and all of it starts or ends where the loop equals ``row``."""
    outer = isl.UnionMap.from_union_pw_aff(row).extract_map(_row_space(visit, name))
    left = visit.constraints
    for rows in visit.rows:
        own = rows[name]
        equal = own.intersect(outer.reset_tuple_id(isl.dim_type.out)).domain()
        carried = [forward(found, rows).union(backward(found, rows)) for found in left]
        if all(pairs.is_empty() for pairs in carried):
            return False
        if not all(_touches(pairs, equal) for pairs in carried):
            return False
        left = undecided(left, rows)
    return True


def _touches(pairs: isl.Map, instances: isl.Set) -> bool:
    """Whether each of ``pairs`` has an end among ``instances``; no, where isl cannot tell with few operations.

    The others are an inequality to either side. Pairs subtracted from pairs would be pieces times pieces.
    """
    others = with_known_quotients(instances).complement()
    none_left = solved(lambda: pairs.intersect_domain(others).intersect_range(others).is_empty())
    return none_left is True


def _row_space(visit: BandVisit, name: str) -> isl.Space:
    return visit.rows[0][name].get_space()


def _pieces(rows: tuple[isl.UnionPwAff, ...], row: isl.UnionPwAff, instances: isl.UnionSet) -> Shape:
    """The loops ``rows`` over ``instances``, each in three pieces: below, at and above ``row``."""
    if not rows:
        return Shape()
    parts = []
    for inside in _compared(rows[0], row, instances):
        if not inside.is_empty():
            parts.append(Part(Loops(_pieces(rows[1:], row, inside), (restricted(rows[0], inside),)), inside))
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
