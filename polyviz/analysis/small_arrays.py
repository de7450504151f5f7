"""The cells of a small array become variables, where its subscripts are numbers once short loops are written out.

A vector of three forces, the coefficients of a polynomial, a patch of pixels: what an iteration works on beside the
large arrays has a few cells, which loops of a few iterations go through. Written out, each cell is a variable like any
other: it lives in a register, every iteration of the loop around it has its own, and that loop can run in vector lanes.

Source: scalar replacement (Callahan, Carr and Kennedy, "Improving register allocation for subscripted variables",
1990), here for all cells of an array, so that the array itself is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import accesses_by_array
from polyviz.analysis.dataflow import is_read_from_before
from polyviz.analysis.dependences import allowance_for
from polyviz.analysis.live_ranges import names_of
from polyviz.analysis.nesting import loop_nests
from polyviz.analysis.order import Order
from polyviz.analysis.privatization import users_of
from polyviz.analysis.times import sets_of, times_by_statement
from polyviz.analysis.written_out import iterations, with_loops_written_out
from polyviz.model.expression import Element, Loop, rebuild, rewritten, walk
from polyviz.model.linear import linear_terms
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.analysis.accesses import ArrayAccesses
    from polyviz.analysis.nesting import Nest
    from polyviz.analysis.written_out import Values
    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Node
    from polyviz.model.scop import Access, Array, Scop, Statement

MOST_CELLS, MOST_STATEMENTS = 64, 128
"""Cells of an array, and statements of a part with loops written out: more would take long to schedule and compile."""

Place = tuple[int, ...]
Cell = tuple[int, ...]


def with_small_arrays_as_variables(scop: Scop, dependences: Dependences) -> Scop:
    """``scop`` with variables for the cells of each small array, where its loops may be written out for that.

    The array is made in the part, every value that is read from it was stored before, and nobody looks at it
    afterwards. Notes say what was done; ``scop`` itself without such arrays.
    """
    loops = _Loops(scop, loop_nests(scop.schedule))
    if not loops.are_plain:
        return scop
    chosen: list[Array] = []
    places: frozenset[Place] = frozenset()
    for array in _candidates(scop):
        needed = loops.moving(array)
        wanted = None if needed is None else loops.closed(places | needed)
        if wanted is None or not loops.keeps_one(array, wanted) or not loops.fit(wanted):
            continue
        chosen.append(array)
        places = wanted
    if not chosen:
        return scop
    positions = loops.positions(loops.with_neighbours(chosen, places))
    values = {name: loops.values(name, own) or [] for name, own in positions.items()}
    result = with_loops_written_out(scop, positions, values)
    for array in chosen:
        result = _with_variables(result, array)
    return result


def _candidates(scop: Scop) -> Iterator[Array]:
    """The arrays whose cells could be variables, as far as can be told without the loops around them."""
    seen = {name for exchange in scop.exchanges for name in (*exchange.names, *exchange.values)}
    seen |= {array.creation.like for array in scop.arrays if array.creation is not None and array.creation.like}
    seen |= set(scop.result.names)
    accesses = {found.array: found for found in accesses_by_array(scop)}
    order = Order(times_by_statement(scop.schedule.get_map()), scop.context.get_space())
    for array in scop.arrays:
        if array.name in seen or array.name not in accesses or not (_is_small(array) and _has_own_type(scop, array)):
            continue
        own = accesses[array.name]
        if _is_subscripted_plainly(scop, array) and _stays_inside(array, own) and _is_filled_first(own, order):
            yield array


def _is_small(array: Array) -> bool:
    creation = array.creation
    if not array.rank or array.live_in or array.live_out or creation is None or creation.values is not None:
        return False
    shape = _shape(array)
    return shape is not None and prod(shape) <= MOST_CELLS


def _has_own_type(scop: Scop, array: Array) -> bool:
    """Whether the type of ``array`` is known without what is stored in it: named, or that of an argument."""
    creation = array.creation
    if creation is None or creation.of_values or creation.numbers or array.rebound:
        return False
    return array.dtype is not None or (creation.like is not None and scop.array(creation.like).creation is None)


def _shape(array: Array) -> tuple[int, ...] | None:
    """The extents of ``array``; None where they are no numbers."""
    known = [extent for extent in array.extents if extent is not None and extent.is_cst()]
    return tuple(int(extent.max_val().to_python()) for extent in known) if len(known) == array.rank else None


def _is_subscripted_plainly(scop: Scop, array: Array) -> bool:
    """Whether iterators of the statements, with fixed factors, are all that its subscripts are made of."""
    for statement in scop.statements:
        inner = {node.iterator for part in statement.body for node in walk(part) if isinstance(node, Loop)}
        for element in _elements(statement, array.name):
            terms = [linear_terms(subscript) for subscript in element.subscripts]
            names = {name for found in terms if found is not None for name in found if name}
            if None in terms or not element.affine or names & inner or not names <= set(statement.iterators):
                return False
    return True


def _elements(statement: Statement, array: str) -> Iterator[Element]:
    for instruction in statement.body:
        yield from (node for node in walk(instruction) if isinstance(node, Element) and node.array == array)


def _stays_inside(array: Array, accesses: ArrayAccesses) -> bool:
    """Whether every subscript is one of the cells of ``array``."""
    shape = _shape(array)
    assert shape is not None
    return all(
        touched.dim_min_val(axis) >= isl.Val(0) and touched.dim_max_val(axis) < isl.Val(extent)
        for touched in sets_of(accesses.reads.union(accesses.writes).range())
        for axis, extent in enumerate(shape)
    )


def _is_filled_first(accesses: ArrayAccesses, order: Order) -> bool:
    """Whether every value that is read was stored before."""
    return not accesses.writes.is_empty() and not is_read_from_before(
        accesses, order, allowance_for([accesses])
    )


@dataclass(frozen=True, slots=True)
class _Loops:
    """The loops of a part, each known by its place in the tree."""

    scop: Scop
    nests: Mapping[str, Nest]

    @property
    def are_plain(self) -> bool:
        """Whether the loops around each statement are those of its iterators."""
        return all(len(self.nests[one.name].loops) == len(one.iterators) for one in self.scop.statements)

    def moving(self, array: Array) -> frozenset[Place] | None:
        """The loops with which subscripts of ``array`` move; None where one leaves it."""
        found: set[Place] = set()
        for statement in self.scop.statements:
            for element in _elements(statement, array.name):
                terms = [linear_terms(subscript) or {} for subscript in element.subscripts]
                names = {name for own in terms for name, factor in own.items() if name and factor}
                loops = self.nests[statement.name].loops
                found |= {loops[statement.iterators.index(name)].place for name in names}
        return frozenset(found)

    def closed(self, places: frozenset[Place]) -> frozenset[Place] | None:
        """``places`` with all loops inside them, and those around them that tell how often these run; None where that
        is no fixed number all the same."""
        while True:
            found = set(places)
            for nest in self.nests.values():
                own = [loop.place for loop in nest.loops]
                first = next((number for number, place in enumerate(own) if place in places), len(own))
                found |= set(own[first:])
            places = frozenset(found)
            unknown = [name for name, own in self.positions(places).items() if self.values(name, own) is None]
            if not unknown:
                return places
            outside = {place for name in unknown for place in [*self._outside(name, places)][-1:]}
            if not outside:
                return None
            places |= outside

    def positions(self, places: frozenset[Place]) -> dict[str, tuple[int, ...]]:
        """The iterators of each statement inside one of ``places`` that are those of such loops."""
        found = {
            name: tuple(number for number, loop in enumerate(nest.loops) if loop.place in places)
            for name, nest in self.nests.items()
        }
        return {name: own for name, own in found.items() if own}

    def values(self, name: str, positions: tuple[int, ...]) -> list[Values] | None:
        """What the iterators of a statement at ``positions`` go through."""
        return iterations(self.scop.statement(name), positions, MOST_STATEMENTS)

    def fit(self, places: frozenset[Place]) -> bool:
        """Whether the part stays small enough when ``places`` are written out."""
        positions = self.positions(places)
        copies = sum(len(self.values(name, own) or ()) for name, own in positions.items())
        return copies + len(self.nests) - len(positions) <= MOST_STATEMENTS

    def keeps_one(self, array: Array, places: frozenset[Place]) -> bool:
        """Whether some loop stays around what uses ``array``: without one there is nothing to gain."""
        users = users_of(self.scop, array.name)
        return any(loop.place not in places for name in users for loop in self.nests[name].loops)

    def with_neighbours(self, arrays: list[Array], places: frozenset[Place]) -> frozenset[Place]:
        """``places`` with the short loops beside them, so that all statements have the same loops around them."""
        users = {name for array in arrays for name in users_of(self.scop, array.name)}
        around = {tuple(self._outside(name, places)) for name in users}
        for outer in sorted(around - {()}):
            beside = {
                nest.loops[len(outer)].place
                for nest in self.nests.values()
                if len(nest.loops) > len(outer) and tuple(loop.place for loop in nest.loops[: len(outer)]) == outer
            }
            for place in sorted(beside - places):
                wanted = self.closed(places | {place})
                places = wanted if wanted is not None and self.fit(wanted) else places
        return places

    def _outside(self, name: str, places: frozenset[Place]) -> Iterator[Place]:
        return takewhile(lambda place: place not in places, (loop.place for loop in self.nests[name].loops))


def _with_variables(scop: Scop, array: Array) -> Scop:
    """``scop`` with a variable for each cell of ``array``, of which all subscripts are numbers."""
    taken = names_of(scop)
    names: dict[Cell, str] = {}
    cells = {_cell(one, array) for part in scop.statements for one in _elements(part, array.name)}
    for cell in sorted(cells):
        names[cell] = unused_name("_".join(map(str, (array.name, *cell))), taken.__contains__)
        taken.add(names[cell])
    made = array.creation
    assert made is not None
    creation = replace(made, function="empty", fill=None)
    variable = replace(array, rank=0, extents=(), creation=creation, rows=())
    variables = tuple(replace(variable, name=name) for name in names.values())
    note = (
        f"`{array.name}` has few cells, and the loops that go through them are short: they are written out, and each "
        f"cell is a variable ({_listed([*names.values()])})."
    )
    return replace(
        scop,
        statements=tuple(_without_array(part, array, names) for part in scop.statements),
        arrays=(*(one for one in scop.arrays if one.name != array.name), *variables),
        notes=(*scop.notes, note),
    )


def _listed(names: list[str]) -> str:
    return f"`{names[0]}`" if len(names) == 1 else f"`{names[0]}` … `{names[-1]}`"


def _cell(element: Element, array: Array) -> Cell:
    """The cell of ``array`` that ``element`` is; a negative number counts from the end."""
    shape = _shape(array)
    assert shape is not None
    given = [(linear_terms(subscript) or {}).get("", 0) for subscript in element.subscripts]
    return tuple(value + extent if value < 0 else value for value, extent in zip(given, shape, strict=True))


def _without_array(statement: Statement, array: Array, names: Mapping[Cell, str]) -> Statement:
    def place(node: Node) -> Node:
        if isinstance(node, Element) and node.array == array.name:
            return replace(node, array=names[_cell(node, array)], subscripts=())
        return rebuild(node, place)

    accesses = tuple(_of_variable(one, names) if one.array == array.name else one for one in statement.accesses)
    return replace(statement, accesses=accesses, body=rewritten(statement.body, place))


def _of_variable(access: Access, names: Mapping[Cell, str]) -> Access:
    touched = access.relation.range()
    cell = tuple(int(touched.dim_min_val(axis).to_python()) for axis in range(touched.dim(isl.dim_type.set)))
    name = names[cell]
    relation = isl.Map.from_domain(access.relation.domain()).set_tuple_name(isl.dim_type.out, name)
    return replace(access, array=name, relation=relation, apart=None, text=name)
