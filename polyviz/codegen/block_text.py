"""What stays the same for every block of one register tile: its size, its shape, its operands and names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import ShapedBlock, buffer_names
from polyviz.codegen.block_shape import block_shape
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.register_tile_c import TileSize, tile_size
from polyviz.codegen.register_tiles import part_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.model.expression import Expression
    from polyviz.model.linear import Terms
    from polyviz.model.plan import RegisterTile
    from polyviz.model.scop import Scop

LARGEST_KEPT = 512 * 1024
"""Bytes of a buffer that a thread keeps for good: getting its pages anew takes longer than filling it."""
_LARGEST_ELEMENT = 8


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a register tile: the value, its packed buffer, the memory of that which is ``kept`` from call to
    call, the pointer that fills it, one to what is read soon, and whether it belongs to the rows."""

    value: Expression
    buffer: str
    kept: str
    next: str
    ahead: str
    is_row: bool


@dataclass(frozen=True, slots=True)
class BlockText(ShapedBlock):
    """One register tile on its way to C.

    ``dtype`` is the type of its cells, ``function`` updates one tile, ``narrower`` are the functions for tiles of fewer
    vectors, from one on, ``edge`` is a tile in memory.
    """

    dtype: str
    size: TileSize
    function: str
    narrower: tuple[str, ...]
    edge: str
    operands: tuple[Operand, ...]

    @property
    def kind(self) -> str:
        """The C type of the cells."""
        return C_TYPE_NAMES[self.dtype]

    @property
    def part(self) -> str:
        """The C type of what is packed: of the real and imaginary parts of complex cells."""
        return C_TYPE_NAMES[part_type(self.dtype)]

    @property
    def parts(self) -> int:
        """How many numbers a packed value becomes: complex ones are taken apart."""
        return 1 if part_type(self.dtype) == self.dtype else 2

    @property
    def buffers(self) -> str:
        """The condition that all buffers are there."""
        return " && ".join(operand.buffer for operand in self.operands)

    @property
    def functions(self) -> tuple[tuple[str, TileSize], ...]:
        """The functions and the tiles that they update, the narrowest first."""
        return (*zip(self.narrower, self.size.narrower(), strict=False), (self.function, self.size))

    @property
    def ragged(self) -> Terms | None:
        """The condition (a combination that is not negative) under which a row takes a step, where all that ties steps
        to cells is this one: the functions for tiles test it."""
        tile, iterators = self.tile, self.statement.iterators
        if not tile.packed or self.parts > 1 or len(self.shape.cuts) != 1:
            return None
        cut = self.shape.cuts[0]
        return cut if iterators[tile.row] in cut and iterators[tile.column] not in cut else None

    def panel(self, operand: Operand) -> int:
        """How many values of ``operand`` one step of a tile reads."""
        return self.size.rows if operand.is_row else self.size.columns

    def capacity(self, operand: Operand) -> int:
        """Elements of the buffer of ``operand``."""
        rows, columns, depth = self.tile.sizes
        panel = self.panel(operand)
        matrices = 1 if operand.is_row else self.tile.turns
        return self.parts * matrices * -(-(rows if operand.is_row else columns) // panel) * panel * depth

    def is_kept(self, operand: Operand) -> bool:
        """Whether a thread keeps its buffer for ``operand`` from call to call: those of its own that are not large."""
        return not self.is_shared(operand) and self.capacity(operand) * _LARGEST_ELEMENT <= LARGEST_KEPT

    def memory(self, operand: Operand) -> tuple[str, int, bool]:
        """What two buffers must have in common to use the same memory one after the other."""
        return self.part, self.capacity(operand), self.is_shared(operand)

    def renamed(self, names: Mapping[str, str]) -> BlockText:
        """The same, with other ``names`` for buffers and for the memory that threads keep."""
        operands = (
            replace(one, buffer=names.get(one.buffer, one.buffer), kept=names.get(one.kept, one.kept))
            for one in self.operands
        )
        return replace(self, operands=tuple(operands))

    def is_shared(self, operand: Operand) -> bool:
        """Whether the packed operand serves all blocks of the innermost loop."""
        return self.tile.shared_rows if operand.is_row else self.tile.shared_columns


def block_text(scop: Scop, tile: RegisterTile, dtype: str, arrays: ArrayPrinter) -> BlockText:
    """``tile`` with names that nothing else in the function has."""
    statement = scop.statement(tile.statement)
    rows, columns = (
        zip(buffer_names(values, ending), values, strict=True)
        for values, ending in ((tile.operands.rows, "rows"), (tile.operands.columns, "columns"))
    )
    size = tile_size(tile, dtype)
    narrower = size.narrower() if tile.packed else ()
    return BlockText(
        tile,
        statement,
        block_shape(scop, statement, tile),
        dtype,
        size,
        arrays.added(f"update_{tile.statement}"),
        tuple(arrays.added(f"update_{tile.statement}_{one.columns}_columns") for one in narrower),
        arrays.added("edge"),
        (
            *(_operand(name, value, arrays, is_row=True) for name, value in rows),
            *(_operand(name, value, arrays, is_row=False) for name, value in columns),
        ),
    )


def _operand(name: str, value: Expression, arrays: ArrayPrinter, *, is_row: bool) -> Operand:
    return Operand(
        value,
        arrays.added(name),
        arrays.added(f"{name}_kept"),
        arrays.added(f"next_{name}"),
        arrays.added(f"{name}_ahead"),
        is_row,
    )
