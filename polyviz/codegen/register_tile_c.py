"""The function that updates one register tile: cells in vector registers while the sum runs over packed operands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import names_in
from polyviz.codegen.dtypes import C_TYPE_NAMES, type_named
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.register_tiles import (
    added_products,
    is_whole,
    named_operands,
    operand_names,
    part_type,
    reads_ahead,
)
from polyviz.model.expression import Binary, Element, Name
from polyviz.model.linear import written
from polyviz.model.plan import COLUMNS, ROWS, SCALARS, SUM

if TYPE_CHECKING:
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression
    from polyviz.model.linear import Terms
    from polyviz.model.plan import RegisterTile
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Statement

STEPS = 4
"""Steps of the sum that one pass through the loop takes: its count and its tests compete with the multiply-adds."""


@dataclass(frozen=True, slots=True)
class TileSize:
    """A register tile: ``rows`` times ``vectors`` registers of ``lanes`` elements each.

    One for the last columns of a block is narrower than the panels it reads: these hold ``beside`` vectors more.
    """

    rows: int
    vectors: int
    lanes: int
    beside: int = 0

    @property
    def columns(self) -> int:
        """Cells in one row of the tile."""
        return self.vectors * self.lanes

    @property
    def panel(self) -> int:
        """Columns in one step of a packed panel."""
        return (self.vectors + self.beside) * self.lanes

    def narrower(self) -> tuple[TileSize, ...]:
        """The same tile with fewer vectors, from one on: what the last columns of a block fill."""
        whole = self.vectors
        return tuple(replace(self, vectors=count, beside=whole - count) for count in range(1, whole))


def tile_size(tile: RegisterTile, dtype: str) -> TileSize:
    """The shape that was asked for, else the largest whose sums fit the registers together with a step's operands."""
    part = part_type(dtype)
    lanes = tile.processor.lanes(_bytes(part))
    if tile.shape is not None:
        return TileSize(*tile.shape, lanes)
    operands, parts = tile.operands, 1 if part == dtype else 2
    return TileSize(*tile.processor.product_tile(len(operands.rows), len(operands.columns), lanes, parts), lanes)


