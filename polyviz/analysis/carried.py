"""What each loop of a schedule tree carries: the walk behind parallelism and band properties.

The walk goes from the root to the leaves and keeps, at every node, the pairs of dependent instances that no loop or
sequence above has separated. What is left at a loop and differs in its value is carried by that loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import restricted
from polyviz.analysis.nesting import Kind, loop_nests, member_rows, node_kind, same_iteration
from polyviz.analysis.reductions import accesses_besides, find_reductions, same_cell
from polyviz.analysis.times import maps_of
from polyviz.model.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from polyviz.analysis.nesting import Nest
    from polyviz.analysis.reductions import Reduction
    from polyviz.model.dependences import Dependence, Dependences
    from polyviz.model.scop import Scop, Statement

Rows = dict[str, isl.Map]


@dataclass(frozen=True, slots=True)
class Constraint:
    """Pairs of instances of two statements that a loop may have to keep in order.

    ``dependence`` is where the pairs come from; ``reduction`` tells the steps of that reduction from the rest. A
    constraint without dependence is no order: its pairs are an accumulation and a foreign access to the same cell.
    """

    source: str
    sink: str
    pairs: isl.Map
    dependence: Dependence | None = None
    reduction: Reduction | None = None


@dataclass(frozen=True, slots=True)
class BandVisit:
    """A band on the walk: its depth (loops above it), the rows of its members, and what is undecided above it."""

    node: isl.ScheduleNode
    depth: int
    rows: tuple[Rows, ...]
    constraints: tuple[Constraint, ...]

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements under the band, in the order of their names."""
        return tuple(sorted(self.rows[0])) if self.rows else ()


def visits(scop: Scop, dependences: Dependences, tree: isl.Schedule) -> Iterator[BandVisit]:
    """Every band of ``tree`` with at least one member, in depth-first order."""
    yield from visits_with(tree, _KNOWN.of(dependences, scop, lambda: tuple(constraints_of(scop, dependences))))


# Every technique that looks at a tree walks over it, with the same constraints.
_KNOWN: Recent[tuple[Constraint, ...]] = Recent(4)


def visits_with(tree: isl.Schedule, constraints: tuple[Constraint, ...]) -> Iterator[BandVisit]:
    """The same walk with other ``constraints`` than those of the dependences."""
    yield from _visit(tree.get_root(), constraints, 0)


def forward(constraint: Constraint, rows: Rows) -> isl.Map:
    """The pairs whose source has the smaller value of the loop."""
    return constraint.pairs.intersect(rows[constraint.source].lex_lt_map(rows[constraint.sink]))


def backward(constraint: Constraint, rows: Rows) -> isl.Map:
    """The pairs whose source has the larger value of the loop."""
    return constraint.pairs.intersect(rows[constraint.source].lex_gt_map(rows[constraint.sink]))


def undecided(constraints: tuple[Constraint, ...], rows: Rows) -> tuple[Constraint, ...]:
    """What is left of ``constraints`` within one iteration of the loop."""
    kept = []
    for constraint in constraints:
        same = rows[constraint.source].apply_range(rows[constraint.sink].reverse())
        kept.append(replace(constraint, pairs=constraint.pairs.intersect(same)))
    return tuple(constraint for constraint in kept if not constraint.pairs.is_empty())


def _visit(node: isl.ScheduleNode, constraints: tuple[Constraint, ...], depth: int) -> Iterator[BandVisit]:
    kind = node_kind(node)
    if kind == Kind.band and node.band_n_member() > 0:
        rows = rows_of(node)
        yield BandVisit(node, depth, rows, constraints)
        depth += len(rows)
        constraints = reduce(undecided, rows, constraints)
    if kind == Kind.filter:
        constraints = filtered(constraints, node.filter_get_filter())
    for position in range(node.n_children()):
        yield from _visit(node.child(position), constraints, depth)


def rows_of(band: isl.ScheduleNode) -> tuple[Rows, ...]:
    """The members of a band, each as one map per statement to the value of the loop."""
    return tuple({_name(row): row for row in maps_of(member)} for member in member_rows(band))


def _name(row: isl.Map) -> str:
    return row.get_tuple_name(isl.dim_type.in_) or ""


def filtered(constraints: tuple[Constraint, ...], inside: isl.UnionSet) -> tuple[Constraint, ...]:
    """What is left of ``constraints`` among the instances ``inside``."""
    sets = inside.get_set_list()
    kept = {part.get_tuple_name(): part for part in map(sets.get_at, range(sets.n_set()))}
    result = []
    for constraint in constraints:
        if constraint.source not in kept or constraint.sink not in kept:
            continue
        pairs = constraint.pairs.intersect_domain(kept[constraint.source]).intersect_range(
            kept[constraint.sink]
        )
        if not pairs.is_empty():
            result.append(replace(constraint, pairs=pairs))
    return tuple(result)


def constraints_of(scop: Scop, dependences: Dependences) -> Iterator[Constraint]:
    """All that a schedule of ``scop`` has to keep in order, the steps of reductions apart from the rest."""
    accumulating = {
        dependence.source for dependence in dependences.relations if dependence.kind == "reduction"
    }
    reductions = {
        found.statement: found for found in find_reductions(scop) if found.statement in accumulating
    }
    for dependence in dependences.validity_relations:
        yield from _split(dependence, reductions)
    # They are found by a walk over the whole tree: once, and only where there is something to ask of them.
    nests = cache(lambda: loop_nests(scop.schedule))
    for reduction in reductions.values():
        yield from _foreign_accesses(scop, dependences, reduction, nests)


def _split(dependence: Dependence, reductions: Mapping[str, Reduction]) -> Iterator[Constraint]:
    """The steps of a reduction apart from every other pair of ``dependence``."""
    source, sink = dependence.source, dependence.sink
    reduction = reductions.get(source)
    if reduction is None or source != sink or dependence.array != reduction.array:
        yield Constraint(source, sink, dependence.relation, dependence)
        return
    steps = same_cell(reduction)
    yield Constraint(source, sink, dependence.relation.subtract(steps), dependence)
    yield Constraint(source, sink, dependence.relation.intersect(steps), dependence, reduction)


def _foreign_accesses(
    scop: Scop, dependences: Dependences, reduction: Reduction, nests: Callable[[], Mapping[str, Nest]]
) -> Iterator[Constraint]:
    """Instances that touch an accumulating cell without being a step of its reduction.

    Partial results are joined only after the loop, so a loop with such an access in it cannot run as a reduction.
    """
    private = [found for found in dependences.privatizations if found.array == reduction.array]
    for statement in scop.statements:
        if all(access.array != reduction.array for access in statement.accesses):
            continue
        pairs = reduction.target.apply_range(_foreign_cells(scop, statement, reduction).reverse())
        if private and not pairs.is_empty():
            source, sink = nests()[reduction.statement], nests()[statement.name]
            pairs = pairs.intersect(same_iteration(source, sink, private[0].depth))
        if not pairs.is_empty():
            yield Constraint(reduction.statement, statement.name, pairs, reduction=reduction)


def _foreign_cells(scop: Scop, statement: Statement, reduction: Reduction) -> isl.Map:
    if statement.name == reduction.statement:
        return accesses_besides(statement, reduction.array, reduction.target)
    space = statement.domain.get_space().map_from_domain_and_range(reduction.target.get_space().range())
    found = isl.Map.empty(space)
    for access in statement.accesses:
        if access.array == reduction.array:
            found = found.union(restricted(scop, statement, access))
    return found
