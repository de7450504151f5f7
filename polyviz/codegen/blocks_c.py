"""Blocks of register tiles in C: buffers, the loops over tiles, edges, and plain loops where vectors cannot go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.analysis.trip_counts import SMALLEST_PACKED_PRODUCT
from polyviz.codegen.block_place import BlockPlace, names_in
from polyviz.codegen.block_text import block_text
from polyviz.codegen.block_tiles_c import TilePrinter
from polyviz.codegen.bodies import box_size
from polyviz.codegen.even_blocks_c import EvenBlockPrinter
from polyviz.codegen.held_panels import BOUNDS, bounds_of, outlasts
from polyviz.codegen.loops import Block, For, Instance, descendants, instances
from polyviz.codegen.pack_c import print_bounds, print_packing
from polyviz.codegen.register_tile_c import print_tile_function, vector_types
from polyviz.codegen.register_tiles import is_widened, part_type, refusal, sum_type
from polyviz.codegen.regularity import in_turns
from polyviz.codegen.split_tile_c import print_split_tile
from polyviz.codegen.text import TextBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.block_text import BlockText, Operand
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.register_tile_c import TileSize
    from polyviz.codegen.typing import Environment
    from polyviz.model.expression import Expression
    from polyviz.model.plan import Plan, RegisterTile
    from polyviz.model.program import ArrayType, FloatingPoint
    from polyviz.model.scop import Scop

SMALLEST_PACKED_WORK = 20_000
"""Statement instances of a nest below which copying its operands costs more than it gives."""
ALIGNMENT = 64
"""Bytes: a cache line, and the longest vector."""


class BlockPrinter:
    """Prints the blocks of a plan's register tiles; ``blocks`` holds those that the types allow, by mark.

    ``packed`` are the marks of those whose shared operands are in their buffers by now. ``notes`` says why others,
    those of the statements ``refused``, are left out. ``print_loops`` prints loop IR at an indentation. ``held`` names
    the bounds of the panels that are packed, where these outlast a product; ``lasting`` are the blocks whose shared
    buffers then outlast a team of threads.
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
        floating_point: FloatingPoint,
    ) -> None:
        self.scop = scop
        self.plan = plan
        self.types = types
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loops = print_loops
        self.notes: list[str] = []
        self.refused: list[str] = []
        self.packed: set[str] = set()
        self.blocks: dict[str, BlockText] = {}
        self.held: dict[str, str] = {}
        self.lasting: list[str] = []
        self.even = EvenBlockPrinter(arrays, printer, text)
        self.reorders = floating_point == "reassociate"
        for tile in plan.register_tiles:
            dtype = sum_type(tile, types, printer.environment, widens=self.reorders)
            reason = refusal(tile, types, printer.environment, dtype, widens=self.reorders, splits=True)
            if reason is None:
                block = block_text(scop, tile, dtype, arrays)
                self.blocks[tile.mark] = block.renamed({**self._buffers_apart(block), **self._memory_apart(block)})
                if outlasts(scop, block):
                    self.held[tile.mark] = arrays.added(f"held_{tile.statement}" if self.held else "held")
                self.notes += [*_slower(tile, types, dtype), *_widened(tile, types, printer.environment, dtype)]
            else:
                self.refused.append(tile.statement)
                self.notes.append(f"{tile.statement} runs without tiles in registers: {reason}.")

    def _buffers_apart(self, block: BlockText) -> dict[str, str]:
        """New names for buffers that are called like those of another block, beside which they may stand."""
        known = {operand.buffer for other in self.blocks.values() for operand in other.operands}
        return {
            operand.buffer: self.arrays.added(f"{operand.buffer}_{block.tile.statement}")
            for operand in block.operands
            if operand.buffer in known
        }

    def _memory_apart(self, block: BlockText) -> dict[str, str]:
        """New names for memory that is kept, where another block has the name for some of another type or size."""
        known = {
            operand.kept: other.memory(operand) for other in self.blocks.values() for operand in other.operands
        }
        return {
            operand.kept: self.arrays.added(f"{operand.kept}_{block.tile.statement}")
            for operand in block.operands
            if known.get(operand.kept, block.memory(operand)) != block.memory(operand)
        }

    def functions(self) -> TextBuilder:
        """The types and functions that stand before the kernel."""
        text = TextBuilder()
        types = [
            line
            for block in self.blocks.values()
            for line in vector_types(part_type(block.dtype), block.tile.processor)
        ]
        for line in dict.fromkeys(types):
            text.add(0, line)
        for block in self.blocks.values():
            for operand in _buffered(block, None):
                name = f"{operand.kept}[{block.capacity(operand)}] __attribute__((aligned({ALIGNMENT})))"
                if block.is_shared(operand):
                    text.add(0, f"static void *{operand.kept};  // memory that one call leaves to the next")
                elif block.is_kept(operand):
                    text.add(0, f"static _Thread_local {block.part} {name};  // each thread's own, call after call")
            text.add(0, "")
            for name, size in reversed(block.functions):
                self._function(block, size, name, text)
        return text

    def _function(self, block: BlockText, size: TileSize, name: str, text: TextBuilder) -> None:
        if size.beside:
            text.add(0, "")
        if block.parts > 1:
            print_split_tile(block.tile, block.statement, block.dtype, size, name, text, fused=self.reorders)
        else:
            print_tile_function(
                block.tile, block.statement, block.dtype, size, name, text, block.ragged, reorders=self.reorders
            )

    def allocate(self, marks: Sequence[str], indent: int, *, shared: bool | None = None) -> None:
        """Buffers for the blocks ``marks``, none for little work; all, or only those that are ``shared`` or not."""
        for block in map(self.blocks.__getitem__, marks):
            size = self.work(block)
            for operand in _buffered(block, shared):
                memory = self._memory(block, operand)
                enough = " && ".join([f"{size} > {SMALLEST_PACKED_WORK}", *self._one_product(block)])
                line = f"{block.part} *restrict {operand.buffer} = {enough} ? {memory} : NULL;"
                self.text.add(indent, line)
            if block.tile.mark in self.held and shared is not False:
                held = f"int64_t {self.held[block.tile.mark]}[{BOUNDS}] = {{0}};"
                self.text.add(indent, f"{held}  // the bounds of what is packed")

    def allocate_lasting(self, node: LoopNode, indent: int) -> None:
        """Buffers that a team of threads in ``node`` finds as it left them when a loop around it starts it again."""
        teams = {self.team(part) for part in (node, *descendants(node))}
        self.lasting = [mark for mark in self.held if mark in teams]
        self.allocate(self.lasting, indent, shared=True)

    def release(self, marks: Sequence[str], indent: int, *, shared: bool | None = None) -> None:
        """Give back the buffers that threads do not keep."""
        for block in map(self.blocks.__getitem__, marks):
            for operand in _buffered(block, shared):
                if block.is_shared(operand):
                    self.text.add(indent, f"give_back(&{operand.kept}, {operand.buffer});")
                elif not block.is_kept(operand):
                    self.text.add(indent, f"free({operand.buffer});")

    def _memory(self, block: BlockText, operand: Operand) -> str:
        """Where a buffer gets memory: from the call before, from its thread, or anew where that would keep too much."""
        if block.is_kept(operand):
            return operand.kept
        size = f"sizeof({block.part}[{block.capacity(operand)}])"
        if not block.is_shared(operand):
            return f"aligned_alloc({ALIGNMENT}, {size})"
        self.printer.helpers.update(("take_memory", "give_back"))
        return f"take_memory(&{operand.kept}, {size})"

    def work(self, block: BlockText) -> str:
        """The number of statement instances of the whole nest, or a bound for it."""
        return self.printer.expression(box_size(block.tile.extents))

    def turns(self, loop: For, marks: Sequence[str]) -> str:
        """How threads share the parallel ``loop`` around the blocks ``marks``: in turns that are worth taking one.

        Each iteration may be no more than a small product.
        """
        found = [self.blocks[mark] for mark in marks]
        if len(found) != 1 or not found[0].tile.product:
            return "dynamic"
        return in_turns(loop, box_size(found[0].tile.extents), SMALLEST_PACKED_WORK, self.printer.expression)

    def _one_product(self, block: BlockText) -> list[str]:
        """When one of the products that the nest consists of is worth copies."""
        lengths = block.tile.product
        return [f"{self.printer.expression(box_size(lengths))} > {SMALLEST_PACKED_PRODUCT}"] if lengths else []

    def below(self, node: LoopNode, *, outside_parallel: bool) -> list[str]:
        """The marks of the blocks below ``node``; those in parallel loops only where asked."""
        divided = [other for other in descendants(node) if outside_parallel and self.is_divided(other)]
        inside = {instance.statement for other in divided for instance in instances(other)}
        found = dict.fromkeys(instance.statement for instance in instances(node))
        return [name for name in found if name in self.blocks and name not in inside]

    def is_divided(self, node: LoopNode) -> bool:
        """Whether several threads run what is in ``node``."""
        shared = isinstance(node, For) and bool(node.parallel or node.pipeline)
        return shared or (isinstance(node, Block) and self.team(node) is not None)

    def team(self, node: LoopNode) -> str | None:
        """The mark of the blocks that a team of threads divides in ``node``; None where one thread runs it.

        All threads run the serial loops around, too, where these hold nothing else: a team that began in each of their
        iterations would take its memory anew.
        """
        while not (isinstance(node, Block) and node.team):
            if isinstance(node, For) and not (node.parallel or node.reduced or node.pipeline):
                node = node.body
            elif isinstance(node, Block) and len(node.children) == 1 and not node.declares:
                node = node.children[0]
            else:
                return None
        mark = next(
            (name for name, block in self.blocks.items() if node.team and block.tile.team == node.team), None
        )
        loops = [loop for loop in descendants(node) if isinstance(loop, For) and loop.parallel]
        divided = sum(part.statement == mark for loop in loops for part in instances(loop))
        return (
            mark if divided and divided == sum(part.statement == mark for part in instances(node)) else None
        )

    def team_condition(self, mark: str, least: int) -> str:
        """When the block ``mark`` is worth threads: they need its buffers, and more than ``least`` instances.

        Many small matrices may be worth threads, but no copies.
        """
        block = self.blocks[mark]
        buffers = [] if block.tile.around is not None else [part.buffer for part in _buffered(block, True)]
        return " && ".join([*buffers, f"{self.work(block)} > {least}"])

    def block(self, mark: str, arguments: Sequence[Expression], indent: int, *, packed: bool = False) -> None:
        """One block at the coordinates ``arguments``; what it shares with others is packed already when ``packed``."""
        block, place = self.blocks[mark], self._place(mark, arguments)
        tiles = TilePrinter(place, self.types, self.printer, self.text, self._print_plain)
        if not block.tile.packed:
            self.text.add(indent, "{")
            print_bounds(place, (place.row, place.column, place.depth), self.text, indent + 1)
            tiles.write(indent + 1)
            self.text.add(indent, "}")
            return
        missing = [operand for operand in block.operands if not (packed and block.is_shared(operand))]
        self.text.add(indent, f"if ({block.buffers}) {{")
        print_bounds(place, (place.row, place.column, place.depth), self.text, indent + 1)
        print_packing(place, missing, self.text, indent + 1, self.printer.helpers)
        tiles.write(indent + 1)
        self.text.add(indent, "} else {")
        tiles.plain(indent + 1)
        self.text.add(indent, "}")

    def repeated(self, loop: For) -> Instance | None:
        """The block that is all ``loop`` repeats, perhaps in further loops that leave valid what it shares."""
        body, loops = loop.body, 1
        while True:
            if isinstance(body, Block) and len(body.children) == 1 and not body.declares:
                body = body.children[0]
            elif isinstance(body, For) and not body.parallel:
                body, loops = body.body, loops + 1
            else:
                break
        if not isinstance(body, Instance) or body.statement not in self.blocks or body.statement in self.packed:
            return None
        return body if loops <= self.blocks[body.statement].tile.inner else None

    def pack_repeated(self, node: For, indent: int, *, team: bool) -> str:
        """The mark of the block that the loop repeats, if what its iterations share is packed now, before the loop."""
        block = None if node.parallel and not team else self.repeated(node)
        if block is None:
            return ""
        done = self.pack_before(node, block.statement, block.arguments, indent, team=team)
        return block.statement if done else ""

    def pack_before(
        self, loop: For, mark: str, arguments: Sequence[Expression], indent: int, *, team: bool
    ) -> bool:
        """Pack what all blocks in ``loop``, the first that changes none of it, share; False where there is nothing.

        A ``team`` of threads does it together.
        """
        block, place = self.blocks[mark], self._place(mark, arguments)
        shared = [operand for operand in block.operands if block.is_shared(operand)]
        if not shared or any(loop.iterator in names_in(argument) for argument in arguments[: -block.tile.inner]):
            return False
        start, stop = self.printer.bound(loop.start), self.printer.bound(loop.stop)
        # A thread without a buffer of its own must still do its part in what all threads share.
        buffers = " && ".join(operand.buffer for operand in shared) if team else block.buffers
        self.text.add(indent, f"if ({buffers} && {start} < {stop}) {{")
        bounds = (place.depth, place.row if shared[0].is_row else place.column)
        print_bounds(place, bounds, self.text, indent + 1)
        if mark in self.held:
            self._pack_other_panels(place, shared, indent + 1, team=team)
        else:
            print_packing(place, shared, self.text, indent + 1, self.printer.helpers, team=team)
        self.text.add(indent, "}")
        self.packed.add(mark)
        return True

    def _pack_other_panels(
        self, place: BlockPlace[BlockText], shared: Sequence[Operand], indent: int, *, team: bool
    ) -> None:
        """Packing that is left out where the buffers hold the same panels already.

        Threads of a ``team`` agree on that: bounds change only after all have packed, and before any goes on.
        """
        held, bounds = self.held[place.block.tile.mark], bounds_of(place, is_row=shared[0].is_row)
        cells = [f"{held}[{number}]" for number in range(BOUNDS)]
        others = " || ".join(f"{cell} != {bound}" for cell, bound in zip(cells, bounds, strict=True))
        self.text.add(indent, f"if ({others}) {{")
        print_packing(place, shared, self.text, indent + 1, self.printer.helpers, team=team)
        if team:
            self.text.add(indent + 1, "#pragma omp single")
        pairs = zip(cells, bounds, strict=True)
        self.text.add(indent + 1, f"{{ {' '.join(f'{cell} = {bound};' for cell, bound in pairs)} }}")
        self.text.add(indent, "}")

    def _place(self, mark: str, arguments: Sequence[Expression]) -> BlockPlace[BlockText]:
        block = self.blocks[mark]
        block = replace(block, shape=self.even.placed(block, arguments))
        return BlockPlace(self.scop, self.plan, self.arrays, self.printer, block, arguments)

    def _print_plain(self, node: LoopNode, indent: int) -> None:
        self.print_loops(self.even.cut(node), indent)


