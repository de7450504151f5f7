"""From isl to integers: the statement instances and dependence arrows that one picture shows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.views.palette import KINDS
from polyviz.views.sizes import SET, clip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.model.dependences import Dependence
    from polyviz.model.scop import Statement

Instance = tuple[int, ...]
MOST_POINTS = 2000
MOST_ARROWS = 2000
_INPUT = isl.dim_type.in_
_OUTPUT = isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Arrow:
    """A dependence between two drawn instances, in drawn coordinates; the names are those of the statements."""

    kind: str
    array: str
    source_name: str
    source: Instance
    sink_name: str
    sink: Instance

    @property
    def ends(self) -> tuple[tuple[str, Instance], tuple[str, Instance]]:
        """Source and sink, each as the statement's name and the instance."""
        return (self.source_name, self.source), (self.sink_name, self.sink)


@dataclass(frozen=True, slots=True)
class Cell:
    """Drawn instances that belong together, as a tile or a block: a colour and an outline of their own.

    ``strengths`` has for every point how strong its sign is, 0 to 3, as for the threads of a block.
    """

    label: str
    colour: int
    points: tuple[Instance, ...]
    strengths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pane:
    """What is drawn of one statement: integer points and arrows for concrete parameter values.

    ``iterators`` name the drawn dimensions (at most three). ``complete`` tells that every instance is shown;
    ``notes`` say in sentences what is not. ``analysed`` is False where nobody has asked for dependences yet.
    ``ringed`` is an instance to point at. ``cells`` divide the points, or are none.
    """

    statement: str
    source: str
    line: int
    values: Mapping[str, int]
    iterators: tuple[str, ...]
    points: tuple[Instance, ...]
    arrows: tuple[Arrow, ...]
    complete: bool
    notes: tuple[str, ...] = ()
    analysed: bool = True
    ringed: Instance | None = None
    cells: tuple[Cell, ...] = ()


