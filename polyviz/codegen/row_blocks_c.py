"""Row blocks in C: several rows of a stencil in one vector loop, with neighbours from shifted registers.

    vector_float64 A_row1 = *(const loose_float64 *)&A[i][j - 1];
    for (; j < j_stop - 13; j += 8) {
        const vector_float64 A_row1_next = *(const loose_float64 *)&A[i][j + 7];
        const vector_float64 A_row1_plus1 = shifted_1_float64(A_row1, A_row1_next);
        …
        A_row1 = A_row1_next;
    }

Each vector of a stream is loaded once. What a load would read beyond the last element that is needed is never read:
the last columns are loaded neighbour by neighbour, and where an iteration may run twice the last vector overlaps the
one before it; so does the first one, since the others begin where a vector of the target fits into a cache line. Other
columns, and rows that do not fill a block, run one by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.loops import For, instances
from polyviz.codegen.row_blocks import Types, moved_along, only, row_block
from polyviz.codegen.row_places_c import RowPlaces
from polyviz.model.expression import Element, Expression, Name, rebuild

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.row_blocks import RowBlock
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.vectors_c import VectorFunctions
    from polyviz.model.expression import Instruction, Node
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop


FEWEST_VECTORS = 8
"""Vectors in a row from which on one more, at its start, costs less than the misplaced others."""


class RowBlockPrinter:
    """Prints the row blocks of a plan; ``print_loops`` prints loop IR at an indentation, ``notes`` tells why rows are
    left to run one at a time."""

    def __init__(
        self,
        scop: Scop,
        types: Mapping[str, ArrayType],
        private: frozenset[str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loops: Callable[[LoopNode, int], None],
        vectors: VectorFunctions,
    ) -> None:
        self.scop = scop
        self.types = Types(types, private)
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loops = print_loops
        self.vectors = vectors
        self.notes: list[str] = []

    def block(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> RowBlock | None:
        """``loop`` as a row block, where its plan and the types of this call let it be one."""
        inner = only(loop.body)
        if loop.jam < 2 or self.vectors.processor is None or not (isinstance(inner, For) and inner.vector):
            return None
        found = row_block(self.scop, loop, bodies, self.types)
        if not isinstance(found, str):
            return found
        names = " and ".join(sorted({instance.statement for instance in instances(loop)}))
        note = f"rows of {names} run one at a time, not several in one vector loop: {found}"
        if note not in self.notes:
            self.notes.append(note)
        return None

    def write(self, block: RowBlock, indent: int) -> None:
        """The loops of ``block``: whole groups of rows, then those that are left."""
        self.vectors.use(block.dtype)
        names = _Names(self.arrays, block, self.printer.expression)
        row, column = block.rows.iterator, block.columns.iterator
        stop, start_column, stop_column = (
            names.of(f"{row}_stop"),
            names.of(f"{column}_start"),
            names.of(f"{column}_stop"),
        )
        count = block.rows.jam
        self._line(indent, "{")
        for name, bound in (
            (stop, block.rows.stop),
            (start_column, block.columns.start),
            (stop_column, block.columns.stop),
        ):
            self._line(indent + 1, f"const int64_t {name} = {self.printer.expression(bound)};")
        self._line(indent + 1, f"int64_t {row} = {self.printer.expression(block.rows.start)};")
        self._line(indent + 1, f"for (; {row} < {stop} - {count - 1}; {row} += {count}) {{")
        for declaration in names.places.declarations():
            self._line(indent + 2, declaration)
        self._columns(block, names, indent + 2)
        self._line(indent + 1, "}")
        self._line(indent + 1, f"for (; {row} < {stop}; {row}++) {{")
        rest = replace(block.columns, start=Name(start_column), stop=Name(stop_column))
        self.print_loops(rest, indent + 2)
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _columns(self, block: RowBlock, names: _Names, indent: int) -> None:
        column = block.columns.iterator
        start, stop = names.of(f"{column}_start"), names.of(f"{column}_stop")
        self._line(indent, f"int64_t {column} = {start};")
        shifted = self._shifted(block)
        if block.repeatable:
            self._from_lines_on(block, names, shifted, indent)
        else:
            self._in_order(block, names, shifted, indent)
        self._line(indent, f"for (; {column} < {stop}; {column}++) {{")
        for update in block.updates:
            self._store(block, self._text(update.target), self._text(update.value), indent + 1)
        self._line(indent, "}")

    def _in_order(self, block: RowBlock, names: _Names, shifted: frozenset[int], indent: int) -> None:
        """Whole vectors from the first column on."""
        column, lanes = block.columns.iterator, self.vectors.lanes(block.dtype)
        if shifted:
            self._shifting_loop(block, names, shifted, indent)
        stop = names.of(f"{column}_stop")
        self._line(indent, f"for (; {column} < {stop} - {lanes - 1}; {column} += {lanes}) {{")
        self._step(block, names, frozenset(), indent + 1)
        self._line(indent, "}")

    def _from_lines_on(self, block: RowBlock, names: _Names, shifted: frozenset[int], indent: int) -> None:
        """The first vector, unless it begins a line, then those from the address on at which a vector of the target may
        begin; vectors across cache lines take two accesses each, and twice as many lines wait for the next cache."""
        column, lanes = block.columns.iterator, self.vectors.lanes(block.dtype)
        start, stop, line, part = (
            names.of(f"{column}_{end}") for end in ("start", "stop", "line", "part")
        )
        self.printer.helpers.add("min_i64")
        target = f"(uintptr_t)&{self._text(block.updates[0].target)} / sizeof({C_TYPE_NAMES[block.dtype]})"
        enough = f"{stop} - {start} >= {FEWEST_VECTORS * lanes}"
        self._line(indent, f"const int64_t {line} = {enough} ? {start} + (int64_t)(-({target}) % {lanes}) : {start};")
        self._line(indent, f"for (int64_t {part} = 0; {part} < 2; {part}++) {{")
        if shifted:
            self._line(indent + 1, f"if ({part} == 1) {{")
            self._line(indent + 2, f"{column} = {line};")
            self._shifting_loop(block, names, shifted, indent + 2)
            self._line(indent + 1, "}")
        else:
            self._line(indent + 1, f"{column} = {part} ? {line} : {start};")
        self._line(indent + 1, f"if ({stop} - {start} >= {lanes})")
        self._line(indent + 2, f"for (; {column} < ({part} ? {stop} : {line}); {column} += {lanes}) {{")
        self._line(indent + 3, f"{column} = min_i64({column}, {stop} - {lanes});")
        self._step(block, names, frozenset(), indent + 3)
        self._line(indent + 2, "}")
        self._line(indent, "}")

    def _shifted(self, block: RowBlock) -> frozenset[int]:
        """The streams of which several neighbours come from two registers."""
        lanes = self.vectors.lanes(block.dtype)
        return frozenset(number for number, stream in enumerate(block.streams) if 0 < stream.span < lanes)

    def _shifting_loop(self, block: RowBlock, names: _Names, shifted: frozenset[int], indent: int) -> None:
        """The columns for which two whole vectors of every shifted stream are needed elements."""
        column, lanes = block.columns.iterator, self.vectors.lanes(block.dtype)
        stop = names.of(f"{column}_stop")
        missing = 2 * lanes - 1 - min(block.streams[number].span for number in shifted)
        self._line(indent, f"if ({column} < {stop} - {missing}) {{")
        for number in sorted(shifted):
            first = self._load(names, block.streams[number].first)
            self._line(indent + 1, f"vector_{block.dtype} {names.stream(number)} = {first};")
        self._line(indent + 1, f"for (; {column} < {stop} - {missing}; {column} += {lanes}) {{")
        self._step(block, names, shifted, indent + 2)
        for number in sorted(shifted):
            name = names.stream(number)
            self._line(indent + 2, f"{name} = {names.of(f'{name}_next')};")
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _step(self, block: RowBlock, names: _Names, shifted: frozenset[int], indent: int) -> None:
        """One vector of columns in all rows: loads, shifts, and the updates of the rows."""
        vector = f"const vector_{block.dtype}"
        for number, stream in enumerate(block.streams):
            name = names.stream(number)
            following = names.of(f"{name}_next")
            if number in shifted:
                load = self._load(names, moved_along(stream.first, self.vectors.lanes(block.dtype)))
                self._line(indent, f"{vector} {following} = {load};")
            for offset in stream.offsets:
                if number not in shifted:
                    load = self._load(names, moved_along(stream.first, offset))
                    self._line(indent, f"{vector} {names.element(number, offset)} = {load};")
                elif offset:
                    shift = f"{self.vectors.shift(block.dtype, offset)}({name}, {following})"
                    self._line(indent, f"{vector} {names.element(number, offset)} = {shift};")
        inner = CExpressionPrinter(
            {**self.printer.environment.types, **dict.fromkeys(names.vectors, block.dtype)},
            self.printer.names,
            self.printer.element,
        )
        for update in block.updates:
            value = _with_names(update.value, block, names)
            assert isinstance(value, Expression)
            cell = f"*(loose_{block.dtype} *)&{names.places.cell(update.target)}"
            self._store(block, cell, inner.expression(value), indent)

    def _store(self, block: RowBlock, cell: str, value: str, indent: int) -> None:
        statement = block.statement
        source = statement.headline
        self.text.add(indent, f"{cell} = {value};  // line {statement.span.line}: {source}", statement)

    def _load(self, names: _Names, element: Element) -> str:
        return f"*(const loose_{names.block.dtype} *)&{names.places.cell(element)}"

    def _text(self, node: Expression) -> str:
        return self.printer.expression(node)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


class _Names(LocalNames):
    """What the variables of one block are called: nothing that its loops or its updates mention."""

    def __init__(self, arrays: ArrayPrinter, block: RowBlock, text: Callable[[Expression], str]) -> None:
        bounds = (block.rows.start, block.rows.stop, block.columns.start, block.columns.stop)
        super().__init__(arrays, (*bounds, *block.updates))
        self.block = block
        self.places = RowPlaces(block, arrays, self.of, text)
        self.vectors = [
            self.element(number, offset) for number, offset in dict.fromkeys(block.places.values())
        ]

    def stream(self, number: int) -> str:
        """The register with the first elements of a stream; streams of one array are counted."""
        array = self.block.streams[number].array
        same = [other for other, stream in enumerate(self.block.streams) if stream.array == array]
        return self.of(f"{array}_row{same.index(number)}")

    def element(self, number: int, offset: int) -> str:
        """The register with the elements at an offset of a stream."""
        name = self.stream(number)
        return self.of(f"{name}_plus{offset}") if offset else name


def _with_names(node: Node, block: RowBlock, names: _Names) -> Node:
    """``node`` with registers in place of the elements that they hold."""
    if isinstance(node, Element):
        place = block.places.get(node)
        return node if place is None else Name(names.element(*place))
    return rebuild(node, lambda part: _with_names(part, block, names))
