"""Innermost loops in C that change a cell under a condition on data: the cell is in a variable until they end.

    double y_value = y[i];
    for (int64_t j = 0; j < n; j++) {
        if (A[i][j] < limit) {
            y_value += A[i][j];
        }
    }
    y[i] = y_value;

A compiler must not store where the source does not, so it keeps the branch, which is guessed wrong as often as the data
like. A variable may be chosen instead, and then the loop runs in vectors. Here the cell may be stored all the same: the
order was proved as if what may be written was written, so no other thread has to do with it, and it is inside its
array, or not touched at all.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.arrays_c import counts_from_end
from polyviz.codegen.bodies import placed_body
from polyviz.codegen.calling import is_checked
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.folds import mentions
from polyviz.codegen.grouped_folds_c import GroupedFoldPrinter, is_straight
from polyviz.codegen.loops import instances
from polyviz.codegen.values_c import SUM
from polyviz.model.expression import Assign, Branch, Element, Instruction, Loop, rebuild, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence

    from polyviz.codegen.accumulate_c import AccumulationPrinter
    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For, Instance
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class Cell:
    """The one ``element`` of its array that a loop touches, as ``statement`` has it there; whether it is known to be
    ``inside`` the array even where no condition holds."""

    statement: Statement
    element: Element
    inside: bool


class CellPrinter:
    """Prints innermost loops with the cells in variables that they change where they stay: those that they fold values
    into, and those that they change under conditions. ``print_loop`` prints the loop itself, with the bodies that it
    finds changed."""

    def __init__(
        self,
        scop: Scop,
        folds: AccumulationPrinter,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loop: Callable[[For, int], None],
        bodies: Mapping[str, Sequence[Instruction]],
    ) -> None:
        self.scop = scop
        self.dtypes = folds.dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loop = print_loop
        self.grouped = GroupedFoldPrinter(folds, arrays, printer, text, print_loop)
        # All names are asked for now, so that no loop variable gets them.
        for array in (array for body in bodies.values() for array in _changed_under_conditions(body)):
            self._variable(array)

    def write(self, loop: For, bodies: MutableMapping[str, Sequence[Instruction]], indent: int) -> bool:
        """Print ``loop``, if there are such cells."""
        cells = self._conditional(loop, bodies)
        if not cells:
            return self._write_group(loop, bodies, indent)
        self._write_with(cells, loop, bodies, indent)
        return True

    def _conditional(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> list[Cell]:
        """The cells that ``loop`` changes under conditions and that stay where they are."""
        if loop.parallel or loop.reduced or loop.vector or loop.interleave > 1 or not is_straight(loop.body):
            return []
        inside = tuple(instances(loop.body))
        if not all(one.statement in bodies for one in inside):  # a block of register tiles touches much
            return []
        arrays = dict.fromkeys(array for one in inside for array in _changed_under_conditions(bodies[one.statement]))
        return [cell for array in arrays if (cell := self._cell(array, loop, inside, bodies)) is not None]

    def _write_group(self, loop: For, bodies: MutableMapping[str, Sequence[Instruction]], indent: int) -> bool:
        group = self.grouped.fold(loop, bodies)
        if group is None:
            return False
        self.grouped.write(group, bodies, indent)
        return True

    def _write_with(
        self, cells: Sequence[Cell], loop: For, bodies: MutableMapping[str, Sequence[Instruction]], indent: int
    ) -> None:
        start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
        # Where the loop is empty the cells may not even exist.
        self.text.add(indent, f"if ({start} < {stop}) {{")
        variables = {cell.element.array: self._variable(cell.element.array) for cell in cells}
        places = [self._place(cell) for cell in cells]
        tests = [self._test(cell) for cell in cells]
        for variable, place, test in zip(variables.values(), places, tests, strict=True):
            value = f"{test} ? {place} : 0" if test else place
            self.text.add(indent + 1, f"{C_TYPE_NAMES[self.dtypes[variable]]} {variable} = {value};")
        with _in_variables(variables, [one.statement for one in instances(loop.body)], bodies):
            if not self._write_group(loop, bodies, indent + 1):
                self.print_loop(loop, indent + 1)
        for variable, place, test in zip(variables.values(), places, tests, strict=True):
            self.text.add(indent + 1, f"{f'if ({test}) ' if test else ''}{place} = {variable};")
        self.text.add(indent, "}")

    def _cell(
        self, array: str, loop: For, inside: Sequence[Instance], bodies: Mapping[str, Sequence[Instruction]]
    ) -> Cell | None:
        """The one cell of ``array`` that ``loop`` touches; None where there may be others, or tests of its place."""
        found: Cell | None = None
        for instance in inside:
            statement = self.scop.statement(instance.statement)
            body = placed_body(statement, bodies[statement.name], instance.arguments)
            nodes = [node for instruction in body for node in walk(instruction)]
            own = {node.iterator for node in nodes if isinstance(node, Loop)}
            for element in (node for node in nodes if isinstance(node, Element) and node.array == array):
                if found is not None and found.element != element:
                    return None
                is_inside = not is_checked(self.scop, element, statement)
                if not (is_inside or self._is_testable(element)) or not _is_told_before(element, {loop.iterator, *own}):
                    return None
                found = Cell(statement, element, is_inside or (found is not None and found.inside))
        return found

    def _is_testable(self, element: Element) -> bool:
        """Whether nothing tests the place of ``element`` in the loop, and a test before it would tell the same."""
        from_end = any(map(counts_from_end, element.subscripts))
        return self.arrays.untested and element.array in self.arrays.shaped and not from_end

    def _test(self, cell: Cell) -> str:
        """What holds where ``cell`` is inside its array; empty where that is known."""
        subscripts = () if cell.inside else cell.element.subscripts
        extents = [self.arrays.tested_extent(cell.element.array, axis) for axis in range(len(subscripts))]
        places = map(self.printer.expression, subscripts)
        return " && ".join(
            f"(uint64_t)({place}) < (uint64_t){extent}" for place, extent in zip(places, extents, strict=True)
        )

    def _place(self, cell: Cell) -> str:
        self.arrays.enter(cell.statement)
        return self.printer.expression(cell.element)

    def _variable(self, array: str) -> str:
        name = self.arrays.added(f"{array}_value")
        self.dtypes[name] = self.dtypes[array]
        return name


def _changed_under_conditions(body: Sequence[Instruction]) -> dict[str, None]:
    """The arrays with subscripts that ``body`` writes where a condition holds."""
    branches = (node for instruction in body for node in walk(instruction) if isinstance(node, Branch))
    writes = (node for branch in branches for node in walk(branch) if isinstance(node, Assign))
    return dict.fromkeys(write.target.array for write in writes if write.target.subscripts)


def _is_told_before(element: Element, iterators: set[str]) -> bool:
    """Whether the place of ``element`` depends neither on data nor on ``iterators``."""
    below = [part for subscript in element.subscripts for part in walk(subscript)]
    return not any(isinstance(part, Element) for part in below) and not any(
        mentions(element, iterator) for iterator in iterators
    )


@contextmanager
def _in_variables(
    variables: Mapping[str, str], statements: Sequence[str], bodies: MutableMapping[str, Sequence[Instruction]]
) -> Iterator[None]:
    """While this lasts, ``statements`` have variables in the place of all elements of the arrays named."""

    def place(node: Node) -> Node:
        if isinstance(node, Element) and node.array in variables:
            return Element(variables[node.array])
        return rebuild(node, place)

    before = {name: bodies[name] for name in statements}
    for name, body in before.items():
        bodies[name] = tuple(one for one in map(place, body) if isinstance(one, Instruction))
    yield
    bodies.update(before)
