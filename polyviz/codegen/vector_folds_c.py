"""Sums that share a loop, in C: each in several vector registers, and what they have in common in others.

    vector_float64 s_lanes0 = {0}, s_lanes1 = {0}, q_lanes0 = {0}, q_lanes1 = {0};
    const int64_t before = before_vector_float64(&x[i]);
    if (before) {
        …
    }
    for (; i < n - 7; i += 8) {
        const vector_float64 x_row0 = *(const loose_float64 *)&x[i];
        const vector_float64 v0 = x_row0;
        s_lanes0 = s_lanes0 + v0;
        q_lanes0 = q_lanes0 + v0 * v0;
        …
    }
    …
    s += total_float64(rounded_float64(s_lanes0 + s_lanes1));

An addition waits some four cycles for the one before it, and one or two can start in each: one vector for each sum is
too few, and arrays of partial sums, when there are several, do not always come to stand in registers.

Vectors that lie across two cache lines load slowly, so the loop begins with the elements before the first whole vector
in memory; of a matrix only where its rows are long, as each of them begins anew. These elements go where they had gone
if the loop had begun earlier: to the last lanes, and what is left of a group goes to all lanes in turn. What is added
to what is the same wherever the array lies, and lanes are joined in an order in which it does not matter which of them
is the first: so is the sum.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import expression_of
from polyviz.codegen.folds import in_one_order
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
LONG_ROW = 64
"""Vectors of a row from which on it pays to begin at a whole one: that takes some ten cycles for each row."""


@dataclass(frozen=True, slots=True)
class Some:
    """The lanes of a vector from ``first`` on, before ``stop``, that take elements ``by`` places further behind."""

    by: str
    first: str
    stop: str


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
        usual = len(sums) == len(fold.updates) and (fold.values or len(sums) > 1 or self._reads_much(fold))
        if not registers or not usual or dtype not in VECTOR_DTYPES or 2 * len(sums) > registers:
            return 0
        if any(update.accumulation.operator != "+" for update in fold.updates):
            return 0
        fitting = min(registers // 2 // len(sums), MOST_VECTORS)
        return 1 << (fitting.bit_length() - 1) if self._are_computed(fold, dtype) else 0

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
        """The iterations of ``fold`` up to ``stop``, at least two groups, added to the ``targets`` of its sums at the
        end."""
        iterator, dtype = fold.loop.iterator, self._dtype(fold)
        self.vectors.use(dtype)
        self.vectors.turning(dtype)
        names = LocalNames(self.arrays, fold.assigned)
        arrays = [update.assign.target.array for update in fold.updates]
        lanes = [[names.of(f"{array}_lanes{turn}") for turn in range(count)] for array in arrays]
        self.dtypes.update(dict.fromkeys((name for own in lanes for name in own), dtype))
        # In another order, which the compiler may choose for each copy of the text, it would round otherwise.
        start = self._start(fold) if in_one_order(fold) else None
        zeros = [*["{0}"] * (count - 1), "{0}" if start is None else f"nothing_{dtype}()"]
        first = ", ".join(f"{name} = {zero}" for own in lanes for name, zero in zip(own, zeros, strict=True))
        self._line(indent, f"vector_{dtype} {first};")
        if start is not None:
            self._before(fold, start, [Element(own[-1]) for own in lanes], stop, names, indent)
        size = self.group(fold, count)
        self._line(indent, f"for (; {iterator} < {stop} - {size - 1}; {iterator} += {size}) {{")
        for turn in range(count):
            self._vector(fold, turn, [Element(own[turn]) for own in lanes], names, indent + 1)
        self._line(indent, "}")
        self._behind(fold, lanes, stop, names, indent, in_turn=start is not None)
        rounded = "" if start is None else f"rounded_{dtype}"
        for target, own in zip(targets, lanes, strict=True):
            self._line(indent, f"{self.printer.expression(target)} += total_{dtype}({_in_halves(own, rounded)});")

    def _reads_much(self, fold: Fold) -> bool:
        """Whether loads limit a single sum more than additions do, of which compilers have more under way."""
        along = self._along(fold)
        return len(along) > 1 or any(len(one.subscripts) > 1 for one in along)

    def _along(self, fold: Fold) -> list[Element]:
        """What vectors load, each once."""
        elements = (element for assign in fold.assigned for element in elements_of(written_out(assign).value))
        return [one for one in dict.fromkeys(elements) if is_along(one, fold.loop.iterator)]

    def _start(self, fold: Fold) -> Element:
        """What the first vector begins with in memory: a row, which comes from further away, where there is one."""
        return max(self._along(fold), key=lambda one: len(one.subscripts))

    def _before(
        self, fold: Fold, start: Element, sums: Sequence[Element], stop: str, names: LocalNames, indent: int
    ) -> None:
        """What comes before the first whole vector in memory, to the last lanes of ``sums``."""
        iterator, dtype = fold.loop.iterator, self._dtype(fold)
        width, before = self.vectors.lanes(dtype), names.of("before")
        found = f"before_vector_{dtype}(&{self.printer.expression(start)})"
        if len(start.subscripts) > 1:
            found = f"{stop} - {iterator} < {LONG_ROW * width} ? 0 : {found}"
        self._line(indent, f"const int64_t {before} = {found};")
        self._line(indent, f"if ({before}) {{")
        some = Some(before, f"{width} - {before}", str(width))
        self._vector(fold, 0, sums, names, indent + 1, some)
        self._line(indent + 1, f"{iterator} += {before};")
        self._line(indent, "}")

    def _behind(
        self, fold: Fold, lanes: Sequence[Sequence[str]], stop: str, names: LocalNames, indent: int, *, in_turn: bool
    ) -> None:
        """What is left of a group of vectors, to the first lanes of each sum, which all come first ``in_turn``."""
        iterator, dtype = fold.loop.iterator, self._dtype(fold)
        sums = [Element(own[0]) for own in lanes]
        width, left = self.vectors.lanes(dtype), names.of("left")
        self._line(indent, f"for (; {iterator} < {stop} - {width - 1}; {iterator} += {width}) {{")
        self._vector(fold, 0, sums, names, indent + 1)
        for own in lanes if in_turn and len(lanes[0]) > 1 else ():
            self._turn(own, names, indent + 1)
        self._line(indent, "}")
        self._line(indent, f"if ({iterator} < {stop}) {{")
        self._line(indent + 1, f"const int64_t {left} = {stop} - {iterator};")
        self._line(indent + 1, f"{iterator} -= {width} - {left};")
        self._vector(fold, 0, sums, names, indent + 1, Some(f"{width} - {left}", "0", left))
        self._line(indent, "}")

    def _turn(self, lanes: Sequence[str], names: LocalNames, indent: int) -> None:
        """The next of ``lanes`` comes first, and the first one last."""
        dtype = self.dtypes[lanes[0]]
        kept = self._held(names, f"{lanes[0]}_done", dtype).array
        moves = [f"{one} = {other};" for one, other in pairwise([*lanes, kept])]
        self._line(indent, f"const vector_{dtype} {kept} = {lanes[0]};")
        self._line(indent, " ".join(moves))

    def _vector(
        self, fold: Fold, turn: int, sums: Sequence[Element], names: LocalNames, indent: int, some: Some | None = None
    ) -> None:
        """One vector of iterations, the ``turn``-th of a group; only ``some`` of its lanes, where they are given."""
        iterator, dtype = fold.loop.iterator, self._dtype(fold)
        further = turn * self.vectors.lanes(dtype)
        held: dict[Expression, Element] = {}
        values = [(value, written_out(in_row(value.assign, iterator, further))) for value in fold.values]
        updates = [(update, written_out(in_row(update.assign, iterator, further))) for update in fold.updates]
        read = (element for _, assign in (*values, *updates) for element in elements_of(assign.value))
        uses = Counter(element for element in read if is_along(element, iterator))
        # What several sums share first: the loads of rows, which come from further away, then stand with their uses.
        along = [element for element, _ in uses.most_common()]
        for number, element in enumerate(along):
            same = [other for other in along[:number] if other.array == element.array]
            name = f"{element.array}_row{turn}{f'_{len(same)}' if same else ''}"
            held[element] = self._held(names, name, dtype)
            load = f"*(const loose_{dtype} *)&{self.printer.expression(element)}"
            load = load if some is None else f"turned_{dtype}({load}, {some.by})"
            self._line(indent, f"const vector_{dtype} {held[element].array} = {load};")
        for value, assign in values:
            held[assign.target] = self._held(names, f"{assign.target.array}{turn}", dtype)
            head = f"const vector_{dtype} "
            self._print(value, replace(assign, target=held[assign.target]), held, turn, head, indent)
        for (update, assign), lanes in zip(updates, sums, strict=True):
            own = redirected(assign, lanes)
            if some is None:
                self._print(update, own, held, turn, "", indent)
                continue
            more = self._held(names, f"{assign.target.array}_more", dtype)
            self._print(update, replace(own, target=more), held, turn, f"const vector_{dtype} ", indent)
            kept = self.printer.expression(lanes)
            self._line(indent, f"{kept} = merged_{dtype}({kept}, {more.array}, {some.first}, {some.stop});")

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


def _in_halves(names: Sequence[str], rounded: str) -> str:
    """The sum of ``names``, a power of two of them, in an order in which it does not matter which comes first.

    ``rounded`` is the function that keeps the compiler from another order; empty where any will do.

    >>> _in_halves(["a", "b", "c", "d"], "")
    '((a + c) + (b + d))'
    >>> _in_halves(["a", "b"], "rounded")
    'rounded(a + b)'
    """
    if len(names) == 1:
        return names[0]
    first, second = (_in_halves(names[start::2], rounded) for start in range(2))
    return f"{rounded}({first} + {second})"
