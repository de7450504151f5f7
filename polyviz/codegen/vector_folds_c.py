"""Sums that share a loop, in C: each in several vector registers, and what they have in common in others.

    vector_float64 s_lanes0 = {0}, s_lanes1 = {0}, q_lanes0 = {0}, q_lanes1 = {0};
    for (; i < n - 7; i += 8) {
        const vector_float64 x_row0 = *(const loose_float64 *)&x[i];
        const vector_float64 v0 = x_row0;
        s_lanes0 = s_lanes0 + v0;
        q_lanes0 = q_lanes0 + v0 * v0;
        …
    }
    for (; i < n - 3; i += 4) {
        …
    }
    s += total_float64(s_lanes0 + s_lanes1);

An addition waits some four cycles for the one before it, and one or two can start in each: one vector for each sum is
too few, and arrays of partial sums, when there are several, do not always come to stand in registers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import expression_of
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.redirect import redirected
from polyviz.codegen.row_blocks import (
    VECTOR_DTYPES,
    elements_of,
    in_row,
    is_along,
    is_computed,
    is_vector,
    written_out,
)
from polyviz.codegen.wraps import replaced
from polyviz.model.expression import Constant, Element

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.folds import Fold, Update, Value
    from polyviz.codegen.row_blocks import Types
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.vectors_c import VectorFunctions
    from polyviz.model.expression import Assign, Expression

MOST_VECTORS = 4
"""For one sum: as many additions as there are under way where one starts in every cycle, with what it adds."""


class VectorFoldPrinter:
    """Prints groups of iterations of such loops; ``dtypes`` gets the types of the variables that it adds."""

    def __init__(
        self,
        types: Types,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        vectors: VectorFunctions,
    ) -> None:
        self.types = types
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.vectors = vectors

    def count(self, fold: Fold) -> int:
        """How many vectors each sum of ``fold`` gets; 0 where the sums are not made for that."""
        processor = self.vectors.processor
        registers = 0 if processor is None else processor.vector_registers
        sums = {update.assign.target for update in fold.updates}
        dtype = self._dtype(fold)
        usual = len(sums) == len(fold.updates) and (fold.values or len(sums) > 1)
        if not registers or not usual or dtype not in VECTOR_DTYPES or 2 * len(sums) > registers:
            return 0
        if any(update.accumulation.operator != "+" for update in fold.updates):
            return 0
        return min(registers // 2 // len(sums), MOST_VECTORS) if self._are_computed(fold, dtype) else 0

    def group(self, fold: Fold, count: int) -> int:
        """How many iterations ``count`` vectors of each sum take."""
        return count * self.vectors.lanes(self._dtype(fold))

    def _dtype(self, fold: Fold) -> str:
        """The type of everything; empty where there are several."""
        found = {self.dtypes[assign.target.array] for assign in fold.assigned}
        return found.pop() if len(found) == 1 else ""

    def _are_computed(self, fold: Fold, dtype: str) -> bool:
        """Whether vectors compute all values and what is added to the sums."""
        column = fold.loop.iterator
        changed = [assign.target for assign in fold.assigned]
        known: dict[Expression, Expression] = {
            element: Constant(1.0)  # any number: what all iterations have in common is one
            for assign in fold.assigned
            for element in elements_of(assign.value)
            if not element.subscripts and element not in changed and self.dtypes[element.array] == dtype
        }
        for value in fold.values:
            whole = expression_of(replaced(written_out(value.assign).value, known))
            if not is_vector(whole, dtype, column, self.types):
                return False
            known[value.assign.target] = whole
        for update in fold.updates:
            whole = expression_of(replaced(written_out(update.assign).value, known))
            moves = any(is_along(element, column) for element in elements_of(whole))
            if not moves or not is_computed(whole, dtype, column, self.types, update.assign.target):
                return False
        return True

    def write(self, fold: Fold, targets: Sequence[Element], count: int, stop: str, indent: int) -> None:
        """Whole vectors of iterations of ``fold``, up to ``stop``, added to the ``targets`` of its sums at the end."""
        iterator, dtype = fold.loop.iterator, self._dtype(fold)
        self.vectors.use(dtype)
        total = self.vectors.total(dtype)
        names = LocalNames(self.arrays, fold.assigned)
        arrays = [update.assign.target.array for update in fold.updates]
        parts = [[names.of(f"{array}_lanes{turn}") for turn in range(count)] for array in arrays]
        self.dtypes.update(dict.fromkeys((name for own in parts for name in own), dtype))
        first = ", ".join(f"{name} = {{0}}" for own in parts for name in own)
        self._line(indent, f"vector_{dtype} {first};")
        # Whole groups, then what is left of them in single vectors: a few dozen dependent additions take as long as
        # hundreds side by side.
        for vectors in dict.fromkeys((count, 1)):
            size = self.group(fold, vectors)
            self._line(indent, f"for (; {iterator} < {stop} - {size - 1}; {iterator} += {size}) {{")
            for turn in range(vectors):
                self._vector(fold, turn, [own[turn] for own in parts], names, indent + 1)
            self._line(indent, "}")
        for target, own in zip(targets, parts, strict=True):
            self._line(indent, f"{self.printer.expression(target)} += {total}({' + '.join(own)});")

    def _vector(self, fold: Fold, turn: int, sums: Sequence[str], names: LocalNames, indent: int) -> None:
        """One vector of iterations, the ``turn``-th of a group."""
        iterator, dtype = fold.loop.iterator, self._dtype(fold)
        further = turn * self.vectors.lanes(dtype)
        held: dict[Expression, Element] = {}
        values = [(value, written_out(in_row(value.assign, iterator, further))) for value in fold.values]
        updates = [(update, written_out(in_row(update.assign, iterator, further))) for update in fold.updates]
        read = (element for _, assign in (*values, *updates) for element in elements_of(assign.value))
        along = [element for element in dict.fromkeys(read) if is_along(element, iterator)]
        for number, element in enumerate(along):
            same = [other for other in along[:number] if other.array == element.array]
            name = f"{element.array}_row{turn}{f'_{len(same)}' if same else ''}"
            held[element] = self._held(names, name, dtype)
            load = f"*(const loose_{dtype} *)&{self.printer.expression(element)}"
            self._line(indent, f"const vector_{dtype} {held[element].array} = {load};")
        for value, assign in values:
            held[assign.target] = self._held(names, f"{assign.target.array}{turn}", dtype)
            head = f"const vector_{dtype} "
            self._print(value, replace(assign, target=held[assign.target]), held, turn, head, indent)
        for (update, assign), name in zip(updates, sums, strict=True):
            self._print(update, redirected(assign, Element(name)), held, turn, "", indent)

    def _held(self, names: LocalNames, name: str, dtype: str) -> Element:
        found = names.of(name)
        self.dtypes[found] = dtype
        return Element(found)

    def _print(
        self,
        part: Update | Value,
        assign: Assign,
        held: Mapping[Expression, Element],
        turn: int,
        head: str,
        indent: int,
    ) -> None:
        statement = part.statement
        self.arrays.enter(statement)
        value = expression_of(replaced(assign.value, held))
        (line,) = self.printer.instructions([replace(assign, value=value)], 0)
        comment = "" if turn else f"  // line {statement.span.line}: {statement.headline}"
        self.text.add(indent, head + line + comment, statement)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)
