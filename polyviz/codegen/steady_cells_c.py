"""Cells that a vector loop reads in every iteration: loaded in front of it, in C.

    if (0 < k) {
        const int64_t M_steady0 = M[i][k];
        #pragma omp simd
        for (int64_t j = 0; j < k; j++) {
            cost = M_steady0 + M[k][j];
            if (M[i][j] > cost) {
                M[i][j] = cost;
                …

Compilers leave a loop with a branch alone that loads a cell between its stores, of an array that it writes elsewhere.
No iteration writes the cell: the others, which read it, would depend on that one, and the loop would not run in lanes.
Should there be one iteration only, what is replaced is read before anything is written (``select_c`` does the same for
loops that do nothing but choose). Nor do compilers take a test whether a cell is there out of a loop, whose outcome is
written down, and with it they leave the divisions that find the cell.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from polyviz.codegen.calling import is_checked
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.index import simplified
from polyviz.codegen.loops import For, If, descendants, instances
from polyviz.codegen.values_c import SUM
from polyviz.codegen.wraps import replaced
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Conditional,
    Constant,
    Element,
    Expression,
    Instruction,
    Logical,
    Name,
    substitute,
    walk,
)
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import Instance
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop

    Bodies = MutableMapping[str, Sequence[Instruction]]


class SteadyCellPrinter:
    """Finds such cells; ``dtypes`` gets the types of the constants that it adds."""

    def __init__(
        self,
        scop: Scop,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
    ) -> None:
        self.scop = scop
        self.iterators = {iterator for statement in scop.statements for iterator in statement.iterators}
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text

    @contextmanager
    def loaded(self, loop: For, bodies: Bodies, indent: int) -> Iterator[int]:
        """What stands around ``loop``, in braces of its own: where it is empty the cells may not even exist; how far
        the loop is indented. While this lasts, ``bodies`` have constants for the cells."""
        cells = self._cells(loop, bodies)
        if not cells:
            yield indent
            return
        start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
        length = simplified(Binary("-", loop.stop, loop.start))
        runs = isinstance(length, Constant) and isinstance(length.value, int) and length.value > 0
        self.text.add(indent, "{" if runs else f"if ({start} < {stop}) {{")
        names: dict[Expression, Element] = {}
        before = {one.statement: bodies[one.statement] for one, _ in cells}
        for one, element in cells:
            cell = substitute(element, dict(zip(self._iterators(one), one.arguments, strict=True)))
            assert isinstance(cell, Element)
            if cell not in names:
                names[cell] = self._constant(one, cell, len(names), indent + 1)
            body = (replaced(line, {element: names[cell]}) for line in bodies[one.statement])
            bodies[one.statement] = tuple(line for line in body if isinstance(line, Instruction))
        yield indent + 1
        bodies.update(before)
        self.text.add(indent, "}")

    def _constant(self, one: Instance, cell: Element, number: int, indent: int) -> Element:
        taken = unused_name(f"{cell.array}_steady{number}", self.iterators.__contains__)
        name = self.arrays.added(taken)
        self.dtypes[name] = self.dtypes[cell.array]
        self.arrays.enter(self.scop.statement(one.statement))
        value = self.printer.expression(cell)
        self.text.add(indent, f"const {C_TYPE_NAMES[self.dtypes[name]]} {name} = {value};")
        return Element(name)

    def _cells(self, loop: For, bodies: Bodies) -> list[tuple[Instance, Element]]:
        """The cells as their statements write them, each with the instance that reads it."""
        places = list(instances(loop.body))
        names = [one.statement for one in places]
        alone = all(name in bodies for name in names) and len(set(names)) == len(names)
        if not alone or any(isinstance(node, For) for node in descendants(loop.body)):
            return []
        branches = any(isinstance(line, Branch) for name in names for line in bodies[name])
        always = not any(isinstance(node, If) for node in descendants(loop.body))
        everything = {array for name in names for array in _written(bodies[name])}
        found: list[tuple[Instance, Element]] = []
        done: set[str] = set()
        for one in places:
            lines = _in_order(bodies[one.statement])
            for element in dict.fromkeys(_read_first(lines)):
                written = element.array in everything - done
                steady = written and branches and self._is_steady(element, one, loop, lines)
                if steady or (always and self._is_tested(element, one, loop, everything)):
                    found.append((one, element))
            done |= _written(bodies[one.statement])
        return found

    def _is_steady(self, element: Element, one: Instance, loop: For, lines: Sequence[Node]) -> bool:
        """Whether ``element`` is the same cell in all iterations, in range, and read before its array is written."""
        statement = self.scop.statement(one.statement)
        moves = dict(zip(self._iterators(one), one.arguments, strict=True))
        cell = substitute(element, moves)
        if element.array not in self.arrays.shaped or Name(loop.iterator) in walk(cell):
            return False
        simple = not any(isinstance(part, Element) for subscript in element.subscripts for part in walk(subscript))
        writing = [place for place, line in enumerate(lines) if element.array in _written([line])]
        reading = [place for place, line in enumerate(lines) if element in walk(line)]
        early = not writing or max(reading) <= min(writing)
        return simple and early and not is_checked(self.scop, element, statement)

    def _is_tested(self, element: Element, one: Instance, loop: For, written: set[str]) -> bool:
        """Whether ``element`` is the same cell in all iterations, which do not write it or what finds it, but would
        test each time whether it is there."""
        statement = self.scop.statement(one.statement)
        parts = list(walk(substitute(element, dict(zip(self._iterators(one), one.arguments, strict=True)))))
        same = Name(loop.iterator) not in parts and element.array in self.arrays.shaped
        kept = not any(isinstance(part, Element) and part.array in written for part in parts)
        return same and kept and not self.arrays.untested and is_checked(self.scop, element, statement)

    def _iterators(self, one: Instance) -> tuple[str, ...]:
        return tuple(self.scop.statement(one.statement).iterators)


def _in_order(body: Sequence[Instruction]) -> list[Node]:
    """What a body does, in the order of its text, as if all branches were taken."""
    found: list[Node] = []
    for line in body:
        if isinstance(line, Branch):
            found += [line.condition, *_in_order(line.then), *_in_order(line.otherwise)]
        else:
            found.append(line)
    return found


def _read_first(lines: Sequence[Node]) -> list[Element]:
    """The elements that the first of ``lines`` reads, whatever is decided."""
    value = lines[0].value if lines and isinstance(lines[0], Assign) else lines[0] if lines else None
    if not isinstance(value, Expression) or any(isinstance(part, Conditional | Logical) for part in walk(value)):
        return []
    return [part for part in walk(value) if isinstance(part, Element) and part.subscripts]


def _written(lines: Sequence[Node]) -> set[str]:
    return {part.target.array for line in lines for part in walk(line) if isinstance(part, Assign)}
