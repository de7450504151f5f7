"""The innermost loop: one loop per statement where that makes it parallel, then marked for vector instructions.

Fused statements that depend on each other across iterations of the innermost loop keep it serial. Where their order
allows it, each gets an innermost loop of its own: within one iteration of the loops around, all of the first statement
run before all of the second. Guards that keep one statement out of some iterations disappear on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.carried import visits
from polyviz.analysis.order_below import keeps_order_below
from polyviz.analysis.parallelism import last_is_parallel
from polyviz.analysis.privatization import users_of
from polyviz.model.isl_limits import solved
from polyviz.model.plan import CONCURRENT, END, VECTOR
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    insert_mark,
    is_under_mark,
    isolate_member,
    kind_of,
    node_at,
    statements_under,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop


def mark_loop(tree: isl.Schedule, path: Path, member: int, name: str) -> isl.Schedule:
    """Mark one member of the band at ``path``, which becomes a band of its own."""
    tree, alone = isolate_member(tree, path, member)
    return insert_mark(insert_mark(tree, (*alone, 0), END), alone, name)


def mark_vector(scop: Scop, tree: isl.Schedule, path: Path) -> isl.Schedule:
    """The last member of the band at ``path`` alone in a band and marked for vector instructions.

    Lanes go on together: ``tree`` as it is where a statement has a loop that ends for each instance at another time.
    """
    uneven = any(scop.statement(name).is_uneven for name in statements_under(band_at(tree, path)))
    return tree if uneven else mark_last(tree, path, VECTOR)


def mark_last(tree: isl.Schedule, path: Path, name: str) -> isl.Schedule:
    """The last member of the band at ``path`` alone in a band under a mark called ``name``."""
    return mark_loop(tree, path, band_at(tree, path).band_n_member() - 1, name)


def distribute_innermost(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path
) -> isl.Schedule | None:
    """The tree with one innermost loop per statement in place of the last member of the band at ``path``.

    Statements that pass private temporaries to each other share a loop. All loops are parallel and marked for vector
    instructions. None when that order would be illegal, or some of the loops would not be parallel.
    """
    band = band_at(tree, path)
    if len(statements_under(band)) < 2 or kind_of(band.child(0)) not in ("sequence", "set"):
        return None
    tree, alone = isolate_member(tree, path, band.band_n_member() - 1)
    tree = _sunk(tree, alone, _ties(scop, dependences))
    if not keeps_order_below(scop, dependences, tree, alone):
        return None
    walk = zip(bands(tree), visits(scop, dependences, tree), strict=True)
    inner = {place: visit for (place, _), visit in walk if place[: len(alone)] == alone}
    if not all(map(last_is_parallel, inner.values())):
        return None
    for place in reversed(inner):
        tree = mark_vector(scop, tree, place)
    return tree


def _ties(scop: Scop, dependences: Dependences) -> list[frozenset[str]]:
    """The statements that touch one private temporary, for each: a loop of its own would ask for an array."""
    users = (users_of(scop, found.array) for found in dependences.privatizations)
    return [names for names in users if len(names) > 1]


def _sunk(tree: isl.Schedule, path: Path, ties: Sequence[frozenset[str]]) -> isl.Schedule:
    """The tree with the band at ``path`` moved below the branches under it, down to those that no tie spans."""
    band = band_at(tree, path)
    rows = band.band_get_partial_schedule()
    return _inserted_below(band.delete(), rows, ties).get_schedule()


def _inserted_below(
    node: isl.ScheduleNode, rows: isl.MultiUnionPwAff, ties: Sequence[frozenset[str]]
) -> isl.ScheduleNode:
    if kind_of(node) not in ("sequence", "set") or _is_tied(node, ties):
        return node.insert_partial_schedule(rows.intersect_domain(node.get_universe_domain()))
    for place in range(node.n_children()):
        node = _inserted_below(node.child(place).child(0), rows, ties).parent().parent()
    return node


def _is_tied(node: isl.ScheduleNode, ties: Sequence[frozenset[str]]) -> bool:
    branches = [frozenset(statements_under(node.child(place).child(0))) for place in range(node.n_children())]
    return any(sum(bool(branch & tie) for branch in branches) > 1 for tie in ties)


def is_parallel_innermost(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> bool:
    """Whether the last member of the band at ``path`` is parallel inside the members before it."""
    walk = zip(bands(tree), visits(scop, dependences, tree), strict=True)
    return next(last_is_parallel(visit) for (place, _), visit in walk if place == path)


def is_concurrent(band: isl.ScheduleNode) -> bool:
    """Whether a scheduler marked ``band``: its first two rows add up to a time from which all tiles can start."""
    return is_under_mark(band, CONCURRENT)


def is_mixed(scop: Scop, tree: isl.Schedule, path: Path) -> bool:
    """Whether some iterations of the band at ``path`` run only some of its statements, so that guards are needed."""
    band = band_at(tree, path)
    domains = node_at(tree, path).get_domain().get_set_list()
    if len({domains.get_at(position).n_dim() for position in range(domains.n_set())}) > 1:
        return True
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    times = isl.UnionMap.from_multi_union_pw_aff(rows).intersect_domain(band.get_domain())
    each = times.intersect_params(scop.context).get_map_list()
    ranges = [each.get_at(position).range() for position in range(each.n_map())]
    return any(_overlap(ranges[0], other) for other in ranges[1:])


def _overlap(one: isl.Set, other: isl.Set) -> bool:
    """Whether two sets have some of their points in common, not all and not none."""
    return solved(lambda: one.is_equal(other)) is False and solved(lambda: one.is_disjoint(other)) is False
