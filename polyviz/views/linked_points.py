"""Numbered instances: the points of each statement, their times under a schedule, and the pairs of each dependence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.views.instances import Instance, integer_points, points_in
from polyviz.views.sizes import SET, clip, extents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.model.scop import Statement

_INPUT = isl.dim_type.in_
_OUTPUT = isl.dim_type.out
# More pairs of instances than these take longer to enumerate than a reader waits.
_ENUMERATED = 50_000
# The library counts by walking over all but the innermost loop.
_COUNTED = 5e6


@dataclass(frozen=True, slots=True)
class Instances:
    """The drawn instances of a statement in lexicographic order; ``domain`` holds exactly these.

    ``total`` counts all instances for the drawn values, None when there is no end of them or too many to count.
    """

    domain: isl.Set
    points: tuple[Instance, ...]
    total: int | None
    notes: tuple[str, ...]
    numbers: Mapping[Instance, int] = field(init=False, compare=False, repr=False)
    """The number of each point."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", {point: number for number, point in enumerate(self.points)})


@dataclass(frozen=True, slots=True)
class Between:
    """The pairs of a dependence between drawn instances: ``relation`` holds exactly these, ``count`` says how many."""

    relation: isl.Map
    count: int

    def nearest(self) -> Between:
        """Of each source the nearest sink only: enumerating all of very many is what takes most of the time."""
        found = self.relation.lexmin()
        return Between(found, _pair_count(found))

    def drawn(self, most: int) -> int:
        """How many pairs a drawing of at most ``most`` has."""
        return 0 if self.count > _ENUMERATED else len(range(0, self.count, self._step(most)))

    def pairs(self, source: Instances, sink: Instances, most: int) -> list[list[int]]:
        """These as numbers of instances."""
        if not self.drawn(most):
            return []
        rank = self.relation.dim(_INPUT)
        found = points_in(self.relation.wrap())[:: self._step(most)]
        return [[source.numbers[pair[:rank]], sink.numbers[pair[rank:]]] for pair in found]

    def _step(self, most: int) -> int:
        return max(1, -(-self.count // most))


def instances_of(statement: Statement, bound: isl.Set, most: int) -> Instances:
    """At most ``most`` instances of ``statement`` for the parameter values in ``bound``.

    Of more, a window is taken and not every third one: a dependence is drawn only where both of its ends are.
    """
    domain = statement.domain.intersect_params(bound)
    total = _count(domain)
    window = clip(domain, statement.iterators)
    notes = list(window.cuts)
    inside = _narrowed(window.domain, statement.iterators, most, notes)
    points, _ = integer_points(inside, most)
    return Instances(inside, tuple(points), total, tuple(notes))


def _count(domain: isl.Set) -> int | None:
    """How many points ``domain`` has; None where they have no end, or where counting them takes too long."""
    box = math.prod(extents(domain))
    if domain.is_box() and math.isfinite(box):
        return int(math.prod(map(int, extents(domain))))
    return int(domain.count_val().to_python()) if box <= _COUNTED else None


def _narrowed(domain: isl.Set, iterators: Iterable[str], most: int, notes: list[str]) -> isl.Set:
    """``domain``, cut along its widest loops until at most ``most`` instances are left."""
    names = list(iterators)
    while int(domain.count_val().to_python()) > most:
        spans = [(_high(domain, axis) - _low(domain, axis), axis) for axis in range(len(names))]
        _, axis = max(spans)
        last = (_low(domain, axis) + _high(domain, axis)) // 2
        domain = domain.upper_bound_val(SET, axis, isl.Val(last, domain.get_ctx()))
        notes[:] = [note for note in notes if not _is_about(note, names[axis])]
        notes.append(f"only {names[axis]} up to {last}")
    return domain


def _is_about(note: str, iterator: str) -> bool:
    """Whether ``note`` tells of a cut along ``iterator``, which a closer one replaces."""
    return note.startswith(f"only {iterator} up to") or note.endswith(f" values of {iterator}")


def _low(domain: isl.Set, axis: int) -> int:
    return int(domain.dim_min_val(axis).to_python())


def _high(domain: isl.Set, axis: int) -> int:
    return int(domain.dim_max_val(axis).to_python())


def times_of(
    order: isl.UnionMap,
    bound: isl.Set,
    drawn: Mapping[str, Instances],
    known: dict[str, dict[Instance, list[int]]] | None = None,
) -> dict[str, list[list[int]]]:
    """The time of every drawn instance under ``order``, a map into one common time space.

    What is ``known`` of this order already is not worked out again, and what is found is added to it.
    """
    known = {} if known is None else known
    times: dict[str, list[list[int]]] = {name: [] for name in drawn}
    maps: list[isl.Map] = []
    order.intersect_params(bound).foreach_map(maps.append)
    for piece in maps:
        name = piece.get_tuple_name(_INPUT) or ""
        if name in drawn:
            own = known.setdefault(name, {})
            if not all(point in own for point in drawn[name].points):
                own.update(zip(drawn[name].points, values_of(piece, drawn[name]), strict=True))
            times[name] = [own[point] for point in drawn[name].points]
    return times


def values_of(order: isl.Map, drawn: Instances) -> list[list[int]]:
    """The value of ``order`` at every drawn instance; raises KeyError where it has none."""
    rank = order.dim(_INPUT)
    pairs = points_in(order.intersect_domain(drawn.domain).wrap())
    found = {pair[:rank]: list(pair[rank:]) for pair in pairs}
    return [found[point] for point in drawn.points]


def between(relation: isl.Map, source: Instances, sink: Instances) -> Between:
    """What of a dependence is between drawn instances; ``relation`` has no free parameters."""
    found = relation.intersect_domain(source.domain).intersect_range(sink.domain)
    return Between(found, _pair_count(found))


def _pair_count(relation: isl.Map) -> int:
    return int(relation.wrap().count_val().to_python())


def carrying_dimensions(relation: isl.Map, order: Mapping[str, isl.Map], source: str, sink: str) -> list[int]:
    """The dimensions of the common time space in which some pair of ``relation`` first differs.

    >>> order = {"S": isl.Map("{ S[i, j] -> [i, j] }")}
    >>> carrying_dimensions(isl.Map("{ S[i, j] -> S[i, j + 1] }"), order, "S", "S")
    [1]
    """
    if source not in order or sink not in order:
        return []
    differences = relation.apply_domain(order[source]).apply_range(order[sink]).deltas()
    carrying = []
    for dimension in range(differences.dim(SET)):
        zero = isl.Val(0, differences.get_ctx())
        same = differences.fix_val(SET, dimension, zero)
        if not differences.is_subset(same):
            carrying.append(dimension)
        differences = same
        if differences.is_empty():
            break
    return carrying


def maps_by_statement(order: isl.UnionMap) -> dict[str, isl.Map]:
    """The maps of ``order`` by the statement whose instances they take."""
    maps: list[isl.Map] = []
    order.foreach_map(maps.append)
    return {piece.get_tuple_name(_INPUT) or "": piece for piece in maps}
