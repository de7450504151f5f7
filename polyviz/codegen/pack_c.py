"""Packing in C: the operands of a block copied into buffers, in the order in which register tiles read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.block_place import expression_of, names_in
from polyviz.codegen.row_blocks import is_along
from polyviz.model.expression import (
    Binary,
    Compare,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
    Unary,
    substitute,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from polyviz.codegen.block_place import BlockPlace
    from polyviz.codegen.block_text import BlockText, Operand
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Node

LINEAR = ("+", "-", "*")
_AHEAD = 12
"""Steps that are copied while the rows of a later one come from memory: these are short, and far from each other."""
PARTS = ("__real__ ", "__imag__ ")
"""What takes complex values apart: panels hold all real parts of a step, then all imaginary ones."""


def print_bounds(
    place: BlockPlace[BlockText], names: Collection[str], text: TextBuilder, indent: int
) -> None:
    """The bounds of the loops called ``names`` in variables."""
    shape = place.block.shape
    ranges = ((place.depth, shape.depth), (place.row, shape.row), (place.column, shape.column))
    for name, bounds in ranges:
        if name in names:
            start, stop = place.text(bounds.start), place.text(bounds.stop)
            text.add(indent, f"const int64_t {name}_start = {start}, {name}_stop = {stop};")
    if shape.around is not None and place.column in names:
        name, column, panel = place.around, place.column, place.block.size.columns
        start, stop = place.text(shape.around.start), place.text(shape.around.stop)
        text.add(indent, f"const int64_t {name}_start = {start}, {name}_stop = {stop};")
        padded = f"({column}_stop - {column}_start + {panel - 1}) / {panel} * {panel}"
        text.add(indent, f"const int64_t {column}_padded = {padded};")


def print_packing(
    place: BlockPlace[BlockText],
    operands: Sequence[Operand],
    text: TextBuilder,
    indent: int,
    helpers: set[str],
    *,
    team: bool = False,
) -> None:
    """Copies of ``operands``, panel by panel; the bounds are in variables. ``helpers`` collects the functions called.

    A ``team`` of threads divides the panels and waits for the last of them.
    """
    for number, operand in enumerate(operands, 1):
        packing = _Packing(place, operand, text)
        helpers.update(("fetch_lines", "min_i64") if packing.ahead else ())
        text.add(indent, f"/* {packing.title}. */")
        if team:
            together = " collapse(2)" if packing.around else ""
            text.add(indent, f"#pragma omp for{together}{'' if number == len(operands) else ' nowait'}")
        packing.write(indent)


class _Packing:
    """The copy of one operand: panels of a tile's rows or columns, in each one step of the sum after the other."""

    def __init__(self, place: BlockPlace[BlockText], operand: Operand, text: TextBuilder) -> None:
        shape = place.block.shape
        self.text = text
        self.statement = place.block.statement
        self.kind = place.block.part
        self.parts = ("",) if place.block.parts == 1 else PARTS
        self.buffer = operand.buffer
        self.next = operand.next
        self.name = place.row if operand.is_row else place.column
        self.around = "" if operand.is_row else place.around
        self.begin = place.panel(operand, f"{self.name}_panel")
        self.depth = place.depth
        self.panel = place.block.panel(operand)
        guard = shape.row_guard if operand.is_row else shape.column_guard
        value = place.value(operand.value)
        self.title = (
            f"{value}: panels of {self.panel} {'rows' if operand.is_row else 'columns'}, step by step"
        )
        self.whole_value = value
        self.value = value if guard is None else f"{place.text(guard)} ? {value} : 0"
        self.whole = "" if guard is None else self._whole(place, guard, is_row=operand.is_row)
        self.ahead = self._rows_ahead(place, operand)

    def _rows_ahead(self, place: BlockPlace[BlockText], operand: Operand) -> list[str]:
        """What asks for the rows of arrays from which a panel comes some steps later."""
        tile, iterators = place.block.tile, place.block.statement.iterators
        found = [part for part in walk(operand.value) if isinstance(part, Element)]
        role = "row" if operand.is_row else "column"
        lane, depth = iterators[getattr(tile, role)], iterators[tile.depth]
        rows = [element for element in found if is_along(element, lane) and _moves(element, depth)]
        if not rows:
            return []
        later, first = Name(f"{self.depth}_later"), Name(f"{self.name}_panel")
        last = Binary("+", first, Constant(self.panel - 1))
        ends = dict.fromkeys(
            (place.at(row, **{role: first}, depth=later), place.at(row, **{role: last}, depth=later)) for row in rows
        )
        step = f"const int64_t {later.name} = min_i64({self.depth} + {_AHEAD}, {self.depth}_stop - 1);"
        return [step, *(f"fetch_lines(&{begin}, &{end});" for begin, end in ends)]

    def _whole(self, place: BlockPlace[BlockText], guard: Expression, *, is_row: bool) -> str:
        """When ``guard`` holds for all rows or columns of a panel; empty where its two ends do not tell.

        A choice for each value keeps the compiler from copying whole vectors, and only panels at the edge need one.
        """
        if not _is_convex(guard):
            return ""
        tile, first = place.block.tile, Name(f"{self.name}_panel")
        iterator = place.block.statement.iterators[tile.row if is_row else tile.column]
        ends = (first, Binary("+", first, Constant(self.panel - 1)))
        texts = dict.fromkeys(place.text(expression_of(substitute(guard, {iterator: end}))) for end in ends)
        return " && ".join(texts)

    def write(self, indent: int) -> None:
        """The loop over panels; the last one may be narrower and is filled up with zeros."""
        name, panel = self.name, self.panel
        first, end = f"{name}_panel", f"{name}_panel + {panel}"
        if self.around:
            around = self.around
            self.text.add(indent, f"for (int64_t {around} = {around}_start; {around} < {around}_stop; {around}++)")
            indent += 1
        self.text.add(
            indent, f"for (int64_t {first} = {name}_start; {first} < {name}_stop; {first} += {panel}) {{"
        )
        steps = f"({self.depth}_stop - {self.depth}_start)"
        self.text.add(indent + 1, f"{self.kind} *restrict {self.next} = {self.begin} * {steps};")
        self.text.add(indent + 1, f"if ({end} <= {name}_stop) {{")
        several = len(self.parts) + len(self.ahead) > 1
        self._steps(indent + 2, " {" if several else "")
        for line in self.ahead:
            self.text.add(indent + 3, line)
        for part in self.parts:
            self._copy_panel(indent + 3, end, part)
        if several:
            self.text.add(indent + 2, "}")
        self.text.add(indent + 1, "} else {")
        self._steps(indent + 2, " {")
        for part in self.parts:
            self._copy(indent + 3, f"{name}_stop", self.value, part)
            self.text.add(indent + 3, f"for (int64_t {name} = {name}_stop; {name} < {end}; {name}++)")
            self.text.add(indent + 4, f"*{self.next}++ = 0;")
        self.text.add(indent + 2, "}")
        self.text.add(indent + 1, "}")
        self.text.add(indent, "}")

    def _steps(self, indent: int, opening: str) -> None:
        depth = self.depth
        header = f"for (int64_t {depth} = {depth}_start; {depth} < {depth}_stop; {depth}++)"
        self.text.add(indent, header + opening)

    def _copy_panel(self, indent: int, stop: str, part: str) -> None:
        """One step of a panel without an edge."""
        if not self.whole:
            self._copy(indent, stop, self.value, part)
            return
        self.text.add(indent, f"if ({self.whole})")
        self._copy(indent + 1, stop, self.whole_value, part)
        self.text.add(indent, "else")
        self._copy(indent + 1, stop, self.value, part)

    def _copy(self, indent: int, stop: str, value: str, part: str) -> None:
        name, value = self.name, f"{part}({value})" if part else value
        self.text.add(indent, f"for (int64_t {name} = {name}_panel; {name} < {stop}; {name}++)")
        self.text.add(indent + 1, f"*{self.next}++ = {value};", self.statement)


def _moves(element: Element, name: str) -> bool:
    """Whether the iterator ``name`` is in a subscript of ``element``."""
    return any(name in names_in(subscript) for subscript in element.subscripts)


def _is_convex(condition: Expression) -> bool:
    """Whether ``condition`` holds between any two integers for which it holds."""
    return all(_keeps_convex(part) for part in walk(condition))


def _keeps_convex(part: Node) -> bool:
    match part:
        case Name() | Constant() | Unary(operator="-") | Logical(operator="and"):
            return True
        case Binary():
            return part.operator in LINEAR
        case Compare():
            return "!=" not in part.operators
    return False
