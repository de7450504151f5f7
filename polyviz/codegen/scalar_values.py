"""What numbers the scalars of a part can be, from the values of iterators and sizes: ``k = int(j * (m - 1) / n)``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.ranges import joined
from polyviz.codegen.subscript_values import SubscriptValues
from polyviz.model.expression import Assign, Element, Loop, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.ranges import Range
    from polyviz.codegen.subscript_values import RealRange
    from polyviz.model.expression import Expression
    from polyviz.model.scop import Array, Scop, Statement

_WIDE = (None, "int64", "float64")
"""The types that numbers are computed in; a narrower one that the source asks for would round or wrap."""
_Source = tuple[str, "Expression"]
"""The statement that gives a scalar its value, and that value."""


def scalar_values(scop: Scop, iterators: Mapping[str, Mapping[str, Range]]) -> SubscriptValues:
    """The values of the scalars that every assignment tells of, where ``iterators`` has for each statement that runs
    those of its iterators and of the parameters.

    They hold for all times together. A scalar with a value from before, or computed from itself, is left alone.
    """
    open_ones = {
        array.name: sources
        for array in scop.arrays
        if array.rank == 0 and array.origin == "local" and not array.live_in and _is_wide(array)
        if (sources := _sources(scop, array.name, iterators))
    }
    found = SubscriptValues({})
    while known := _known(open_ones, iterators, found):
        found = replace(found, names={**found.names, **known.names}, reals={**found.reals, **known.reals})
        open_ones = {name: ones for name, ones in open_ones.items() if name not in {*known.names, *known.reals}}
    return found


def _is_wide(array: Array) -> bool:
    """Whether ``array`` holds numbers as they are computed: a cell may have a type that only calls tell."""
    return array.dtype in _WIDE and not (array.dtype is None and array.keeps_type)


def _known(
    open_ones: Mapping[str, Sequence[_Source]], iterators: Mapping[str, Mapping[str, Range]], found: SubscriptValues
) -> SubscriptValues | None:
    """What can be told of the scalars left once those ``found`` are known; None where that is nothing."""
    names: dict[str, Range] = {}
    reals: dict[str, RealRange] = {}
    for name, sources in open_ones.items():
        inside = [(replace(found, names={**found.names, **iterators[at]}), value) for at, value in sources]
        whole = joined(values.of(value) for values, value in inside)
        if whole is not None:
            names[name] = whole
            continue
        ends = [values.real(value) for values, value in inside]
        if None not in ends:
            reals[name] = (min(one[0] for one in ends if one), max(one[1] for one in ends if one))
    return SubscriptValues(names, reals=reals) if names or reals else None


def _sources(scop: Scop, name: str, iterators: Mapping[str, Mapping[str, Range]]) -> list[_Source]:
    """Where ``name`` gets its values; nothing where one of them is hard to tell, or its name is that of an iterator."""
    found: list[_Source] = []
    for statement in (one for one in scop.statements if one.name in iterators):
        assigns = _assigns(statement, name)
        repeated = any(isinstance(node, Loop) for instruction in statement.body for node in walk(instruction))
        if name in iterators[statement.name] or (assigns and repeated) or any(_is_update(one) for one in assigns):
            return []
        found += [(statement.name, one.value) for one in assigns]
    return found


def _assigns(statement: Statement, name: str) -> list[Assign]:
    nodes = (node for instruction in statement.body for node in walk(instruction))
    return [node for node in nodes if isinstance(node, Assign) and node.target.array == name]


def _is_update(assign: Assign) -> bool:
    own = (part for part in walk(assign.value) if isinstance(part, Element) and part.array == assign.target.array)
    return assign.operator is not None or any(own)
