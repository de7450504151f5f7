"""Which instances touch the same cache line one after the other.

A line is a group of neighbouring elements in the last dimension of an array; lines are neither aligned with those of a
machine nor as long: relations lose the divisions that number the lines, and then relate instances that *may* share
one. Source: Reddy, *Polyhedral Compilation for Domain Specific Languages* (2019), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import Row, rank
from polyviz.analysis.times import maps_of, union_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from polyviz.analysis.order import Order
    from polyviz.analysis.references import Reference
    from polyviz.model.isl_limits import Allowance

# What isl's dataflow analysis may need for the lines of one pattern, per pair of statements.
_PER_PAIR = 400_000


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Pairs of instances, source to sink; not ``complete`` when the analysis was stopped at its limit."""

    relations: tuple[isl.Map, ...]
    complete: bool = True


def completion(subscripts: Sequence[Row], iterators: int) -> list[int]:
    """The loops to put before ``subscripts`` so that together they tell iterations apart, outermost loops first.

    Without them the last line of one iteration of an outer loop would count as a neighbour of the first line of the
    next one.

    >>> one, zero = Fraction(1), Fraction(0)
    >>> completion([(zero, zero, one), (zero, one, zero)], 3)  # B[k, j] in the loops i, j, k
    [0]
    """
    rows = list(subscripts)
    added = []
    for loop in range(iterators):
        unit = tuple(Fraction(int(place == loop)) for place in range(iterators))
        if rank([*rows, unit]) > rank(rows):
            rows.append(unit)
            added.append(loop)
    return added


def line_access(reference: Reference, elements: int) -> isl.Map:
    """The lines of ``elements`` elements that ``reference`` touches; the reference must have a subscript.

    The loops that :func:`completion` names come first, the number of the line last.
    """
    relation = reference.relation
    last = relation.dim(isl.dim_type.out) - 1
    lines = relation.apply_range(_to_lines(relation.get_space().range(), last, elements))
    for position, loop in enumerate(completion(reference.subscripts, relation.dim(isl.dim_type.in_))):
        lines = lines.insert_dims(isl.dim_type.out, position, 1)
        lines = lines.equate(isl.dim_type.in_, loop, isl.dim_type.out, position)
    return lines.set_tuple_name(isl.dim_type.out, reference.array)


def line_neighbours(
    pattern: Iterable[Reference], elements: int, order: Order, allowance: Allowance
) -> Neighbours:
    """Which instances touch a line that was last touched by which: reads and writes alike, of one ``pattern``.

    The relations are exact but for lines that begin anywhere. Where statements take turns on a line, so that none
    follows itself, each is also related to itself as if it were alone. Nothing is related when ``allowance`` ends.
    """
    references = tuple(pattern)
    found = _of_lines(references, elements, order, allowance)
    following = {
        relation.get_tuple_name(isl.dim_type.in_) for relation in found.relations if _is_own(relation)
    }
    for name in dict.fromkeys(reference.statement for reference in references):
        own = [reference for reference in references if reference.statement == name]
        if name not in following and len(own) < len(references):
            alone = _of_lines(own, elements, order, allowance)
            found = Neighbours(found.relations + alone.relations, found.complete and alone.complete)
    return found


def _of_lines(pattern: Sequence[Reference], elements: int, order: Order, allowance: Allowance) -> Neighbours:
    touched = [reference for reference in pattern if reference.subscripts]
    lines = union_of((line_access(reference, elements) for reference in touched), order.parameters)
    if lines.is_empty():
        return Neighbours(())
    most = _PER_PAIR * lines.n_map() ** 2
    found = allowance.attempt(lambda: _consecutive(lines, order), most)
    if found is None:
        return Neighbours((), complete=False)
    domains = {relation.get_tuple_name(isl.dim_type.in_): relation.domain() for relation in maps_of(lines)}
    return Neighbours(tuple(_anywhere(relation, domains) for relation in maps_of(found)))


def _is_own(relation: isl.Map) -> bool:
    return bool(relation.get_tuple_name(isl.dim_type.in_) == relation.get_tuple_name(isl.dim_type.out))


def _to_lines(cells: isl.Space, last: int, elements: int) -> isl.Map:
    """Cells to cells with the last coordinate divided by ``elements``."""
    functions = isl.MultiAff.identity(cells.map_from_set())
    number = functions.get_at(last).scale_down_val(isl.Val(elements)).floor()
    return isl.Map.from_multi_aff(functions.set_aff(last, number))


def _consecutive(lines: isl.UnionMap, order: Order) -> isl.UnionMap:
    information = isl.UnionAccessInfo.from_sink(lines).set_must_source(lines)
    return information.set_schedule_map(order.together()).compute_flow().get_must_dependence()


def _anywhere(relation: isl.Map, domains: dict[str, isl.Set]) -> isl.Map:
    """``relation`` for lines that begin anywhere: without the divisions, on instances that exist."""
    source = domains[relation.get_tuple_name(isl.dim_type.in_)]
    sink = domains[relation.get_tuple_name(isl.dim_type.out)]
    return relation.remove_divs().intersect_domain(source).intersect_range(sink).coalesce()
