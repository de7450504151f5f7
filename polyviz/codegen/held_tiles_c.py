"""Held tiles in C: cells in vector registers through all loops of a sum.

    for (; j_stop - j >= 24; j += 24) {
        vector_float64 out_tile[8][3];
        …
        for (int64_t p = 0; p < 3; p++) {
            for (int64_t q = 0; q < 3; q++) {
                for (int r = 0; r < 8; r++) {
                    for (int v = 0; v < 3; v++) {
                        const vector_float64 img_vector = *(const loose_float64 *)&img[i + p][j + q + 8 * v];
                        out_tile[r][v] = out_tile[r][v] + img_vector * w[o + r][p][q];
                    }
                }
            }
        }
        …
    }

The compiler writes the two inner loops out and loads what rows or columns have in common once. The last tile of a row
may begin before the columns that are left: what it computes of cells that are done is thrown away. Rows that are
narrower than a vector run in a vector loop of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import expression_of
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.held_tiles import (
    HeldNest,
    fitting_shapes,
    held_nest,
    held_tiles,
    steps,
    stride,
    tile_shapes,
    with_copies,
)
from polyviz.codegen.index import simplify_subscripts
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.row_blocks import elements_of
from polyviz.codegen.wraps import replaced
from polyviz.model.expression import Binary, Constant, Element, Expression, Name, substitute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.held_tiles import HeldTiles, TileWidth
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.codegen.row_blocks import Types
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.vectors_c import VectorFunctions
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True)
class _Tile:
    """A tile of ``rows`` and so many ``vectors`` in each, and the names of what its text declares."""

    found: HeldTiles
    names: LocalNames
    lanes: int
    rows: int
    width: TileWidth

    @property
    def columns(self) -> int:
        """Cells in a row."""
        return self.lanes * self.width.vectors

    @property
    def is_whole(self) -> bool:
        """Whether it never lies over cells that are done already."""
        return self.width.least == self.columns

    @property
    def sizes(self) -> list[tuple[str, int]]:
        """The variables that count rows and vectors, where there are several, and how many these are."""
        counted = ((self.names.of("r"), self.rows), (self.names.of("v"), self.width.vectors))
        return [(name, count) for name, count in counted if count > 1]

    @property
    def sums(self) -> str:
        """What the registers are called."""
        return self.names.of(f"{self.found.update.target.array}_tile")

    def register(self, row: int | None = None) -> str:
        """The register of the ``row``, None for the one that is counted, and of the vector that is counted."""
        counted = {} if row is None else {self.names.of("r"): str(row)}
        return self.sums + "".join(f"[{counted.get(name, name)}]" for name, _ in self.sizes)

    def placed(self, node: Expression, *, first: bool = False, at: tuple[int, int] | None = None) -> Expression:
        """``node`` in the row and the vector that is counted; in the ``first`` vector, where asked, or ``at`` a row and
        a step of the window."""
        nest = self.found.nest
        moved: dict[str, Expression] = {}
        if nest.rows is not None and self.rows > 1:
            row = Name(self.names.of("r")) if at is None else Constant(at[0])
            moved[nest.rows.iterator] = Binary("+", Name(nest.rows.iterator), row)
        if self.found.window is not None and at is not None:
            moved[self.found.window.iterator] = Binary("+", self.found.window.start, Constant(at[1]))
        if self.width.vectors > 1 and not first:
            ahead = Binary("*", Constant(self.lanes), Name(self.names.of("v")))
            moved[nest.columns.iterator] = Binary("+", Name(nest.columns.iterator), ahead)
        placed = simplify_subscripts(substitute(node, moved))
        assert isinstance(placed, Expression)
        return placed


class HeldTilePrinter:
    """Prints the held tiles of a plan; ``print_loops`` prints loop IR at an indentation, ``notes`` tells why cells do
    not stay in registers."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Types,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loops: Callable[[LoopNode, int], None],
        vectors: VectorFunctions,
    ) -> None:
        self.scop = scop
        self.types = with_copies(scop, plan, types)
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loops = print_loops
        self.vectors = vectors
        self.notes: list[str] = []

    def nest(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> HeldTiles | HeldNest | None:
        """``loop`` as a nest of held tiles; without an update that vectors compute, as the nest alone."""
        nest = held_nest(loop) if loop.held else None
        if nest is None or self.vectors.processor is None:
            return None
        found = held_tiles(self.scop, nest, bodies, self.types)
        if not isinstance(found, str):
            return found
        note = f"cells of {nest.instance.statement} do not stay in registers through its sum: {found}"
        if note not in self.notes:
            self.notes.append(note)
        return nest

    def write(self, found: HeldTiles | HeldNest, indent: int) -> None:
        """The loops of ``found``."""
        if isinstance(found, HeldNest):
            self.print_loops(found.along_memory, indent)
            return
        assert self.vectors.processor is not None
        lanes, nest = self.vectors.lanes(found.dtype), found.nest
        registers, window = self.vectors.processor.vector_registers, found.window is not None
        shapes = fitting_shapes(tile_shapes(lanes, registers, rows=found.shares, window=window), nest, lanes)
        if not shapes:
            self.print_loops(nest.along_memory, indent)
            return
        self.vectors.use(found.dtype)
        names = LocalNames(self.arrays, (*nest.bounds, found.update))
        start, stop = _ends(names, nest.columns)
        self._line(indent, "{")
        self._bounds(names, nest.columns, indent + 1)
        self._line(indent + 1, f"if ({stop} - {start} < {lanes}) {{")
        self.print_loops(nest.along_memory, indent + 2)
        self._line(indent + 1, "} else {")
        if nest.rows is not None:
            self._bounds(names, nest.rows, indent + 2)
            row, last = nest.rows.iterator, _ends(names, nest.rows)[1]
            self._line(indent + 2, f"int64_t {row} = {_ends(names, nest.rows)[0]};")
        for rows, widths in shapes:
            tiles = [_Tile(found, names, lanes, rows, width) for width in widths]
            if nest.rows is not None:
                self._line(indent + 2, f"for (; {last} - {row} >= {rows}; {row} += {rows}) {{")
                self._columns(tiles, indent + 3)
                self._line(indent + 2, "}")
            else:
                self._columns(tiles, indent + 2)
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _bounds(self, names: LocalNames, loop: For, indent: int) -> None:
        for name, bound in zip(_ends(names, loop), (loop.start, loop.stop), strict=True):
            self._line(indent, f"const int64_t {name} = {self._text(bound)};")

    def _columns(self, tiles: Sequence[_Tile], indent: int) -> None:
        """All columns of some rows, by tiles of the same height."""
        names, nest = tiles[0].names, tiles[0].found.nest
        column, (start, stop) = nest.columns.iterator, _ends(names, nest.columns)
        skip = names.of("done")
        self._line(indent, f"int64_t {column} = {start};")
        for tile in tiles:
            fits = f" && {stop} - {start} >= {tile.columns}"
            left = f"{stop} - {column} >= {tile.width.least}"
            condition = left if tile.is_whole or tile.width.vectors == 1 else f"{left}{fits}"
            self._line(indent, f"for (; {condition}; {column} += {tile.columns}) {{")
            if not tile.is_whole:
                self.printer.helpers.add("max_i64")
                self._line(indent + 1, f"const int64_t {skip} = max_i64(0, {column} + {tile.columns} - {stop});")
                self._line(indent + 1, f"{column} -= {skip};")
            self._tile(tile, skip, indent + 1)
            self._line(indent, "}")

    def _tile(self, tile: _Tile, skip: str, indent: int) -> None:
        """One tile: its cells into registers, the sum, and the cells back."""
        found, kind = tile.found, tile.found.dtype
        cell = f"*(loose_{kind} *)&{self._text(tile.placed(found.update.target))}"
        self._line(indent, f"vector_{kind} {tile.sums}{''.join(f'[{count}]' for _, count in tile.sizes)};")
        inside = self._counted(tile.sizes, indent)
        self._line(inside, f"{tile.register()} = {cell};")
        self._sum(tile, indent)
        if tile.is_whole:
            self._line(self._counted(tile.sizes, indent), f"{cell} = {tile.register()};")
            return
        self._line(indent, f"if ({skip} == 0) {{")
        self._line(self._counted(tile.sizes, indent + 1), f"{cell} = {tile.register()};")
        self._line(indent, "} else {")
        self._rest(tile, skip, indent + 1)
        self._line(indent, "}")

    def _rest(self, tile: _Tile, skip: str, indent: int) -> None:
        """The cells of a tile back, but for those at its start that were done before."""
        found = tile.found
        place, cells = (tile.names.of(name) for name in ("place", "cells"))
        rows = [size for size in tile.sizes if size[0] == tile.names.of("r")]
        for name, count in rows:
            self._line(indent, f"for (int {name} = 0; {name} < {count}; {name}++) {{")
        inside = indent + len(rows)
        self._line(inside, f"{C_TYPE_NAMES[found.dtype]} {cells}[{tile.columns}];")
        vectors = [size for size in tile.sizes if size not in rows]
        at = f"[{tile.lanes} * {tile.names.of('v')}]" if vectors else "[0]"
        self._line(self._counted(vectors, inside), f"*(loose_{found.dtype} *)&{cells}{at} = {tile.register()};")
        self._line(inside, f"for (int64_t {place} = {skip}; {place} < {tile.columns}; {place}++)")
        target = self._text(tile.placed(found.update.target, first=True))
        self._line(inside + 1, f"(&{target})[{place}] = {cells}[{place}];")
        for _ in rows:
            self._line(indent, "}")

    def _sum(self, tile: _Tile, indent: int) -> None:
        """The loops of the sum around one step of all cells of the tile."""
        depth, window = tile.found.nest.depth, tile.found.window
        if window is None or tile.rows == 1:
            self._loops(depth, indent, partial(self._unrolled, tile.sizes, step=partial(self._step, tile)))
            return
        place, vectors = depth.index(window), tile.sizes[1:]
        inside = depth[place + 1 :]
        alone = not (inside or vectors)

        def lines(indent: int) -> None:
            for line in range(tile.rows + steps(window) - 1):
                step = partial(self._line_of_window, tile, line)
                if alone:  # the registers of a line have a block of their own where no loop makes one
                    self._line(indent, "{")
                self._loops(inside, indent + alone, partial(self._unrolled, vectors, step=step))
                self._close(alone, indent)

        self._loops(depth[:place], indent, lines)

    def _loops(self, loops: Sequence[For], indent: int, body: Callable[[int], None]) -> None:
        """``loops`` around what ``body`` prints."""
        for number, loop in enumerate(loops):
            name, advance = loop.iterator, "++" if loop.step == 1 else f" += {loop.step}"
            bounds = f"int64_t {name} = {self._text(loop.start)}; {name} < {self.printer.bound(loop.stop)}"
            self._line(indent + number, f"for ({bounds}; {name}{advance}) {{")
        body(indent + len(loops))
        self._close(len(loops), indent)

    def _unrolled(self, sizes: Sequence[tuple[str, int]], indent: int, step: Callable[[int], None]) -> None:
        """Loops that the compiler writes out around what ``step`` prints."""
        for number, (name, count) in enumerate(sizes):
            self._line(indent + number, f"#pragma GCC unroll {count}")
            self._line(indent + number, f"for (int {name} = 0; {name} < {count}; {name}++) {{")
        step(indent + len(sizes))
        self._close(len(sizes), indent)

    def _close(self, count: int, indent: int) -> None:
        for number in reversed(range(count)):
            self._line(indent + number, "}")

    def _step(self, tile: _Tile, indent: int) -> None:
        """One term for one vector of cells."""
        self._update(tile, self._loaded(tile, indent), indent)

    def _line_of_window(self, tile: _Tile, line: int, indent: int) -> None:
        """What is loaded for one row and the first step, or for later rows and steps as far on, for all that use it."""
        assert tile.found.window is not None
        pairs = [(row, line - row) for row in range(tile.rows) if 0 <= line - row < steps(tile.found.window)]
        vectors = self._loaded(tile, indent, pairs[0])
        for pair in pairs:
            self._update(tile, vectors, indent, pair)

    def _loaded(self, tile: _Tile, indent: int, at: tuple[int, int] | None = None) -> dict[Element, str]:
        """The registers of what is read along memory, loaded."""
        found, vectors = tile.found, dict[Element, str]()
        for element in elements_of(found.update.value):
            apart = stride(element, found.nest.columns.iterator)
            if element in vectors or element == found.update.target or not apart:
                continue
            same = sum(other.array == element.array for other in vectors)
            vectors[element] = tile.names.of(f"{element.array}_vector{same or ''}")
            start = f"&{self._text(tile.placed(element, at=at))}"
            load = f"*(const loose_{found.dtype} *){start}"
            if apart > 1:
                load = f"{self.vectors.every_second(found.dtype)}({start})"
            self._line(indent, f"const vector_{found.dtype} {vectors[element]} = {load};")
        return vectors

    def _update(
        self, tile: _Tile, loaded: Mapping[Element, str], indent: int, at: tuple[int, int] | None = None
    ) -> None:
        """One term for the register of a row."""
        found, register = tile.found, tile.register(None if at is None else at[0])
        vectors = {**loaded, found.update.target: register}
        types = {**self.printer.environment.types, **dict.fromkeys(vectors.values(), found.dtype)}
        inner = CExpressionPrinter(types, self.printer.names, self.printer.element)
        registers: dict[Expression, Expression] = {element: Name(name) for element, name in vectors.items()}
        value = inner.expression(tile.placed(expression_of(replaced(found.update.value, registers)), at=at))
        source = f"  // line {found.statement.span.line}: {found.statement.headline}" if at is None or not at[0] else ""
        self.text.add(indent, f"{register} = {value};{source}", found.statement)

    def _counted(self, sizes: Sequence[tuple[str, int]], indent: int) -> int:
        """Loops that count rows and vectors around a line; the indentation of that."""
        for name, count in sizes:
            self._line(indent, f"for (int {name} = 0; {name} < {count}; {name}++)")
            indent += 1
        return indent

    def _text(self, node: Expression) -> str:
        return self.printer.expression(node)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _ends(names: LocalNames, loop: For) -> tuple[str, str]:
    """What the bounds of ``loop`` are called."""
    return names.of(f"{loop.iterator}_start"), names.of(f"{loop.iterator}_stop")