def steps_ahead(tile: RegisterTile, size: TileSize) -> int:
    """In how many steps one tile passes one vector of the next panel, where all tiles beside the panel share it.

    Each of these steps asks for its part of the vector: a second request costs less than the branch that saves it.
    """
    tiles, steps = tile.sizes[0] // size.rows, 1
    while 2 * steps <= min(STEPS, size.lanes, tiles // size.vectors):
        steps *= 2
    return steps


def _bytes(dtype: str) -> int:
    return type_named(dtype).bits // 8


def vector_types(dtype: str, processor: Processor) -> list[str]:
    """The vector type of ``dtype``, aligned for packed operands and loose for rows of an array."""
    kind, size = C_TYPE_NAMES[dtype], processor.vector_bytes
    return [
        f"typedef {kind} vector_{dtype} __attribute__((vector_size({size}), may_alias));",
        f"typedef {kind} loose_{dtype} "
        f"__attribute__((vector_size({size}), aligned({_bytes(dtype)}), may_alias));",
    ]


def print_tile_function(
    tile: RegisterTile,
    statement: Statement,
    dtype: str,
    size: TileSize,
    name: str,
    text: TextBuilder,
    ragged: Terms | None,
    *,
    reorders: bool,
) -> None:
    """The function called ``name``: it takes the operands, the cells and the stride of their rows.

    Where ``ragged`` is the condition under which a row takes a step, some at the start or at the end are tested for it.
    Where it ``reorders`` sums, each product of a step has a loop of its own: compilers that see two products of a step
    add these first, which takes an instruction and a register more than two multiply-adds.
    """
    kind = C_TYPE_NAMES[dtype]
    registers, array = size.rows * size.vectors, tile.operands.target.array
    text.add(
        0,
        f"/* A tile of {size.rows} x {size.columns} cells of {array}, kept in {registers} vector registers. */",
    )
    text.add(0, f"static void {name}(")
    count, *operands = _parameters(tile, kind, ahead=reads_ahead(tile) and not size.beside)
    for parameter in (count, *(["int64_t ragged, int64_t slack"] if ragged else []), *operands):
        text.add(1, f"{parameter},")
    text.add(1, f"{kind} *restrict cells, int64_t stride)")
    text.add(0, "{")
    text.add(1, f"vector_{dtype} sum[{size.rows}][{size.vectors}];")
    cell = f"(cells + r * stride + {size.lanes} * c)"
    _print_every(size, text, f"sum[r][c] = *(const loose_{dtype} *){cell};")
    if not size.beside:
        _print_prefetch(size, text)
    for update in added_products(tile.operands.update) if reorders else [tile.operands.update]:
        for header, takes_part in _stretches(tile, statement, ragged):
            if not takes_part:
                text.add(1, f"#pragma GCC unroll {STEPS}")
            text.add(1, f"for ({header}) {{{'  // steps that not every row takes' if takes_part else ''}")
            _print_step(tile, update, statement, dtype, size, text, takes_part)
            text.add(1, "}")
    _print_every(size, text, f"*(loose_{dtype} *){cell} = sum[r][c];")
    text.add(0, "}")


def _stretches(tile: RegisterTile, statement: Statement, ragged: Terms | None) -> tuple[tuple[str, str], ...]:
    """The loops over the steps, each with the condition under which row ``r`` takes step ``k`` where not all do."""
    if ragged is None:
        return (("int64_t k = 0; k < count; k++", ""),)
    row, depth = (ragged[statement.iterators[place]] for place in (tile.row, tile.depth))
    terms = written({"slack": 1, "k": depth, "r": row})
    takes_part = f"{CExpressionPrinter({}, {}, _no_element).expression(terms)} >= 0"
    if depth > 0:
        return (("int64_t k = 0; k < ragged; k++", takes_part), ("int64_t k = ragged; k < count; k++", ""))
    whole, rest = "int64_t k = 0; k < count - ragged; k++", "int64_t k = count - ragged; k < count; k++"
    return ((whole, ""), (rest, takes_part))


def _print_every(size: TileSize, text: TextBuilder, line: str) -> None:
    """``line`` for every register of the tile."""
    text.add(1, f"for (int r = 0; r < {size.rows}; r++)")
    text.add(2, f"for (int c = 0; c < {size.vectors}; c++)")
    text.add(3, line)


def _print_prefetch(size: TileSize, text: TextBuilder) -> None:
    """Ask for the cells to the right: the loops over tiles get there once they have gone down the rows of the block."""
    text.add(1, "/* The next panel of columns begins with the cells to the right. */")
    text.add(1, f"for (int r = 0; r < {size.rows}; r++)")
    text.add(2, f"for (int c = 1; c <= {size.vectors}; c++)")
    # The last element of each vector: where rows begin inside a cache line, the first is in a line that was just used.
    text.add(3, f"__builtin_prefetch(cells + r * stride + {size.columns - 1} + {size.lanes} * c, 1);")


def _print_step(
    tile: RegisterTile,
    update: Expression,
    statement: Statement,
    dtype: str,
    size: TileSize,
    text: TextBuilder,
    takes_part: str,
) -> None:
    """One step of the sum: registers of columns are loaded once, each value of a row meets all of them.

    ``takes_part`` is the condition for rows that may not take this step, empty for those that take it anyway.
    """
    kind = C_TYPE_NAMES[dtype]
    vector = f"const {'vector' if tile.packed else 'loose'}_{dtype} *"
    used = names_in(update)
    for part in filter(used.__contains__, named_operands(tile, COLUMNS)):
        start = f"packed_{part} + {size.panel} * k" if tile.packed else f"{part}_start + k * {part}_step"
        text.add(2, f"{vector}{part} = ({vector})({start});")
        if reads_ahead(tile) and not size.beside:
            _print_ahead(part, steps_ahead(tile, size), size, text)
    text.add(2, f"#pragma GCC unroll {size.rows}")
    text.add(2, f"for (int r = 0; r < {size.rows}; r++) {{")
    if takes_part:
        text.add(3, f"if (!({takes_part}))")
        text.add(4, "continue;")
    for part in filter(used.__contains__, named_operands(tile, ROWS)):
        packed, placed = (
            f"packed_{part}[{size.rows} * k + r]",
            f"{part}_start[r * {part}_next + k * {part}_step]",
        )
        text.add(3, f"const {kind} {part} = {packed if tile.packed else placed};")
    text.add(3, f"#pragma GCC unroll {size.vectors}")
    text.add(3, f"for (int c = 0; c < {size.vectors}; c++)")
    source = statement.headline
    text.add(4, f"{_update(tile, update, dtype)}  // line {statement.span.line}: {source}", statement)
    text.add(2, "}")


def _print_ahead(part: str, steps: int, size: TileSize, text: TextBuilder) -> None:
    """Ask for one vector of the next panel of ``part`` in so many ``steps``."""
    text.add(2, f"__builtin_prefetch(ahead_{part} + {size.lanes // steps} * k, 0, 2);")


def _parameters(tile: RegisterTile, kind: str, *, ahead: bool) -> list[str]:
    """Of operands in place: the first element, the distances from row to row and from step to step."""
    rows, columns = named_operands(tile, ROWS), named_operands(tile, COLUMNS)
    pointer, scalars = (
        f"const {kind} *restrict",
        [f"const {kind} {name}" for name in named_operands(tile, SCALARS)],
    )
    if tile.packed:
        soon = [f"const {kind} *ahead_{name}" for name in columns] if ahead else []
        return ["int64_t count", *(f"{pointer} packed_{name}" for name in (*rows, *columns)), *soon, *scalars]
    placed = [f"{pointer} {name}_start, int64_t {name}_next, int64_t {name}_step" for name in rows]
    placed += [f"{pointer} {name}_start, int64_t {name}_step" for name in columns]
    return ["int64_t count", *placed, *scalars]


def _update(tile: RegisterTile, update: Expression, dtype: str) -> str:
    names = {SUM: "sum[r][c]", **{part: f"{part}[c]" for part in named_operands(tile, COLUMNS)}}
    # Operands of a vector have its width: nothing widens narrow integers, which keep the last bits of their results.
    types = dict.fromkeys(operand_names(tile), "int64" if is_whole(dtype) else dtype)
    printer = CExpressionPrinter(types, names, _no_element)
    match update:
        case Binary("+" | "-" as operator, Name(name), value) if name == SUM:
            return f"sum[r][c] {operator}= {printer.expression(value)};"
    return f"sum[r][c] = {printer.expression(update)};"


def _no_element(element: Element, printer: CExpressionPrinter) -> str:
    raise AssertionError(f"{element.array} is no operand")
