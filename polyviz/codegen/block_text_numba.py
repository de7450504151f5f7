"""What stays the same for every block of one register tile in numba: its size, its shape, its buffers and names.

LLVM keeps no array of vectors in registers, but it makes vector instructions of a plain loop. So a register tile turns
around: the values of a few rows and a few steps of the sum are variables, and the innermost loop runs along a panel of
columns, where each cell is loaded once, takes all these steps, and is stored again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import ShapedBlock, buffer_names
from polyviz.codegen.block_shape import block_shape
from polyviz.model.expression import Name, walk
from polyviz.model.plan import SUM

if TYPE_CHECKING:
    from polyviz.codegen.identifiers import Identifiers
    from polyviz.model.expression import Expression
    from polyviz.model.plan import RegisterTile
    from polyviz.model.scop import Scop

_ROWS, _MANY_ROWS = 4, 8
"""Rows of a tile: each value of a column that was loaded is used so often. Many where registers allow it and all rows
are equally long, since the ends of rows are left to plain loops."""
_WIDEST = 256
_NARROWEST = 48
"""Columns of a panel: short loops spend their time on starting."""
_NARROW = 48
"""The same where the steps of the sum depend on the column: a panel runs the steps that all of its columns share."""
_LARGEST_BUFFER = 1 << 26
"""Bytes for one packed operand; more could only come from tile sizes that a person gave."""


@dataclass(frozen=True, slots=True)
class NumbaBlock(ShapedBlock):
    """One register tile on its way to numba: ``rows`` rows and ``steps`` steps at once, along ``width`` columns.

    ``update`` and ``pack`` are functions, ``buffers`` those of packed columns with the values in them, all of
    ``dtype``; each holds ``panels`` panels. ``coordinates`` are the parameters of the functions that say which block.
    """

    dtype: str
    rows: int
    steps: int
    width: int
    update: str
    pack: str
    panel: str
    buffers: tuple[tuple[str, Expression], ...]
    coordinates: tuple[str, ...]

    @property
    def titles(self) -> dict[str, str]:
        """What each function does."""
        steps = "a step" if self.steps == 1 else f"{self.steps} steps"
        target = self.tile.operands.target.array
        return {
            self.pack: f"Copy a panel of {self.width} columns, step by step.",
            self.update: f"Add to a block of {target}: {self.rows} rows take {steps} of the sum at once, "
            f"along {self.width} columns.",
        }

    @property
    def panels(self) -> int:
        """Panels of columns in the widest block."""
        return -(-self.tile.sizes[1] // self.width)

    @property
    def depth(self) -> int:
        """Steps in the longest block."""
        return self.tile.sizes[2]


def numba_block(scop: Scop, tile: RegisterTile, dtype: str, identifiers: Identifiers) -> NumbaBlock:
    """``tile`` with names that nothing else in the program has."""
    statement = scop.statement(tile.statement)
    shape = block_shape(scop, statement, tile)
    operands = tile.operands
    beside = any(statement.iterators[tile.column] in cut for cut in shape.cuts)
    packed = operands.columns if tile.packed else ()
    buffers = map(identifiers.derived, buffer_names(packed, f"columns_{tile.statement}"))
    ragged = bool(shape.masks or shape.cuts)
    many = tile.processor.vector_registers >= 4 * _MANY_ROWS and len(operands.rows) == 1 and not ragged
    rows = _MANY_ROWS if many else _ROWS
    return NumbaBlock(
        tile,
        statement,
        shape,
        dtype,
        rows,
        _steps(tile, rows),
        _NARROW if beside else _width(tile),
        identifiers.derived(f"update_{tile.statement}"),
        identifiers.derived(f"pack_{tile.statement}"),
        identifiers.derived("panel"),
        tuple(zip(buffers, packed, strict=True)),
        tuple(f"{name}_" if name in identifiers.taken else name for name in tile.coordinates),
    )


def too_large(tile: RegisterTile) -> str | None:
    """Why the buffers of ``tile`` cannot be had; None when they can."""
    _, columns, depth = tile.sizes
    if not tile.packed or (columns + _WIDEST) * depth * 8 <= _LARGEST_BUFFER:
        return None
    return f"a block of {columns} columns and {depth} steps is too large to be packed"


def _steps(tile: RegisterTile, rows: int) -> int:
    """Steps of the sum whose values fit the registers: those of all rows, those of a column, and one sum."""
    operands, registers = tile.operands, tile.processor.vector_registers
    values = rows * len(operands.rows) + len(operands.columns)
    once = sum(part == Name(SUM) for part in walk(operands.update)) == 1
    return max(1, (registers - 1 - len(operands.scalars)) // values) if once else 1


def _width(tile: RegisterTile) -> int:
    """Columns whose operands fill three quarters of the second cache."""
    _, _, depth = tile.sizes
    fit = 3 * tile.processor.l2 // 4 // (depth * 8 * len(tile.operands.columns))
    return max(_NARROWEST, min(fit // 32 * 32, _WIDEST))
