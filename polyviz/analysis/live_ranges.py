"""One scalar name used for unrelated values becomes several names.

Programs reuse a name for one temporary after another. Statements that pass values to each other through the scalar
belong together; two groups that do not are separate live ranges (webs), and what binds them is only the shared name.
Each range with a name of its own can be privatized by itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import accesses_by_array
from polyviz.analysis.dataflow import last_writers, readers_from_before
from polyviz.analysis.dependences import allowance_for
from polyviz.analysis.order import Order
from polyviz.analysis.times import maps_of, times_by_statement
from polyviz.model.expression import Element, Instruction, rebuild
from polyviz.model.isl_limits import solved
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.analysis.accesses import ArrayAccesses
    from polyviz.model.expression import Node
    from polyviz.model.isl_limits import Allowance
    from polyviz.model.scop import Access, Array, Scop, Statement


def separate_live_ranges(scop: Scop) -> Scop:
    """``scop`` with each live range of a scalar under its own name (``w``, ``w_2`` …), or ``scop`` itself.

    The range that holds a value from before the part or the one visible afterwards keeps the name. The result
    computes the same; a note says which names were split.
    """
    order = Order(times_by_statement(scop.schedule.get_map()), scop.context.get_space())
    found = accesses_by_array(scop)
    allowance = allowance_for(found)
    for accesses in found:
        array = scop.array(accesses.array)
        if array.rank > 0 or accesses.writes.is_empty():
            continue
        ranges = _live_ranges(scop, array, accesses, order, allowance)
        if len(ranges) > 1:
            scop = _renamed(scop, array, ranges)
    return scop


def _live_ranges(
    scop: Scop, array: Array, accesses: ArrayAccesses, order: Order, allowance: Allowance
) -> list[frozenset[str]]:
    """Groups of statements that share values of the scalar; the group whose values are seen outside comes first.

    Where the ``allowance`` ends, more statements are taken to share values than really do.
    """
    linked = [
        {_name(relation, isl.dim_type.in_), _name(relation, isl.dim_type.out)}
        for relation in maps_of(last_writers(accesses, order, allowance))
    ]
    outside = readers_from_before(accesses, order, allowance)
    if array.live_out:
        outside |= _final_writers(accesses, order.together())
    touching = _statements(accesses.reads.union(accesses.writes))
    ordered = [statement.name for statement in scop.statements if statement.name in touching]
    groups = _connected(ordered, [*linked, outside])
    return sorted(groups, key=lambda group: (not group & outside, min(map(ordered.index, group))))


def _final_writers(accesses: ArrayAccesses, order: isl.UnionMap) -> set[str]:
    """The statements whose write may be the last one for some sizes; all that write when isl needs too long."""
    writers = order.intersect_domain(accesses.writes.domain())
    found = solved(lambda: _statements(_not_overwritten(writers, accesses.must_writes.domain())))
    return _statements(writers) if found is None else found


def _not_overwritten(writers: isl.UnionMap, certain: isl.UnionSet) -> isl.UnionMap:
    last = writers.intersect_domain(certain).range().lexmax()
    return writers.subtract_range(writers.range().lex_lt_union_set(last).domain())


def _statements(union: isl.UnionMap) -> set[str]:
    return {_name(relation, isl.dim_type.in_) for relation in maps_of(union)}


def _name(relation: isl.Map, end: isl.dim_type) -> str:
    return relation.get_tuple_name(end) or ""


def _connected(names: Iterable[str], links: Iterable[set[str]]) -> list[frozenset[str]]:
    """The finest partition of ``names`` that tears no link apart."""
    groups = [{name} for name in names]
    for link in links:
        joined = [group for group in groups if group & link]
        if len(joined) > 1:
            groups = [group for group in groups if not group & link] + [set().union(*joined)]
    return [frozenset(group) for group in groups]


def _renamed(scop: Scop, array: Array, ranges: list[frozenset[str]]) -> Scop:
    names = fresh_names(scop, array.name, len(ranges) - 1)
    new_names = {
        statement: name for name, group in zip(names, ranges[1:], strict=True) for statement in group
    }
    arrays = [
        replace(array, name=name, origin="local", live_in=False, live_out=False, creation=None)
        for name in names
    ]
    note = f"The name `{array.name}` stands for {len(ranges)} unrelated values; the others are called {_listed(names)}."
    return replace(
        scop,
        statements=tuple(_with_name(part, array.name, new_names.get(part.name)) for part in scop.statements),
        arrays=(*scop.arrays, *arrays),
        notes=(*scop.notes, note),
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def fresh_names(scop: Scop, base: str, number: int) -> list[str]:
    """``number`` names made of ``base`` that nothing in ``scop`` has."""
    taken = names_of(scop)
    names: list[str] = []
    for _ in range(number):
        names.append(unused_name(base, {base, *taken, *names}.__contains__))
    return names


def names_of(scop: Scop) -> set[str]:
    """What has a name in ``scop``: arrays, parameters, arguments, statements and loops."""
    named = {array.name for array in scop.arrays} | {parameter.name for parameter in scop.parameters}
    named |= {argument.name for argument in scop.arguments} | {part.name for part in scop.statements}
    return named | {iterator for part in scop.statements for iterator in part.iterators}


def _with_name(statement: Statement, old: str, new: str | None) -> Statement:
    if new is None:
        return statement
    accesses = tuple(
        _renamed_access(access, new) if access.array == old else access for access in statement.accesses
    )
    body = tuple(_renamed_instruction(instruction, old, new) for instruction in statement.body)
    return replace(statement, accesses=accesses, body=body)


def _renamed_access(access: Access, new: str) -> Access:
    return access.mapped(lambda relation: relation.set_tuple_name(isl.dim_type.out, new), array=new, text=new)


def _renamed_instruction(instruction: Instruction, old: str, new: str) -> Instruction:
    renamed = _renamed_node(instruction, old, new)
    assert isinstance(renamed, Instruction)
    return renamed


def _renamed_node(node: Node, old: str, new: str) -> Node:
    if isinstance(node, Element) and node.array == old:
        return replace(node, array=new)
    return rebuild(node, lambda child: _renamed_node(child, old, new))
