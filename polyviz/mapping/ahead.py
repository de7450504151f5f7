"""What of a sum in a recurrence can come before the block of rows it belongs to.

Rows are the iterations of a loop that carries something; a block is a number of them. A step of the sum is *late* when
it needs, or must follow, something that another row of its block does; so is every step behind a late one, and the same
step of the other rows, so that all of them have the same steps left. The rest is *early*: the rows of a block do not
meet in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.carried import rows_of, visits
from polyviz.model.isl_limits import solved
from polyviz.transform.tree import bands, is_band, node_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.analysis.carried import BandVisit, Constraint, Rows
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path


@dataclass(frozen=True, slots=True)
class Ahead:
    """Of the ``statement``, whose sum runs in the loop right inside the rows: the ``early`` steps; ``first`` are
    statements of the same rows that come before them, such as the one that sets the sum to its first value."""

    statement: str
    early: isl.Set
    first: tuple[str, ...]


def find_ahead(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, statement: str, count: int
) -> Ahead | str:
    """What comes before blocks of ``count`` iterations of the first loop of the band at ``path``; else, why nothing
    does."""
    visit = visit_at(scop, dependences, tree, path)
    steps = _row_inside(tree, path, statement)
    if steps is None:
        return "it is no sum of one loop"
    rows = _Blocks(visit, count)
    late = rows.met(statement)
    if late is None:
        return ""
    instances = _instances(visit.node, statement)
    around = [row[statement] for row in _rows_above(tree, path)]
    found = solved(lambda: _without(instances, late, [*around, rows.block(statement)], steps))
    if found is None:
        return "isl needs too long to tell its steps apart"
    if found.is_empty():
        return "its first step already needs a row of the same block"
    return Ahead(statement, found, rows.before(statement, found))


def visit_at(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> BandVisit:
    """The band at ``path``, with the pairs that the loops above leave together."""
    walk = zip(bands(tree), visits(scop, dependences, tree), strict=True)
    return next(visit for (place, _), visit in walk if place == path)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The first loop of a band in blocks of ``count`` iterations."""

    visit: BandVisit
    count: int

    def block(self, statement: str) -> isl.Map:
        """The number of the block of each instance."""
        return self._row(statement).apply_range(
            isl.Map(f"{{ [row] -> [block] : {self.count} block <= row < {self.count} block + {self.count} }}")
        )

    def met(self, statement: str) -> isl.Set | None:
        """The instances that come after something of another row of their block."""
        found = [
            self._together(one).subtract(self._same_row(one)).range() for one in self._into(statement)
        ]
        met = [instances for instances in found if not instances.is_empty()]
        return reduce(isl.Set.union, met) if met else None

    def before(self, statement: str, early: isl.Set) -> tuple[str, ...]:
        """The other statements that have instances in the block which come before some of ``early``, and those before
        them in turn."""
        names: list[str] = []
        pending = [one for one in self._into(statement) if one.source != statement]
        reached = [
            one.source for one in pending if not self._together(one).intersect_range(early).is_empty()
        ]
        while reached:
            name = reached.pop()
            if name not in names and name != statement:
                names.append(name)
                reached += [one.source for one in self._into(name) if not self._together(one).is_empty()]
        return tuple(sorted(names))

    def _row(self, statement: str) -> isl.Map:
        return self.visit.rows[0][statement]

    def _into(self, statement: str) -> Iterator[Constraint]:
        found = self.visit.constraints
        return (one for one in found if one.dependence is not None and one.sink == statement)

    def _together(self, constraint: Constraint) -> isl.Map:
        source, sink = self.block(constraint.source), self.block(constraint.sink)
        return constraint.pairs.intersect(source.apply_range(sink.reverse()))

    def _same_row(self, constraint: Constraint) -> isl.Map:
        return self._row(constraint.source).apply_range(self._row(constraint.sink).reverse())


def _without(instances: isl.Set, late: isl.Set, around: Sequence[isl.Map], steps: isl.Map) -> isl.Set:
    """``instances`` before the first of the ``late`` steps of their block: those with the same values ``around``.

    Where the first late step is has to follow from the block alone, for all blocks alike: those at the border may have
    none, but loops with the same bounds everywhere are worth more than a few steps.
    """
    places = reduce(isl.Map.flat_range_product, (*around[1:], steps), around[0])
    names = ", ".join(f"around{number}" for number in range(len(around)))
    onward = isl.Map(f"{{ [{names}, step] -> [{names}, later] : later >= step }}")
    left = _alike(late.apply(places).apply(onward).coalesce(), len(around)).apply(places.reverse())
    return instances.subtract(left).coalesce()


def _alike(places: isl.Set, block: int) -> isl.Set:
    """A set around ``places`` that is told by the relation between the block and the step alone."""
    hull = places.simple_hull()
    for dimension in (block - 1, block):
        hull = hull.drop_constraints_not_involving_dims(isl.dim_type.set, dimension, 1)
    return hull.to_set()


def _row_inside(tree: isl.Schedule, path: Path, statement: str) -> isl.Map | None:
    """The only loop around ``statement`` inside the first one of the band at ``path``; None where there are more."""
    below = [node_at(tree, path), *(band for other, band in bands(tree) if _is_below(other, path))]
    rows = [row for band in below for row in rows_of(band) if statement in row][1:]
    return rows[0][statement] if len(rows) == 1 else None


def _is_below(other: Path, path: Path) -> bool:
    return other != path and other[: len(path)] == path


def _rows_above(tree: isl.Schedule, path: Path) -> list[Rows]:
    above = [node_at(tree, path[:depth]) for depth in range(len(path))]
    return [row for node in above if is_band(node) for row in rows_of(node)]


def _instances(band: isl.ScheduleNode, statement: str) -> isl.Set:
    sets = band.get_domain().get_set_list()
    found = map(sets.get_at, range(sets.n_set()))
    return next(one for one in found if one.get_tuple_name() == statement)