def _buffered(block: BlockText, shared: bool | None) -> list[Operand]:
    """The packed operands of ``block`` that several blocks share, or those that they do not; all for None."""
    operands = block.operands if block.tile.packed else ()
    return [operand for operand in operands if shared is None or block.is_shared(operand) == shared]


def _widened(
    tile: RegisterTile, types: Mapping[str, ArrayType], environment: Environment, dtype: str
) -> list[str]:
    """What to say where products are formed in the precision of their sum."""
    target = tile.operands.target.array
    if types[target].dtype != dtype or not is_widened(tile, environment, dtype):
        return []
    return [
        f"{tile.statement} multiplies in double precision, in which {target} adds up: its products of single precision "
        "are not rounded first."
    ]


def _slower(tile: RegisterTile, types: Mapping[str, ArrayType], dtype: str) -> list[str]:
    """What to say where vectors cannot be stored in the array that is updated."""
    target = tile.operands.target.array
    if types[target].dtype != dtype:
        return [
            f"{tile.statement} adds up in double precision, which the values that it multiplies have, and rounds each "
            f"tile of {target} to single precision: arguments in single precision, such as np.float32(1.5), are faster."
        ]
    if types[target].layout == "C":
        return []
    return [f"{tile.statement} copies each tile of {target}, which is slower: its rows are not contiguous."]
