"""Blocks of register tiles in C: buffers, the loops over tiles, edges, and plain loops where vectors cannot go."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import BlockPlace, names_in
from polyviz.codegen.block_text import block_text
from polyviz.codegen.block_tiles_c import TilePrinter
from polyviz.codegen.bodies import bound_expression
from polyviz.codegen.pack_c import print_bounds, print_packing
from polyviz.codegen.register_tile_c import print_tile_function, refusal, vector_types
from polyviz.codegen.text import TextBuilder
from polyviz.model.expression import Binary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.block_text import BlockText
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.model.expression import Expression
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop

SMALLEST_PACKED_WORK = 20_000
"""Statement instances of a nest below which copying its operands costs more than it gives."""
ALIGNMENT = 64
"""Bytes: a cache line, and the longest vector."""


class BlockPrinter:
    """Prints the blocks of a plan's register tiles; ``blocks`` holds those that the types allow, by mark.

    ``notes`` says why others are left out. ``print_loops`` prints loop IR at an indentation.
    """

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Mapping[str, ArrayType],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loops: Callable[[LoopNode, int], None],
    ) -> None:
        self.scop = scop
        self.plan = plan
        self.types = types
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loops = print_loops
        self.notes: list[str] = []
        self.blocks: dict[str, BlockText] = {}
        for tile in plan.register_tiles:
            reason = refusal(tile, types, printer.environment)
            if reason is None:
                dtype = types[tile.operands.target.array].dtype
                self.blocks[tile.mark] = block_text(scop, tile, dtype, arrays)
            else:
                self.notes.append(f"{tile.statement} runs without tiles in registers: {reason}.")

    def functions(self) -> TextBuilder:
        """The types and functions that stand before the kernel."""
        text = TextBuilder()
        types = [line for block in self.blocks.values() for line in vector_types(block.dtype, block.tile)]
        for line in dict.fromkeys(types):
            text.add(0, line)
        for block in self.blocks.values():
            text.add(0, "")
            print_tile_function(block.tile, block.statement, block.dtype, block.function, text)
        return text

    def allocate(self, marks: Sequence[str], indent: int) -> None:
        """Buffers for the blocks ``marks``, for one thread; none for little work."""
        for block in map(self.blocks.__getitem__, marks):
            if not block.tile.packed:
                continue
            size = self.work(block)
            for operand in block.operands:
                memory = f"aligned_alloc({ALIGNMENT}, sizeof({block.kind}[{block.capacity(operand)}]))"
                enough = f"{size} > {SMALLEST_PACKED_WORK}"
                line = f"{block.kind} *restrict {operand.buffer} = {enough} ? {memory} : NULL;"
                self.text.add(indent, line)

    def work(self, block: BlockText) -> str:
        """The number of statement instances of the whole nest, or a bound for it."""
        extents = [bound_expression(extent) for extent in block.tile.extents]
        return self.printer.expression(reduce(lambda left, right: Binary("*", left, right), extents))

    def team(self, mark: str) -> str | None:
        """The mark of the blocks that a team of threads shares below the mark ``mark``; None where there are none."""
        return next((name for name, block in self.blocks.items() if mark and block.tile.team == mark), None)

    def team_condition(self, mark: str, least: int) -> str:
        """When the block ``mark`` is worth threads: they need its buffers, and more than ``least`` instances."""
        block = self.blocks[mark]
        return f"{block.buffers} && {self.work(block)} > {least}"

    def release(self, marks: Sequence[str], indent: int) -> None:
        """Give the buffers back."""
        for block in map(self.blocks.__getitem__, marks):
            for operand in block.operands if block.tile.packed else ():
                self.text.add(indent, f"free({operand.buffer});")

    def block(self, mark: str, arguments: Sequence[Expression], indent: int, *, packed: bool = False) -> None:
        """One block at the coordinates ``arguments``; what it shares with others is packed already when ``packed``."""
        block, place = self.blocks[mark], self._place(mark, arguments)
        tiles = TilePrinter(place, self.types, self.printer, self.text, self.print_loops)
        if not block.tile.packed:
            self.text.add(indent, "{")
            print_bounds(place, (place.row, place.column, place.depth), self.text, indent + 1)
            tiles.write(indent + 1)
            self.text.add(indent, "}")
            return
        missing = [operand for operand in block.operands if not (packed and block.is_shared(operand))]
        self.text.add(indent, f"if ({block.buffers}) {{")
        print_bounds(place, (place.row, place.column, place.depth), self.text, indent + 1)
        print_packing(place, missing, self.text, indent + 1)
        tiles.write(indent + 1)
        self.text.add(indent, "} else {")
        tiles.plain(indent + 1)
        self.text.add(indent, "}")

    def pack_before(self, loop: For, mark: str, arguments: Sequence[Expression], indent: int) -> bool:
        """Pack what all blocks in ``loop``, the innermost around them, share; False where there is nothing."""
        block, place = self.blocks[mark], self._place(mark, arguments)
        shared = [operand for operand in block.operands if block.is_shared(operand)]
        if not shared or any(loop.iterator in names_in(argument) for argument in arguments[:-1]):
            return False
        start, stop = self.printer.expression(loop.start), self.printer.expression(loop.stop)
        self.text.add(indent, f"if ({block.buffers} && {start} < {stop}) {{")
        bounds = (place.depth, place.row if shared[0].is_row else place.column)
        print_bounds(place, bounds, self.text, indent + 1)
        print_packing(place, shared, self.text, indent + 1, wait=False)
        self.text.add(indent, "}")
        return True

    def _place(self, mark: str, arguments: Sequence[Expression]) -> BlockPlace:
        return BlockPlace(self.scop, self.plan, self.arrays, self.printer, self.blocks[mark], arguments)
