"""Whether a change deep in a schedule tree keeps the order, without asking again about the loops around it."""

from __future__ import annotations

from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING

from polyviz.analysis.carried import backward, constraints_of, filtered, rows_of, undecided
from polyviz.analysis.nesting import Kind, node_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy as isl

    from polyviz.analysis.carried import Constraint
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop


def keeps_order_below(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Sequence[int]) -> bool:
    """Whether every dependent pair that the nodes above ``path`` leave together runs in order, exactly.

    ``path`` holds child positions from the root. The tree is legal when, besides, no loop and no sequence above runs
    against a dependence: when it was made from a legal tree by a change at ``path``.
    """
    constraints = tuple(found for found in constraints_of(scop, dependences) if found.dependence is not None)
    node = tree.get_root()
    for position in path:
        constraints = _inside(node, constraints)
        node = node.child(position)
    return _in_order(node, constraints)


def _inside(node: isl.ScheduleNode, constraints: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """What ``node`` leaves together."""
    if node_kind(node) == Kind.band:
        return reduce(undecided, rows_of(node), constraints)
    if node_kind(node) == Kind.filter:
        return filtered(constraints, node.filter_get_filter())
    return constraints


def _in_order(node: isl.ScheduleNode, constraints: tuple[Constraint, ...]) -> bool:
    if not constraints:
        return True
    kind = node_kind(node)
    if kind == Kind.leaf:
        return False
    if kind == Kind.band:
        for rows in rows_of(node):
            if not all(backward(constraint, rows).is_empty() for constraint in constraints):
                return False
            constraints = undecided(constraints, rows)
    if kind in (Kind.sequence, Kind.set) and not _branches_in_order(node, constraints):
        return False
    inside = constraints if kind == Kind.band else _inside(node, constraints)
    return all(_in_order(node.child(position), inside) for position in range(node.n_children()))


def _branches_in_order(node: isl.ScheduleNode, constraints: tuple[Constraint, ...]) -> bool:
    """Whether no pair has its source in a later branch than its sink; the branches of a set come in any order."""
    branches = [node.child(position).filter_get_filter() for position in range(node.n_children())]
    for first, then in combinations(branches, 2):
        if any(_reaches(constraint, then, first) for constraint in constraints):
            return False
        if node_kind(node) == Kind.set and any(_reaches(constraint, first, then) for constraint in constraints):
            return False
    return True


def _reaches(constraint: Constraint, source: isl.UnionSet, sink: isl.UnionSet) -> bool:
    pairs = constraint.pairs.to_union_map()
    return not pairs.intersect_domain(source).intersect_range(sink).is_empty()