def integer_points(domain: isl.Set, most: int = MOST_POINTS) -> tuple[list[Instance], int]:
    """The integer points of a finite set without free parameters, thinned evenly to ``most``, and how many there are.

    >>> integer_points(isl.Set("{ S[i, j] : 0 <= i < 2 and 0 <= j <= i }"))
    ([(0, 0), (1, 0), (1, 1)], 3)
    """
    total = int(domain.count_val().to_python())
    if total > MOST_POINTS * 25:
        raise ValueError("a picture enumerates at most 50 000 points; clip the set first")
    found = points_in(domain)
    step = -(-len(found) // most)
    return (found[::step] if step > 1 else found), total


def points_in(domain: isl.Set) -> list[Instance]:
    """The integer points of a finite set without free parameters, in lexicographic order.

    >>> points_in(isl.Set("{ S[i, j] : 0 <= i < 2 and 0 <= j <= i }"))
    [(0, 0), (1, 0), (1, 1)]
    """
    points: list[isl.Point] = []
    domain.foreach_point(points.append)
    axes = range(domain.dim(SET))
    return sorted(
        # Three times as fast as a conversion to a number of any kind.
        tuple([point.get_coordinate_val(SET, axis).get_num_si() for axis in axes])
        for point in points
    )


def pane(
    statement: Statement,
    relations: Iterable[Dependence] | None,
    values: Mapping[str, int],
    bound: isl.Set,
    note: str = "",
) -> Pane:
    """What to draw of ``statement`` with its dependences on itself; ``bound`` fixes the parameters to ``values``.

    ``relations`` is None where they are not known. ``note`` says why the statement's domain may hold less than all
    instances.
    """
    own = [
        found
        for found in relations or ()
        if found.source == found.sink == statement.name and found.kind in KINDS
    ]
    window = clip(statement.domain.intersect_params(bound), statement.iterators)
    notes = [*([note] if note else []), *window.cuts]
    axes, domain = _slice(window.domain, statement.iterators, own, notes)
    points, total = integer_points(domain)
    if len(points) < total:
        notes.append(f"{len(points)} of {total} points, evenly chosen")
    arrows, covered = arrows_between(own, {statement.name: domain}, notes)
    return Pane(
        statement=statement.name,
        source=statement.source,
        line=statement.span.line,
        values=values,
        iterators=tuple(statement.iterators[axis] for axis in axes),
        points=tuple(_drawn(point, axes) for point in points),
        arrows=tuple(
            replace(arrow, source=_drawn(arrow.source, axes), sink=_drawn(arrow.sink, axes))
            for arrow in arrows
        ),
        complete=not notes,
        notes=tuple([*notes, covered] if covered else notes),
        analysed=relations is not None,
    )


def _drawn(instance: Instance, axes: Sequence[int]) -> Instance:
    return tuple(instance[axis] for axis in axes)


def _slice(
    domain: isl.Set, iterators: Sequence[str], own: Sequence[Dependence], notes: list[str]
) -> tuple[list[int], isl.Set]:
    """The three dimensions along which most dependences run, and the domain with the others held in the middle."""
    rank = domain.dim(SET)
    if rank <= 3 or domain.is_empty():
        return list(range(rank))[:3], domain
    moving = [_moves(dependence.relation, domain) for dependence in own]
    order = sorted(range(rank), key=lambda axis: (-sum(moves[axis] for moves in moving), -axis))
    fixed = sorted(order[3:])
    for axis in fixed:
        low, high = domain.dim_min_val(axis), domain.dim_max_val(axis)
        middle = low.add(high).div(isl.Val(2, domain.get_ctx())).floor()
        held = domain.fix_val(SET, axis, middle)
        if held.is_empty():
            middle, held = low, domain.fix_val(SET, axis, low)
        domain = held
        notes.append(f"the slice {iterators[axis]} = {middle.to_python()}")
    return sorted(order[:3]), domain


def _moves(relation: isl.Map, domain: isl.Set) -> list[int]:
    """Per dimension: 2 when every dependence runs along it, 1 when some do, 0 when none does."""
    deltas = relation.intersect_domain(domain).intersect_range(domain).deltas()
    if deltas.is_empty():
        return [0] * deltas.dim(SET)
    still = [deltas.fix_val(SET, axis, isl.Val(0, deltas.get_ctx())) for axis in range(deltas.dim(SET))]
    return [2 if held.is_empty() else int(not deltas.is_subset(held)) for held in still]


def arrows_between(
    relations: Iterable[Dependence], domains: Mapping[str, isl.Set], notes: list[str]
) -> tuple[list[Arrow], str]:
    """One arrow per pair of instances of the finite ``domains``; of several kinds the first in the palette's order.

    The second result is a sentence about the arrows that lie under others, empty when there are none.
    """
    best: dict[tuple[str, Instance, str, Instance], Arrow] = {}
    covered: dict[str, set[str]] = {}
    drawn = [found for found in relations if found.kind in KINDS]
    for dependence in sorted(drawn, key=lambda found: list(KINDS).index(found.kind)):
        relation = dependence.relation.intersect_domain(domains[dependence.source])
        relation = relation.intersect_range(domains[dependence.sink])
        rank = relation.dim(_INPUT)
        for pair in _pairs(relation, dependence, notes):
            ends = (dependence.source, pair[:rank], dependence.sink, pair[rank:])
            above = best.setdefault(ends, Arrow(dependence.kind, dependence.array, *ends))
            if above.kind not in (dependence.kind, "reduction"):
                covered.setdefault(above.kind, set()).add(dependence.kind)
    return list(best.values()), _covered(covered)


def _covered(kinds: Mapping[str, set[str]]) -> str:
    parts = [
        f"{' and '.join(sorted(below))} arrows that lie under {above} arrows"
        for above, below in kinds.items()
    ]
    return f"not drawn: {', '.join(parts)}" if parts else ""


def _pairs(relation: isl.Map, dependence: Dependence, notes: list[str]) -> list[Instance]:
    pairs = relation.wrap()
    total = int(pairs.count_val().to_python())
    if total <= MOST_ARROWS:
        return integer_points(pairs)[0]
    chosen, _ = integer_points(relation.lexmin().wrap(), MOST_ARROWS)
    notes.append(
        f"{len(chosen)} of {total} {dependence.kind} arrows through {dependence.array}: the nearest sinks"
    )
    return chosen


def outstanding(arrows: Sequence[Arrow], crowd: int) -> tuple[str, Instance] | None:
    """Of at least ``crowd`` arrows, the end nearest to the middle among those that have about as many as any.

    Fewer arrows can all be read, and None stands out.
    """
    if len(arrows) < crowd:
        return None
    degree = Counter(end for arrow in arrows for end in arrow.ends)
    middle = [sum(axis) / len(degree) for axis in zip(*(instance for _, instance in degree), strict=True)]
    busy = [end for end in degree if degree[end] >= 0.6 * max(degree.values())]
    return min(busy, key=lambda end: (math.dist(end[1], middle), end))


def span_of(points: Sequence[Instance], axis: int) -> tuple[int, int]:
    """The smallest and largest coordinate of ``points`` along ``axis``."""
    coordinates = [point[axis] for point in points]
    return min(coordinates), max(coordinates)
