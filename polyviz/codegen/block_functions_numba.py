"""The two functions of one register tile in numba: one packs a panel of columns, one updates a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.block_place import expression_of
from polyviz.codegen.block_walk import BlockWalk, combined, first_or_end
from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.plain_block import Limit
from polyviz.codegen.register_tiles import named_operands
from polyviz.model.expression import Binary, Call, Constant, Element, Name, substitute
from polyviz.model.plan import COLUMNS, ROWS, SCALARS, SUM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from polyviz.codegen.block_place import BlockPlace
    from polyviz.codegen.block_shape import Range
    from polyviz.codegen.block_text_numba import NumbaBlock
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression

_CELL = "@cell"
"""What the updated cell is called in an update before it is printed."""


class BlockFunctions(BlockWalk["NumbaBlock"]):
    """Prints the bodies of both functions into ``text``; ``printer`` prints values, ``index`` wraps a subscript."""

    def __init__(
        self,
        place: BlockPlace[NumbaBlock],
        printer: PythonExpressionPrinter,
        index: Callable[[str], str],
        text: TextBuilder,
        print_loops: Callable[[LoopNode, int], None],
    ) -> None:
        super().__init__(place, print_loops)
        self.printer = printer
        self.index = index
        self.text = text

    def pack(self) -> None:
        """One panel of columns, step by step, in every buffer."""
        place, block = self.place, self.block
        row, depth = place.column, place.depth
        shape = block.shape
        self._bounds(depth, shape.depth)
        self._bounds(row, shape.column)
        self._line(1, f"{row}_first = {row}_start + {block.width} * {block.panel}")
        self._line(1, f"for {depth} in range({depth}_start, {depth}_stop):")
        self._line(2, f"for {row} in range({row}_first, min({row}_first + {block.width}, {row}_stop)):")
        guard = shape.column_guard
        test = "" if guard is None else f" if {place.text(guard)} else 0"
        places = (block.panel, f"{depth} - {depth}_start", f"{row} - {row}_first")
        subscripts = ", ".join(map(self.index, places))
        for name, value in block.buffers:
            self.text.add(3, f"{name}[{subscripts}] = {place.value(value)}{test}", block.statement)

    def update(self) -> None:
        """The loops over panels of columns and tiles of rows, with what is left over around each."""
        place, block = self.place, self.block
        row, column, depth = place.row, place.column, place.depth
        shape = block.shape
        for name, bounds in ((row, shape.row), (column, shape.column), (depth, shape.depth)):
            self._bounds(name, bounds)
        width, rows = block.width, block.rows
        self._line(1, f"for {column}_panel in range({column}_start, {column}_stop, {width}):")
        self._line(2, f"{column}_end = min({column}_panel + {width}, {column}_stop)")
        for name, _ in block.buffers:
            number = f"({column}_panel - {column}_start) // {width}"
            self._line(2, f"{name}_panel = {name}[{number}]")
        self._line(2, f"for {row}_first in range({row}_start, {row}_stop, {rows}):")
        self._line(3, f"{row}_last = min({row}_first + {rows}, {row}_stop) - 1")
        self._tile(3)

    def _bounds(self, name: str, bounds: Range) -> None:
        start, stop = self.place.text(bounds.start), self.place.text(bounds.stop)
        self._line(1, f"{name}_start, {name}_stop = {start}, {stop}")

    def _tile(self, indent: int) -> None:
        """What a few rows do along a panel: the columns that all rows share, step by step, between those beside them.

        Columns follow each other in their order: in a product in place a cell may be read before its column changes it.
        """
        position = self.block.tile.column
        rows = [limit for limit in self.inside() if limit.position == self.block.tile.row]
        below, above = self._shared_columns(indent)
        if below:
            before = Limit(position, "column_first", least=False, strict=True)
            self.plain(indent, [*rows, Limit(position, "column_panel", least=True), before])
        self._steps_of_tile(indent)
        if above:
            behind = Limit(position, "column_last", least=True, strict=True)
            self.plain(indent, [*rows, behind, Limit(position, "column_end", least=False, strict=True)])

    def _shared_columns(self, indent: int) -> tuple[bool, bool]:
        """The columns of the panel in which every row has a cell; whether some rows go on before and behind them."""
        place, iterators = self.place, self.block.statement.iterators
        name, column = iterators[self.block.tile.column], place.column
        lower: list[Expression] = [Name(f"{column}_panel")]
        upper: list[Expression] = [Name(f"{column}_end")]
        for mask in self.block.shape.masks:
            factor = mask.get(name, 0)
            if factor:
                rest = {other: value for other, value in mask.items() if other != name}
                worst = place.corner_expression(rest, best=False)
                (lower if factor > 0 else upper).append(first_or_end(worst, factor))
        first = Call("min", (combined("max", lower), upper[0])) if lower[1:] else lower[0]
        stop = combined("min", upper)
        stop = Call("max", (stop, Name(f"{column}_first"))) if lower[1:] or upper[1:] else stop
        self._line(indent, f"{column}_first = {self._text(first)}")
        self._line(indent, f"{column}_last = {self._text(stop)} - 1")
        return bool(lower[1:]), bool(upper[1:])

    def _steps_of_tile(self, indent: int) -> None:
        """The steps that all cells share, several at a time, between those of single cells."""
        depth, shape, block = self.place.depth, self.block.shape, self.block
        position = block.tile.depth
        first, end = f"{depth}_first", f"{depth}_end"
        start, stop = self.shared_steps()
        self._line(indent, f"{first} = {self._text(start)}")
        stop_text = self._text(stop) if shape.cuts else f"{depth}_stop"
        whole = f"{first} + ({stop_text} - {first}) // {block.steps} * {block.steps}"
        whole = whole if block.steps > 1 else stop_text
        self._line(indent, f"{end} = {whole}")
        self._line(indent, f"if {self._too_few_rows()}:")
        self._line(indent + 1, f"{first} = {end} = {depth}_start")
        factors = [cut[block.statement.iterators[position]] for cut in shape.cuts]
        if factors and max(factors) > 0:
            self.plain(indent, [*self.inside(), Limit(position, "depth_first", least=False, strict=True)])
        self._whole_tile(indent)
        self.plain(indent, [*self.inside(), Limit(position, "depth_end", least=True)])

    def _too_few_rows(self) -> str:
        """When rows are missing, or one of them has no cell in any of the columns."""
        place, name = self.place, self.block.statement.iterators[self.block.tile.column]
        missing = f"{place.row}_last - {place.row}_first < {self.block.rows - 1}"
        masks = [mask for mask in self.block.shape.masks if name not in mask]
        return " or ".join([missing, *(f"{place.corner(mask, best=False)} < 0" for mask in masks)])

    def _whole_tile(self, indent: int) -> None:
        place, block = self.place, self.block
        depth, column = place.depth, place.column
        for name, scalar in zip(
            named_operands(block.tile, SCALARS), block.tile.operands.scalars, strict=True
        ):
            self._line(indent, f"{name} = {place.value(scalar)}")
        header = (
            f"range({depth}_first, {depth}_end, {block.steps})"
            if block.steps > 1
            else (f"range({depth}_first, {depth}_end)")
        )
        self._line(indent, f"for {depth} in {header}:")
        for line in self._row_values():
            self._line(indent + 1, line)
        self._line(indent + 1, f"for {column} in range({column}_first, {column}_last + 1):")
        for line in self._column_values():
            self._line(indent + 2, line)
        for row in range(block.rows):
            self.text.add(indent + 2, self._cell_update(row), block.statement)

    def _row_values(self) -> Iterator[str]:
        operands = self.block.tile.operands
        names = named_operands(self.block.tile, ROWS)
        for row in range(self.block.rows):
            for step in range(self.block.steps):
                for name, value in zip(names, operands.rows, strict=True):
                    here = self.place.at(value, row=self._row(row), depth=self._step(step))
                    yield f"{name}_{row}_{step} = {here}"

    def _column_values(self) -> Iterator[str]:
        place, block = self.place, self.block
        names, values = named_operands(block.tile, COLUMNS), block.tile.operands.columns
        for step in range(block.steps):
            for number, (name, value) in enumerate(zip(names, values, strict=True)):
                yield f"{name}_{step} = {self._column_value(number, value, place, step)}"

    def _column_value(self, number: int, value: Expression, place: BlockPlace[NumbaBlock], step: int) -> str:
        if not self.block.buffers:
            return place.at(value, column=Name(place.column), depth=self._step(step))
        buffer, _ = self.block.buffers[number]
        depth = f"{place.depth} - {place.depth}_start" + (f" + {step}" if step else "")
        return f"{buffer}_panel[{self.index(depth)}, {self.index(f'{place.column} - {place.column}_panel')}]"

    def _cell_update(self, row: int) -> str:
        """The steps of one cell as one expression, in their order."""
        block, tile = self.block, self.block.tile
        cell = self.place.cell(self._row(row), Name(self.place.column))
        value: Expression = Name(_CELL)
        for step in range(block.steps):
            names: dict[str, Expression] = {SUM: value}
            names |= {name: Name(f"{name}_{row}_{step}") for name in named_operands(tile, ROWS)}
            names |= {name: Name(f"{name}_{step}") for name in named_operands(tile, COLUMNS)}
            value = expression_of(substitute(tile.operands.update, names))
        printer = PythonExpressionPrinter({_CELL: cell}, _no_element)
        printer.helpers = self.printer.helpers
        return f"{cell} = {printer.expression(value)}"

    def _row(self, row: int) -> Expression:
        return _moved(f"{self.place.row}_first", row)

    def _step(self, step: int) -> Expression:
        return _moved(self.place.depth, step)

    def _text(self, node: Expression) -> str:
        return self.printer.expression(node)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _moved(name: str, distance: int) -> Expression:
    return Binary("+", Name(name), Constant(distance)) if distance else Name(name)


def _no_element(element: Element, _: PythonExpressionPrinter) -> str:
    raise AssertionError(f"{element.array} is no operand")
