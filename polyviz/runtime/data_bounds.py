"""Can a tested subscript of this call leave its array? Sizes, types and, where need be, the loaded values tell.

The tests in generated code are for subscripts that data decide. An index of eight bits cannot leave a table of 256
cells, and where the least and the greatest element of an index array are inside, so are all between. Who knows that
before the loops start needs no tests, and no copies of what is written to restore it. What is loaded must not be
written by the loops; the values are looked at in every call, and only where that is little beside what it saves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.analysis.bounds import access_stays_inside, shapes_made
from polyviz.analysis.witness import fixed
from polyviz.codegen.arrays_c import counts_from_end
from polyviz.codegen.calling import is_checked, tested_steps
from polyviz.codegen.dtypes import type_named
from polyviz.codegen.ranges import range_of
from polyviz.codegen.scalar_values import scalar_values
from polyviz.codegen.subscript_values import SubscriptValues, facts_of, steady_facts
from polyviz.model.exclusion import exclusive
from polyviz.model.expression import Branch, Conditional, Element, Loop, children, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from polyviz.codegen.ranges import Range
    from polyviz.codegen.subscript_values import Facts
    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop, Statement
    from polyviz.runtime.bound import Bound

WORTH = 8
"""So many executions of a statement have to use each value that is looked at, where no copies are saved by it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of the tests in a call: that they ``cannot_fail``, and whether they are ``needed`` nevertheless.

    They are where a negative subscript counts from the end. All holds as long as the elements of the arrays in
    ``values``, which the loops only read, are between the two numbers.
    """

    cannot_fail: bool = False
    needed: bool = True
    values: tuple[tuple[str, int, int], ...] = ()


TESTED = Standing()


@dataclass(frozen=True, slots=True)
class _Use:
    """One tested element: the facts that hold where it stands, and the loops with bounds of data around it."""

    element: Element
    facts: Facts
    loops: tuple[Loop, ...]

    @property
    def loads(self) -> set[str]:
        """The arrays whose elements decide its subscripts."""
        bounds = [bound for loop in self.loops for bound in (loop.start, loop.stop)]
        parts = [part for one in (*self.element.subscripts, *bounds) for part in walk(one)]
        return {part.array for part in parts if isinstance(part, Element) and part.subscripts}


@dataclass(frozen=True, slots=True)
class _Question:
    """All that is open for one kind of call: the ``uses`` of each statement with what its iterators and the parameters
    are, and what the ``elements`` of arrays are by their types; the values of those ``loaded`` would tell more. No use
    happens more than ``runs`` times."""

    uses: tuple[tuple[SubscriptValues, tuple[_Use, ...]], ...]
    elements: Mapping[str, Range]
    shapes: Mapping[str, tuple[int, ...]]
    loaded: tuple[str, ...] = ()
    runs: int = 0

    def answer(self, values: Mapping[str, Range]) -> Standing:
        """The standing where arrays hold ``values``, or what their types allow."""
        elements, lowest = {**self.elements, **values}, 0
        for known, uses in self.uses:
            for use in uses:
                found = _lowest(use, replace(known, elements=elements), self.shapes[use.element.array])
                if found is None:
                    return TESTED
                lowest = min(lowest, found)
        return Standing(cannot_fail=True, needed=lowest < 0)


class DataBounds:
    """Tells for each call of one part whether tests can fail; what depends on sizes and types only is remembered."""

    def __init__(self, scop: Scop, remembered: int) -> None:
        self.scop = scop
        self.remembered = remembered
        self.written = frozenset(
            access.array for statement in scop.statements for access in statement.accesses if access.kind == "write"
        )
        self._known: dict[object, _Question | Standing] = {}
        self._uses = {statement.name: tuple(self._tested(statement)) for statement in scop.statements}
        self._possible = any(self._uses.values()) and not any(
            tested_steps(scop, statement) for statement in scop.statements
        )

    def standing(self, bound: Bound) -> Standing:
        """What is known of the tests in this call."""
        if not self._possible or not bound.has_whole_rows:
            return TESTED
        key = (tuple(bound.parameters.items()), tuple(bound.shapes.items()), bound.key)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= self.remembered:
                self._known.clear()
            found = self._known[key] = self._settled(bound)
        if isinstance(found, Standing):
            return found
        values = {name: values_in(bound.given[name]) for name in found.loaded}
        answer = found.answer(values)
        return replace(answer, values=tuple((name, *ends) for name, ends in values.items()))

    @exclusive
    def _settled(self, bound: Bound) -> _Question | Standing:
        """The standing that sizes and types decide, or what to ask of the values."""
        question = self._question(bound)
        if any(use.element.array not in question.shapes for _, uses in question.uses for use in uses):
            return TESTED
        answer = question.answer({})
        if not answer.needed or not question.loaded:
            return answer
        cells = sum(bound.given[name].size for name in question.loaded)
        copies = 0 if answer.cannot_fail else sum(
            bound.given[name].size for name in bound.shapes if name in self.written
        )
        filled = all(bound.given[name].size for name in question.loaded)
        return question if filled and (cells <= copies or WORTH * cells <= question.runs) else answer

    def _question(self, bound: Bound) -> _Question:
        whole = {name: (value, value) for name, value in bound.parameters.items()}
        running = {
            statement.name: {**whole, **names}
            for statement in self.scop.statements
            if (names := _names_in(self.scop, statement, bound.parameters)) is not None
        }
        scalars = scalar_values(self.scop, running)
        found, runs = [], 0
        for statement in (one for one in self.scop.statements if one.name in running):
            uses = tuple(use for use in self._uses[statement.name] if not self._is_inside(statement, use, bound))
            if uses:
                found.append((replace(scalars, names={**scalars.names, **running[statement.name]}), uses))
                runs = max(runs, *(_runs(running[statement.name], use) for use in uses))
        given = {name: kind for name, kind in bound.types.items() if kind.rank and name not in self.written}
        typed = {name: range_of(type_named(kind.dtype)) for name, kind in given.items()}
        elements = {name: values for name, values in typed.items() if values is not None}
        mentioned = {name for _, uses in found for use in uses for name in use.loads}
        shapes = {**shapes_made(self.scop, bound.parameters), **bound.shapes_in_loops}
        return _Question(tuple(found), elements, shapes, tuple(sorted(mentioned & set(elements))), runs)

    def _is_inside(self, statement: Statement, use: _Use, bound: Bound) -> bool:
        """Whether isl finds the affine subscripts of ``use`` inside for these sizes."""
        accesses = [
            access
            for access in statement.accesses
            if access.array == use.element.array and access.span == use.element.span and not access.exact
        ]
        return use.element.affine and bool(accesses) and all(
            access_stays_inside(self.scop, statement, access, bound.parameters, bound.shapes_in_loops)
            for access in accesses
        )

    def _tested(self, statement: Statement) -> Iterator[_Use]:
        for instruction in statement.body:
            for use in _uses_in(instruction, frozenset(), ()):
                if is_checked(self.scop, use.element, statement):
                    yield replace(use, facts=steady_facts(use.facts, self.written))


def _uses_in(node: Node, facts: Facts, loops: tuple[Loop, ...]) -> Iterator[_Use]:
    """All elements in ``node``, each with the comparisons that hold and the loops around it."""
    if isinstance(node, Element):
        yield _Use(node, facts, loops)
    for child in children(node):
        inside = facts
        if isinstance(node, Branch) and any(child is one for one in node.then):
            inside = facts | facts_of(node.condition)
        if isinstance(node, Conditional) and child is node.body:
            inside = facts | facts_of(node.condition)
        within = (*loops, node) if isinstance(node, Loop) and any(child is one for one in node.body) else loops
        # The same iterator may be another number in another loop, or a fact be about the one before.
        yield from _uses_in(child, frozenset() if len(within) > len(loops) else inside, within)


def _lowest(use: _Use, values: SubscriptValues, shape: tuple[int, ...]) -> int | None:
    """The lowest subscript of ``use``, 0 where none counts from the end; None where one may be out of range."""
    for loop in use.loops:
        found = _iterator_values(loop, values)
        if found is None:
            return None
        values = replace(values, names={**values.names, loop.iterator: found})
    lowest = 0
    for subscript, extent in zip(use.element.subscripts, shape, strict=True):
        found = values.of(subscript, use.facts)
        if found is None or found[0] < -extent or found[1] >= extent:
            return None
        lowest = lowest if counts_from_end(subscript) else min(lowest, found[0])
    return lowest


def _iterator_values(loop: Loop, values: SubscriptValues) -> Range | None:
    """The values of the iterator of ``loop``, as far as a constant step and the values of its bounds tell."""
    start, stop, step = (values.of(bound) for bound in (loop.start, loop.stop, loop.step))
    if start is None or stop is None or step is None or step[0] <= 0 <= step[1]:
        return None
    if step[0] > 0:
        return start[0], max(start[0], stop[1] - 1)
    return min(start[1], stop[0] + 1), start[1]


def _names_in(scop: Scop, statement: Statement, parameters: Mapping[str, int]) -> dict[str, Range] | None:
    """The least and the greatest value of each iterator of ``statement``; None where it has no instances."""
    instances = fixed(statement.domain.intersect_params(scop.context), parameters)
    if instances.is_empty():
        return None
    found = {}
    for axis, name in enumerate(statement.iterators):
        low, high = instances.dim_min_val(axis), instances.dim_max_val(axis)
        if low.is_int() and high.is_int():
            found[name] = (low.to_python(), high.to_python())
    return found


def _runs(names: Mapping[str, Range], use: _Use) -> int:
    """How often ``use`` is executed at most, as far as sizes tell; a loop with bounds of data counts once."""
    known = SubscriptValues(names)
    found = [_iterator_values(loop, known) for loop in use.loops]
    return prod(high - low + 1 for low, high in (*names.values(), *(one for one in found if one is not None)))


def values_in(array: NDArray[Any]) -> Range:
    """The least and the greatest element, without the detour of the methods, which counts in a call.

    >>> values_in(np.array([[3, -1], [7, 2]]))
    (-1, 7)
    """
    return int(np.minimum.reduce(array, axis=None)), int(np.maximum.reduce(array, axis=None))
