"""The loops over the register tiles of one block in C: whole tiles, edges by way of a buffer, and what is left over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.block_walk import BlockWalk
from polyviz.codegen.plain_block import Limit
from polyviz.codegen.register_tile_c import steps_ahead
from polyviz.codegen.register_tiles import reads_ahead
from polyviz.model.expression import Binary, Constant, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.block_place import BlockPlace
    from polyviz.codegen.block_text import BlockText, Operand
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.register_tile_c import TileSize
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.linear import Terms
    from polyviz.model.program import ArrayType


class TilePrinter(BlockWalk["BlockText"]):
    """Prints what happens inside one block once its bounds are in variables and its operands are packed."""

    def __init__(
        self,
        place: BlockPlace[BlockText],
        types: Mapping[str, ArrayType],
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loops: Callable[[LoopNode, int], None],
    ) -> None:
        super().__init__(place, print_loops)
        self.types = types
        self.printer = printer
        self.text = text

    def write(self, indent: int) -> None:
        """Loops over tiles: the panels of columns outside, since they take more of the first cache; those of rows where
        these come from farther away, since threads share them."""
        place, size = self.place, self.block.size
        self.printer.helpers.add("min_i64")
        if self.block.tile.packed or not self.block.shape.cuts:
            count = f"{place.depth}_stop - {place.depth}_start"
            self._line(indent, f"const int64_t {place.depth}_count = {count};")
        sides = ((place.column, size.columns), (place.row, size.rows))
        around = place.around
        if around:
            header = f"for (int64_t {around} = {around}_start; {around} < {around}_stop; {around}++)"
            self._line(indent, header)
            indent += 1
        loops = reversed(sides) if self.block.tile.shared_rows else sides
        for opening, (name, step) in zip(("", " {"), loops, strict=True):
            first = f"{name}_first"
            header = f"for (int64_t {first} = {name}_start; {first} < {name}_stop; {first} += {step})"
            self._line(indent, header + opening)
            indent += 1
        for name, step in sides:
            last = f"min_i64({name}_first + {step}, {name}_stop) - 1"
            self._line(indent, f"const int64_t {name}_last = {last};")
        self._pointers_ahead(indent)
        self._tile(indent)
        self._line(indent - 1, "}")

    def _pointers_ahead(self, indent: int) -> None:
        """For each buffer of columns, the part of the next panels that one tile asks for while its own sums run."""
        place, size = self.place, self.block.size
        row, count = place.row, f"{place.depth}_count"
        steps = 1 if self.block.parts > 1 else steps_ahead(self.block.tile, size)
        share = f"({row}_first - {row}_start)" + ("" if size.rows == size.lanes else f" / {size.rows} * {size.lanes}")
        shared = count if steps == 1 else f"({count} / {steps})"
        for operand in self._read_ahead():
            panel = f"{place.panel(operand, f'{place.column}_first + {size.columns}')} * {count}"
            line = f"const {self.block.part} *{operand.ahead} = {panel} + {share} * {shared};"
            self._line(indent, f"{line}  // in the next panel")

    def _read_ahead(self) -> list[Operand]:
        found = [operand for operand in self.block.operands if not operand.is_row]
        return found if reads_ahead(self.block.tile) else []

    def _tile(self, indent: int) -> None:
        shape = self.block.shape
        if shape.masks:
            missed = " || ".join(f"{self.place.corner(mask, best=True)} < 0" for mask in shape.masks)
            self._line(indent, f"if ({missed})")
            self._line(indent + 1, "continue;")
        if self.block.ragged is not None:
            self._ragged(indent, self.block.ragged)
        elif shape.cuts:
            self._cut(indent)
        else:
            self._update(indent, f"{self.place.depth}_count", f"{self.place.depth}_start")

    def _ragged(self, indent: int, condition: Terms) -> None:
        """The steps that any row of the tile takes, and how many of them, at the start or at the end, not all rows do:
        one call, which tests the ``condition`` for these."""
        depth = self.place.depth
        first, end, shared = f"{depth}_first", f"{depth}_end", f"{depth}_shared"
        later = condition[self.block.statement.iterators[self.block.tile.depth]] > 0
        for name, bound in zip((first, end), self.shared_steps(best=True), strict=True):
            self._line(indent, f"const int64_t {name} = {self.printer.expression(bound)};")
        bound = self.shared_steps()[0 if later else 1]
        self._line(indent, f"const int64_t {shared} = {self.printer.expression(bound)};")
        self._line(indent, f"if ({first} < {end}) {{")
        count = f"{shared} - {first}" if later else f"{end} - {shared}"
        self._update(indent + 1, f"{end} - {first}", first, [count, self.place.at_first(condition)])
        self._line(indent, "}")

    def _cut(self, indent: int) -> None:
        """The steps that all cells of the tile share, between those of single cells."""
        depth = self.place.depth
        first, end = f"{depth}_first", f"{depth}_end"
        start, stop = self.shared_steps()
        self._line(indent, f"const int64_t {first} = {self.printer.expression(start)};")
        self._line(indent, f"const int64_t {end} = {self.printer.expression(stop)};")
        inside, position = self.inside(), self.block.tile.depth
        factors = [cut[self.block.statement.iterators[position]] for cut in self.block.shape.cuts]
        if max(factors) > 0:
            self.plain(indent, [*inside, Limit(position, "depth_first", least=False, strict=True)])
        self._line(indent, f"if ({first} < {end}) {{")
        self._update(indent + 1, f"{end} - {first}", first)
        self._line(indent, "}")
        if min(factors) < 0:
            self.plain(indent, [*inside, Limit(position, "depth_end", least=True)])

    def _update(self, indent: int, count: str, start: str, ragged: Sequence[str] = ()) -> None:
        """One call for whole tiles; tiles at an edge go by way of a buffer, or by plain loops where nothing is packed.

        ``start`` is the first of the ``count`` steps; ``ragged`` tells which of them not all rows take.
        """
        place, packed = self.place, self.block.tile.packed
        operands = self._packed(start) if packed else self._in_place(start)
        arguments = [count, *ragged, *operands, *map(place.value, self.block.tile.operands.scalars)]
        target = self.types[self.block.tile.operands.target.array]
        if target.layout != "C" or target.dtype != self.block.dtype:
            self._edge(indent, arguments)
            return
        row, column = Name(f"{place.row}_first"), Name(f"{place.column}_first")
        cell, below = place.cell(row, column), place.cell(Binary("+", row, Constant(1)), column)
        opening = "if"
        for name, size in reversed(self.block.functions):
            self._line(indent, f"{opening} ({self._whole(size)}) {{")
            self._call(indent + 1, name, size, [*arguments, f"&{cell}", f"&{below} - &{cell}"])
            opening = "} else if"
        self._line(indent, "} else {")
        if packed:
            self._edge(indent + 1, arguments)
        else:
            self._plain_steps(indent + 1)
        self._line(indent, "}")

    def _plain_steps(self, indent: int) -> None:
        """The steps that all cells of the tile share, one by one."""
        position = self.block.tile.depth
        steps = [
            Limit(position, "depth_first", least=True),
            Limit(position, "depth_end", least=False, strict=True),
        ]
        self.plain(indent, [*self.inside(), *(steps if self.block.shape.cuts else ())])

    def _packed(self, start: str) -> list[str]:
        place, texts = self.place, []
        for operand in self.block.operands:
            name = place.row if operand.is_row else place.column
            begin = f"{place.depth}_start"
            shift = "" if start == begin else f" + {self.block.parts * self.block.panel(operand)} * ({start} - {begin})"
            texts.append(f"{place.panel(operand, f'{name}_first')} * {place.depth}_count{shift}")
        return texts + [operand.ahead for operand in self._read_ahead()]

    def _in_place(self, start: str) -> list[str]:
        """The first element of each operand and its distances to the next row and step."""
        place, texts = self.place, []
        for operand in self.block.operands:
            role = "row" if operand.is_row else "column"
            lane, step = Name(f"{getattr(place, role)}_first"), Name(start)
            first = place.at(operand.value, **{role: lane, "depth": step})
            following = place.at(operand.value, **{role: lane, "depth": Binary("+", step, Constant(1))})
            beside = place.at(operand.value, **{role: Binary("+", lane, Constant(1)), "depth": step})
            texts.append(f"&{first}")
            texts += [f"&{beside} - &{first}"] if operand.is_row else []
            texts.append(f"&{following} - &{first}")
        return texts

    def _call(self, indent: int, name: str, size: TileSize, arguments: Sequence[str]) -> None:
        """The function called ``name``; one for the last columns of a block has nothing to ask for ahead."""
        soon = [operand.ahead for operand in self._read_ahead()] if size.beside else []
        given = [argument for argument in arguments if argument not in soon]
        self.text.add(indent, f"{name}({', '.join(given)});", self.block.statement)

    def _whole(self, size: TileSize) -> str:
        """When every cell of a tile of this ``size`` is updated."""
        place = self.place
        inside = [f"{place.corner(mask, best=False)} >= 0" for mask in self.block.shape.masks]
        extents = ((place.row, size.rows), (place.column, size.columns))
        return " && ".join(
            [*(f"{name}_last - {name}_first == {extent - 1}" for name, extent in extents), *inside]
        )

    def _edge(self, indent: int, arguments: Sequence[str]) -> None:
        """A tile of which some cells are not updated: those that are travel through a buffer."""
        place, size = self.place, self.block.size
        aligned = "__attribute__((aligned(64)))"
        self._line(
            indent, f"{self.block.kind} {self.block.edge}[{size.rows}][{size.columns}] {aligned} = {{{{0}}}};"
        )
        inside = " && ".join(f"{place.terms(mask)} >= 0" for mask in self.block.shape.masks)
        edge = f"{self.block.edge}[{place.row} - {place.row}_first][{place.column} - {place.column}_first]"
        cell = place.cell(Name(place.row), Name(place.column))
        self._cells(indent, inside, f"{edge} = {cell};")
        *narrower, (whole, _) = self.block.functions
        opening, last = "if", f"{place.column}_last - {place.column}_first"
        cells = [*arguments, f"&{self.block.edge}[0][0]", str(size.columns)]
        for name, narrow in narrower:
            self._line(indent, f"{opening} ({last} < {narrow.columns})")
            self._call(indent + 1, name, narrow, cells)
            opening = "else if"
        if narrower:
            self._line(indent, "else")
        self._call(indent + bool(narrower), whole, size, cells)
        self._cells(indent, inside, f"{cell} = {edge};")

    def _cells(self, indent: int, condition: str, line: str) -> None:
        for name in (self.place.row, self.place.column):
            self._line(indent, f"for (int64_t {name} = {name}_first; {name} <= {name}_last; {name}++)")
            indent += 1
        if condition:
            self._line(indent, f"if ({condition})")
            indent += 1
        self.text.add(indent, line, self.block.statement)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)
