"""Blocks of register tiles in numba: their functions, their buffers, and where they are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.block_functions_numba import BlockFunctions
from polyviz.codegen.block_place import BlockPlace, names_in
from polyviz.codegen.block_shape import COORDINATE_PREFIX
from polyviz.codegen.block_text_numba import numba_block, too_large
from polyviz.codegen.dtypes import numpy_name
from polyviz.codegen.loops import Block, For, Instance, children_of, instances
from polyviz.codegen.loops_python import words
from polyviz.codegen.register_tiles import refusal
from polyviz.codegen.text import TextBuilder
from polyviz.codegen.typing import Environment
from polyviz.model.expression import Binary, Constant, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from polyviz.codegen.block_text_numba import NumbaBlock
    from polyviz.codegen.expressions_python import PythonExpressionPrinter
    from polyviz.codegen.identifiers import Identifiers
    from polyviz.codegen.loops import LoopNode
    from polyviz.model.expression import Expression
    from polyviz.model.plan import Plan, RegisterTile
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of the whole program, for places in it."""

    taken: frozenset[str]

    def enter(self, statement: Statement) -> None:
        """Nothing depends on the statement here."""


class NumbaBlocks:
    """Prints the blocks of a plan's register tiles; ``blocks`` holds those that the types allow, by mark.

    ``notes`` says why others, those of the statements ``refused``, are left out. ``print_loops`` prints loop IR into a
    text, ``index`` wraps a subscript.
    """

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Mapping[str, ArrayType],
        dtypes: Mapping[str, str],
        identifiers: Identifiers,
        printer: PythonExpressionPrinter,
    ) -> None:
        self.scop = scop
        self.plan = plan
        self.identifiers = identifiers
        self.printer = printer
        self.notes: list[str] = []
        self.refused: list[str] = []
        self.blocks: dict[str, NumbaBlock] = {}
        self.own: frozenset[str] = frozenset()
        for tile in plan.register_tiles:
            reason = _refused(tile, types, Environment(dict(dtypes)))
            if reason is None:
                dtype = types[tile.operands.target.array].dtype
                self.blocks[tile.mark] = numba_block(scop, tile, dtype, identifiers)
            else:
                self.refused.append(tile.statement)
                self.notes.append(f"{tile.statement} runs without tiles in registers: {reason}.")

    def functions(
        self,
        decorator: str,
        names: Sequence[str],
        index: Callable[[str], str],
        print_loops: Callable[[TextBuilder, LoopNode, int], None],
    ) -> TextBuilder:
        """The functions that stand before the kernel; ``names`` are the identifiers that they may ask for."""
        whole = TextBuilder()
        self.parameters: dict[str, list[str]] = {}
        for block in self.blocks.values():
            for name in (block.pack, block.update) if block.buffers else (block.update,):
                text = TextBuilder()
                place = self._place(block, [Name(one) for one in block.coordinates])

                def printed(node: LoopNode, indent: int, text: TextBuilder = text) -> None:
                    print_loops(text, node, indent)

                functions = BlockFunctions(place, self.printer, index, text, printed)
                functions.pack() if name == block.pack else functions.update()
                buffers = [buffer for buffer, _ in block.buffers]
                used = words(text.text())
                known = [*names, *buffers, *block.coordinates, block.panel]
                self.parameters[name] = [one for one in dict.fromkeys(known) if one in used]
                whole.add(0, decorator)
                whole.add(0, f"def {name}({', '.join(self.parameters[name])}):")
                whole.add(1, f'"""{block.titles[name]}"""')
                shift = len(whole.lines)
                whole.lines += [*text.lines, "", ""]
                whole.origins.update({line + shift: origin for line, origin in text.origins.items()})
        return whole

    def find_own(self, loops: LoopNode, is_divided: Callable[[For], bool]) -> None:
        """Which blocks need a buffer per thread: those that threads pack, and not all threads together."""
        self.own = frozenset(self._packed_by_threads(loops, is_divided, inside=False))

    def allocate(self, text: TextBuilder, indent: int) -> None:
        """The buffers of packed columns, for every thread where each packs its own."""
        for mark, block in self.blocks.items():
            threads = "numba.get_num_threads()" if mark in self.own else "1"
            shape = f"({threads}, {block.panels}, {block.depth}, {block.width})"
            for name, _ in block.buffers:
                text.add(indent, f"{name} = np.empty({shape}, dtype=np.{numpy_name(block.dtype)})")

    def pack_before(self, loop: For) -> Instance | None:
        """The block that is all of the body of ``loop``, where one copy of its columns serves all iterations."""
        body = loop.body
        while isinstance(body, Block) and len(body.children) == 1 and not body.declares:
            body = body.children[0]
        block = self.blocks.get(body.statement) if isinstance(body, Instance) else None
        if block is None or not block.tile.shared_columns or not block.buffers:
            return None
        assert isinstance(body, Instance)
        moving = any(loop.iterator in names_in(argument) for argument in body.arguments[:-1])
        return None if moving else body

    def is_slanted(self, loop: For) -> bool:
        """Whether blocks in ``loop`` are of a triangle, and fill more or less of their boxes as it moves on."""
        for instance in instances(loop.body):
            block = self.blocks.get(instance.statement)
            moved = {
                f"{COORDINATE_PREFIX}{number}"
                for number, argument in enumerate(instance.arguments)
                if loop.iterator in names_in(argument)
            }
            if block is not None and _is_slanted(block, moved):
                return True
        return False

    def pack(self, text: TextBuilder, instance: Instance, indent: int, *, inside: bool, team: bool) -> None:
        """Pack all panels for one block, or for all blocks that differ in the last coordinate only."""
        block = self.blocks[instance.statement]
        if not block.buffers:
            return
        counter = self.identifiers.derived(f"{block.panel}_number") if team else block.panel
        called = "numba.prange" if team else "range"
        text.add(indent, f"for {counter} in {called}({self._panels(block, instance.arguments)}):")
        if team:
            text.add(indent + 1, f"{block.panel} = np.int64({counter})")
        text.add(indent + 1, self._call(block.pack, block, instance.arguments, inside=inside))

    def update(self, text: TextBuilder, instance: Instance, indent: int, *, inside: bool) -> None:
        """One block whose columns are packed."""
        block = self.blocks[instance.statement]
        text.add(indent, self._call(block.update, block, instance.arguments, inside=inside), block.statement)

    def _call(
        self, function: str, block: NumbaBlock, arguments: Sequence[Expression], *, inside: bool
    ) -> str:
        values = dict(zip(block.coordinates, map(self.printer.expression, arguments), strict=True))
        thread = "numba.get_thread_id()" if inside and block.tile.mark in self.own else "0"
        values |= {name: f"{name}[{thread}]" for name, _ in block.buffers}
        return f"{function}({', '.join(values.get(name, name) for name in self.parameters[function])})"

    def _panels(self, block: NumbaBlock, arguments: Sequence[Expression]) -> str:
        """How many panels the block at ``arguments`` has; none where that is negative."""
        place, columns = self._place(block, arguments), block.shape.column
        start, stop = place.expression(columns.start), place.expression(columns.stop)
        length = stop if start == Constant(0) else Binary("-", stop, start)
        rounded = Binary("+", length, Constant(block.width - 1))
        return self.printer.expression(Binary("//", rounded, Constant(block.width)))

    def _place(self, block: NumbaBlock, arguments: Sequence[Expression]) -> BlockPlace[NumbaBlock]:
        names = _Names(self.identifiers.taken)
        return BlockPlace(self.scop, self.plan, names, self.printer, block, arguments)

    def _packed_by_threads(
        self, node: LoopNode, is_divided: Callable[[For], bool], *, inside: bool
    ) -> Iterator[str]:
        """The marks of blocks that are packed inside a loop that threads divide."""
        if isinstance(node, Instance) and inside and node.statement in self.blocks:
            yield node.statement
        if not isinstance(node, For):
            for child in children_of(node):
                yield from self._packed_by_threads(child, is_divided, inside=inside)
            return
        if self.pack_before(node) is not None:
            yield from (one.statement for one in instances(node) if inside)
            return
        yield from self._packed_by_threads(node.body, is_divided, inside=inside or is_divided(node))


def _is_slanted(block: NumbaBlock, coordinates: set[str]) -> bool:
    """Whether blocks that differ in ``coordinates`` hold parts of their boxes of different sizes."""
    shape, tile, names = block.shape, block.tile, block.statement.iterators
    ranges = ((tile.row, shape.row), (tile.column, shape.column), (tile.depth, shape.depth))
    moved = coordinates | {
        names[position]
        for position, found in ranges
        if not coordinates.isdisjoint(names_in(found.start) | names_in(found.stop))
    }
    return any(not moved.isdisjoint(terms) for terms in (*shape.masks, *shape.cuts))


def _refused(tile: RegisterTile, types: Mapping[str, ArrayType], environment: Environment) -> str | None:
    """Why ``tile`` cannot run as a block here; None when it can."""
    target = tile.operands.target.array
    reason = refusal(tile, types, environment, types[target].dtype) or too_large(tile)
    if reason is None and types[target].layout != "C":
        return f"{target} is not contiguous along its rows"
    return reason
