"""How much reuse goes along each loop when all sizes are known: a number per iterator of each statement."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.dependences import Dependence
    from polyviz.scheduling.problem import SchedulingProblem

Weighting = Literal["extent", "retained"]
Weights = dict[str, tuple[int, ...]]


def reuse_weights(problem: SchedulingProblem, sizes: isl.Set, weighting: Weighting) -> Weights:
    """The weight of every iterator, by statement.

    ``sizes`` is a set of parameters with one point. A relation is the reuse of one array: from a write or read to the
    next read of the same cell. ``extent`` adds up, over the relations, how many values of the iterator take part as a
    source and as a sink. ``retained`` adds up for every relation that stays within one value of the iterator how many
    values of the other iterators it runs over: the reuse that one iteration keeps. Source: Reddy (2019), equations 6.2
    and 6.3 and the example 6.6, whose figures follow the second rule and not the first.
    """
    totals = {part.name: [0] * len(part.iterators) for part in problem.scop.statements}
    count = _extents if weighting == "extent" else _retained
    for dependence in _reuse(problem):
        relation = dependence.relation.intersect_params(sizes)
        if relation.is_empty():
            continue
        for statement, numbers in count(dependence, relation):
            totals[statement] = [old + new for old, new in zip(totals[statement], numbers, strict=True)]
    return {name: tuple(numbers) for name, numbers in totals.items()}


def _reuse(problem: SchedulingProblem) -> Iterator[Dependence]:
    """Flow, and reads after reads of the same cell unless the value itself was passed on between the same instances."""
    flow = {
        (found.array, found.source, found.sink): found.relation
        for found in problem.dependences.relations
        if found.kind == "flow"
    }
    for found in problem.dependences.relations:
        if found.kind == "flow":
            yield found
        # A scalar sits in a register wherever its reads are.
        elif found.kind == "input" and problem.scop.array(found.array).rank > 0:
            passed_on = flow.get((found.array, found.source, found.sink))
            relation = found.relation if passed_on is None else found.relation.subtract(passed_on)
            yield replace(found, relation=relation)


def _extents(dependence: Dependence, relation: isl.Map) -> Iterator[tuple[str, list[int]]]:
    for statement, instances in ((dependence.source, relation.domain()), (dependence.sink, relation.range())):
        yield statement, _projections(instances)


def _retained(dependence: Dependence, relation: isl.Map) -> Iterator[tuple[str, list[int]]]:
    instances = defaultdict(list)
    instances[dependence.source].append(relation.domain())
    instances[dependence.sink].append(relation.range())
    for statement, parts in instances.items():
        united = parts[0] if len(parts) == 1 else parts[0].union(parts[1])
        numbers = _projections(united)
        moved = [_moves(relation, position) for position in range(len(numbers))]
        volume = sum(number for number, moves in zip(numbers, moved, strict=True) if moves)
        yield statement, [0 if moves else volume for moves in moved]


def _moves(relation: isl.Map, position: int) -> bool:
    """Whether some pair differs in the iterator at ``position``, or only one end has it."""
    if position >= min(relation.dim(isl.dim_type.in_), relation.dim(isl.dim_type.out)):
        return True
    same = relation.equate(isl.dim_type.in_, position, isl.dim_type.out, position)
    return not relation.is_subset(same)


def _projections(instances: isl.Set) -> list[int]:
    """How many values each iterator takes in ``instances``, gaps in the middle not looked for."""
    numbers = []
    for position in range(instances.dim(isl.dim_type.set)):
        first, last = instances.dim_min_val(position).to_python(), instances.dim_max_val(position).to_python()
        stride = instances.get_stride(position).to_python()
        numbers.append((last - first) // stride + 1)
    return numbers
