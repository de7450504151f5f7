"""How much memory a part touches and how much it computes, for known sizes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import accesses_by_array
from polyviz.analysis.counting import count_points, instance_counts
from polyviz.analysis.times import maps_of
from polyviz.analysis.witness import fixed
from polyviz.model.expression import Assign, Binary, Call, Compare, Element, Unary, children

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class Footprint:
    """The distinct cells of one array that are read, written, or either; may accesses count as if they happened."""

    array: str
    read: int
    written: int
    touched: int


def footprints(scop: Scop, parameter_values: Mapping[str, int]) -> dict[str, Footprint]:
    """The footprint of every accessed array for the given sizes.

    An over-approximated access is counted with all cells it may touch, cut to the array's extents where known.
    """
    found = {}
    for accesses in accesses_by_array(scop):
        read = cells_touched(scop, accesses.array, accesses.reads, parameter_values)
        written = cells_touched(scop, accesses.array, accesses.writes, parameter_values)
        counts = (count_points(cells) for cells in (read, written, read.union(written)))
        found[accesses.array] = Footprint(accesses.array, *counts)
    return found


def cells_touched(scop: Scop, array: str, accesses: isl.UnionMap, parameter_values: Mapping[str, int]) -> isl.Set:
    """The cells of ``array`` that ``accesses`` reach for the given sizes, cut to its extents where these are known."""
    inside = _inside(scop, array, parameter_values)
    cells = isl.Set.empty(inside.get_space())
    for relation in maps_of(accesses):
        cells = cells.union(fixed(relation.range(), parameter_values))
    return cells.intersect(inside)


def _inside(scop: Scop, array: str, parameter_values: Mapping[str, int]) -> isl.Set:
    """The cells that the array has, as far as its extents are known."""
    declared = scop.array(array)
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, declared.rank)
    cells = isl.Set.universe(space.set_tuple_name(isl.dim_type.set, array))
    for axis, extent in enumerate(declared.extents):
        if extent is not None:
            last = fixed(isl.Set.from_pw_aff(extent), parameter_values).dim_max_val(0).to_python() - 1
            cells = cells.lower_bound_val(isl.dim_type.set, axis, isl.Val(0))
            cells = cells.upper_bound_val(isl.dim_type.set, axis, isl.Val(last))
    return cells


def operation_counts(scop: Scop, parameter_values: Mapping[str, int]) -> dict[str, int]:
    """How many operations of each kind the part performs for the given sizes; a kind is the name of its operator.

    Both sides of a condition that depends on data are counted, and a loop inside a statement once: those counts are
    upper and lower bounds. Subscripts and loop control are not counted.
    """
    runs = instance_counts(scop, parameter_values)
    total: Counter[str] = Counter()
    for statement in scop.statements:
        for operator, number in operations_of(statement).items():
            total[operator] += number * runs[statement.name]
    return dict(total)


def operations_of(statement: Statement) -> Counter[str]:
    """The operations of one instance by name of the operator or function."""
    total: Counter[str] = Counter()
    for instruction in statement.body:
        _count_operations(instruction, total)
    return total


def operations_in(node: Node) -> int:
    """How many operations there are in ``node``, without those in subscripts."""
    total: Counter[str] = Counter()
    _count_operations(node, total)
    return total.total()


def _count_operations(node: Node, total: Counter[str]) -> None:
    if isinstance(node, Element):
        return
    total.update(operators(node))
    for child in children(node):
        _count_operations(child, total)


def operators(node: Node) -> tuple[str, ...]:
    """The operators and functions of one node, without those below it."""
    if isinstance(node, Binary | Unary):
        return (node.operator,)
    if isinstance(node, Assign):
        return () if node.operator is None else (node.operator,)
    if isinstance(node, Compare):
        return node.operators
    if isinstance(node, Call):
        return (node.function,)
    return ()
