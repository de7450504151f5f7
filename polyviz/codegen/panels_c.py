"""Panels in C: the sums of several rows side by side, each in vector registers of its own.

    for (; i < i_stop - 7; i += 8) {
        double x_sum0 = x[i];
        …
        if (j_stop - j >= 8) {
            vector_float64 x_lanes0 = {0}, x_lanes1 = {0}, …;
            for (; j < j_stop - 7; j += 8) {
                const vector_float64 x_shared = *(const loose_float64 *)&x[j];
                const vector_float64 L_row0 = *(const loose_float64 *)&L[i][j];
                …
                x_lanes0 = x_lanes0 - L_row0 * x_shared;
                …
            }
            x_sum0 += total_float64(x_lanes0);
            …
        }
        …
        x[i] = x_sum0;
    }

What all rows read is loaded once. Where sums keep their order, and for types without vectors, each row adds up in one
variable: chains that do not wait for each other. Rows that do not fill a panel run one by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.accumulate_c import ENDINGS
from polyviz.codegen.block_place import expression_of
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.loops import For, is_whole
from polyviz.codegen.panels import panel
from polyviz.codegen.redirect import redirected
from polyviz.codegen.row_blocks import Types, elements_of, only
from polyviz.codegen.wraps import replaced
from polyviz.model.expression import Element, Expression, Name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.accumulate_c import AccumulationPrinter
    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.panels import Panel, Row
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.vectors_c import VectorFunctions
    from polyviz.model.expression import Assign, Instruction
    from polyviz.model.program import ArrayType, FloatingPoint


class PanelPrinter:
    """Prints the panels of a plan; ``notes`` tells why rows are left to run one after the other."""

    def __init__(
        self,
        types: Mapping[str, ArrayType],
        private: frozenset[str],
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        floating_point: FloatingPoint,
        folds: AccumulationPrinter,
        vectors: VectorFunctions,
    ) -> None:
        self.types = Types(types, private)
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.reorders = floating_point == "reassociate"
        self.folds = folds
        self.vectors = vectors
        self.notes: list[str] = []

    def panel(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Panel | None:
        """``loop`` as a panel, where its plan and the types of this call let it be one."""
        inner = only(loop.body) if loop.jam > 1 else None
        if not isinstance(inner, For) or inner.vector:
            return None
        fold = self.folds.fold(inner, bodies)
        processor = self.vectors.processor
        registers = 0 if processor is None else processor.vector_registers
        found = panel(loop, fold, self.types, self.dtypes, registers, reorders=self.reorders and registers > 0)
        if not isinstance(found, str):
            return found
        note = f"rows of {loop.iterator} run one after the other, not side by side: {found}"
        if note not in self.notes:
            self.notes.append(note)
        return None

    def write(self, found: Panel, indent: int) -> None:
        """The loops of ``found``: whole panels of rows, then the rows that are left."""
        bounds = (found.rows.start, found.rows.stop, found.columns.start, found.columns.stop)
        names = LocalNames(self.arrays, (*bounds, *(row.assign for row in found.updates)))
        row, column = found.rows.iterator, found.columns.iterator
        row_stop = names.of(f"{row}_stop")
        start, stop = names.of(f"{column}_start"), names.of(f"{column}_stop")
        self._line(indent, "{")
        for name, bound in ((row_stop, bounds[1]), (start, bounds[2]), (stop, bounds[3])):
            self._line(indent + 1, f"const int64_t {name} = {self._text(bound)};")
        self._line(indent + 1, f"int64_t {row} = {self._text(bounds[0])};")
        # Where there are no columns the cells may not even exist.
        count = found.rows.jam
        guard = f"{start} < {stop} && {row} < {row_stop} - {count - 1}"
        self._line(indent + 1, f"for (; {guard}; {row} += {count}) {{")
        if found.dtype:
            self._in_vectors(found, names, indent + 2)
        else:
            self._in_variables(found, names, indent + 2)
        self._line(indent + 1, "}")
        if not is_whole(found.rows, count):
            self._line(indent + 1, f"for (; {row} < {row_stop}; {row}++) {{")
            fold = replace(found.fold, loop=replace(found.columns, start=Name(start), stop=Name(stop)))
            self.folds.write(fold, indent + 2)
            self._line(indent + 1, "}")
        self._line(indent, "}")

    def _in_variables(self, found: Panel, names: LocalNames, indent: int) -> None:
        """One column after the other, each row with its sum in a variable."""
        column = found.columns.iterator
        start, stop = names.of(f"{column}_start"), names.of(f"{column}_stop")
        sums = self._begin(found, names, indent)
        self._line(indent, f"for (int64_t {column} = {start}; {column} < {stop}; {column}++) {{")
        self._column(found, sums, indent)

    def _begin(self, found: Panel, names: LocalNames, indent: int) -> list[str]:
        """A variable with the cell of each row."""
        sums = [self._variable(row, names) for row in found.updates]
        for name, row in zip(sums, found.updates, strict=True):
            kind = C_TYPE_NAMES[self.dtypes[row.assign.target.array]]
            self._line(indent, f"{kind} {name} = {self._cell(row)};")
        return sums

    def _column(self, found: Panel, sums: list[str], indent: int) -> None:
        """One column of each row, the end of the loop over columns, and the cells."""
        for name, row in zip(sums, found.updates, strict=True):
            self._print(row, redirected(row.assign, Element(name)), indent + 1)
        self._line(indent, "}")
        for name, row in zip(sums, found.updates, strict=True):
            self._line(indent, f"{self._cell(row)} = {name};")

    def _in_vectors(self, found: Panel, names: LocalNames, indent: int) -> None:
        """Vectors of columns first, then the columns that are left, one after the other."""
        column, lanes = found.columns.iterator, self.vectors.lanes(found.dtype)
        start, stop = names.of(f"{column}_start"), names.of(f"{column}_stop")
        sums = self._begin(found, names, indent)
        self._line(indent, f"int64_t {column} = {start};")
        self._line(indent, f"if ({stop} - {column} >= {lanes}) {{")
        self._whole_vectors(found, sums, names, indent + 1)
        self._line(indent, "}")
        self._line(indent, f"for (; {column} < {stop}; {column}++) {{")
        self._column(found, sums, indent)

    def _whole_vectors(self, found: Panel, sums: list[str], names: LocalNames, indent: int) -> None:
        """Vectors of columns, added to ``sums`` at the end: with few columns that would take longer than they do."""
        column, lanes = found.columns.iterator, self.vectors.lanes(found.dtype)
        self.vectors.use(found.dtype)
        parts = [self._lane_sums(row, names) for row in found.updates]
        self._line(indent, f"vector_{found.dtype} {', '.join(f'{name} = {{0}}' for name in parts)};")
        self._line(indent, f"for (; {column} < {names.of(f'{column}_stop')} - {lanes - 1}; {column} += {lanes}) {{")
        loaded = {element: self._loaded(found, element, names) for element in found.along()}
        for element, name in loaded.items():
            load = f"*(const loose_{found.dtype} *)&{self._text(element)}"
            self._line(indent + 1, f"const vector_{found.dtype} {name} = {load};")
        self.dtypes.update(dict.fromkeys((*loaded.values(), *parts), found.dtype))
        for name, row in zip(parts, found.updates, strict=True):
            own = redirected(row.in_full, Element(name))
            value = expression_of(replaced(own.value, {element: Element(held) for element, held in loaded.items()}))
            self._print(row, replace(own, value=value), indent + 1)
        self._line(indent, "}")
        total = self.vectors.total(found.dtype)
        for name, part in zip(sums, parts, strict=True):
            self._line(indent, f"{name} += {total}({part});")

    def _variable(self, row: Row, names: LocalNames) -> str:
        ending = ENDINGS.get(row.update.accumulation.operator, "value")
        name = names.of(f"{row.assign.target.array}_{ending}{row.number}")
        self.dtypes[name] = self.dtypes[row.assign.target.array]
        return name

    def _lane_sums(self, row: Row, names: LocalNames) -> str:
        return names.of(f"{row.assign.target.array}_lanes{row.number}")

    def _loaded(self, found: Panel, element: Element, names: LocalNames) -> str:
        """What the vector of ``element`` is called: by the row it belongs to, if it belongs to one."""
        rows = [row.number for row in found.updates if element in elements_of(row.in_full.value)]
        several = len(set(rows)) > 1
        same = [other for other in found.along() if other.array == element.array]
        count = same.index(element)
        return names.of(f"{element.array}_shared{count or ''}" if several else f"{element.array}_row{count}")

    def _print(self, row: Row, assign: Assign, indent: int) -> None:
        statement = row.update.statement
        self.arrays.enter(statement)
        (line,) = self.printer.instructions([assign], 0)
        comment = f"  // line {statement.span.line}: {statement.headline}"
        self.text.add(indent, line + ("" if row.number else comment), statement)

    def _cell(self, row: Row) -> str:
        self.arrays.enter(row.update.statement)
        return self.printer.expression(row.assign.target)

    def _text(self, node: Expression) -> str:
        return self.printer.expression(node)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)
