"""Loops over the blocks of a product that go through parts of equal size, in C.

    const int64_t i_parts = even_parts(n, 8, 64, omp_get_num_threads());
    #pragma omp for schedule(dynamic)
    for (int64_t i_part = 0; i_part < i_parts; i_part++) {
        const int64_t i_tile = part_start(n, 8, i_part, i_parts);
        const int64_t i_tile_end = part_start(n, 8, i_part + 1, i_parts);

Blocks of a constant size leave one thread with half a block more than the others in every step of the sum, and a sum of
600 steps with one of 512 and one of 88: cells are loaded and stored once for each. Blocks are smaller here, and about
equal: of rows there are as many for each thread, and they consist of whole register tiles.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import names_in
from polyviz.codegen.block_shape import COORDINATE_PREFIX, Range
from polyviz.codegen.even_strips_c import bound_parts, with_end
from polyviz.codegen.index import simplified
from polyviz.codegen.loops import For, Parts, instances, rewrite
from polyviz.model.expression import Binary, Constant, Name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.block_shape import BlockShape
    from polyviz.codegen.block_text import BlockText
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression

_STEPS = 4
"""Steps of a sum that are written out in a row: parts are multiples of these."""


class EvenBlockPrinter:
    """Divides the loops over blocks evenly; ``used`` tells whether any asks for the number of threads."""

    def __init__(self, arrays: ArrayPrinter, printer: CExpressionPrinter, text: TextBuilder) -> None:
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.used = False
        self._loops: dict[str, For] = {}
        self._counts: Counter[str] = Counter()

    def divided(self, loop: For, blocks: Mapping[str, BlockText], indent: int, *, team: bool) -> For:
        """``loop`` in parts that are counted here; as it is where its blocks are others than whole stretches of it, or
        where threads share it that are no ``team``."""
        unit = 0 if loop.parallel and not team else _unit(loop, blocks)
        if not unit:
            return loop
        short = loop.iterator.removesuffix("_tile")
        self._counts[short] += 1
        again = self._counts[short] if self._counts[short] > 1 else ""
        added = self.arrays.added
        parts = Parts(added(f"{short}_parts{again}"), added(f"{short}_part"), added(f"{loop.iterator}_end"), unit)
        self.used = self.used or bool(loop.parallel)
        self.printer.helpers.update(("even_parts", "part_start"))
        threads = "omp_get_num_threads()" if loop.parallel else "1"
        count = f"even_parts({self._length(loop)}, {unit}, {loop.step}, {threads})"
        self.text.add(indent, f"const int64_t {parts.count} = {count};")
        self._loops[loop.iterator] = loop = replace(loop, parts=parts)
        return loop

    def left(self, loop: For) -> None:
        """``loop`` is printed: what follows is in none of its parts."""
        self._loops.pop(loop.iterator, None)

    def header(self, loop: For) -> str:
        """What stands in the parentheses of ``loop``."""
        if loop.parts is not None:
            number = loop.parts.number
            return f"int64_t {number} = 0; {number} < {loop.parts.count}; {number}++"
        name, start = loop.iterator, self.printer.expression(loop.start)
        advance = "++" if loop.step == 1 else f" += {loop.width or loop.step}"
        return f"int64_t {name} = {start}; {name} < {self.printer.bound(loop.stop)}; {name}{advance}"

    def lines(self, loop: For) -> list[str]:
        """What stands at the top of the body of ``loop``: where its part begins and ends."""
        parts = loop.parts
        if parts is None:
            return []
        before = "" if loop.start == Constant(0) else f"{self.printer.value(loop.start).within(12)} + "
        places = [
            f"{before}part_start({self._length(loop)}, {parts.unit}, {number}, {parts.count})"
            for number in (parts.number, f"{parts.number} + 1")
        ]
        return [
            f"const int64_t {name} = {place};" for name, place in zip((loop.iterator, parts.end), places, strict=True)
        ]

    def placed(self, block: BlockText, arguments: Sequence[Expression]) -> BlockShape:
        """The shape of ``block`` at the coordinates ``arguments``, with the ends of the parts that it is in."""
        shape = block.shape
        ranges = {"row": shape.row, "column": shape.column, "depth": shape.depth}
        for coordinate, argument in enumerate(arguments):
            loop = self._loops.get(argument.name) if isinstance(argument, Name) else None
            if loop is None or loop.parts is None:
                continue
            role = _role(block, coordinate, loop)
            assert role, f"{loop.iterator} was divided for other blocks"
            ranges[role] = Range(ranges[role].start, Name(loop.parts.end))
        return replace(shape, row=ranges["row"], column=ranges["column"], depth=ranges["depth"])

    def cut(self, node: LoopNode) -> LoopNode:
        """Plain loops over a block, with the ends of the parts that it is in."""
        for loop in self._loops.values():
            assert loop.parts is not None
            found = with_end(node, loop, Name(loop.parts.end))
            assert found is not None, f"loops of {loop.iterator} have other bounds than their block"
            node = rewrite(found, partial(_with_known_end, loop))
        return node

    def _length(self, loop: For) -> str:
        return self.printer.expression(simplified(Binary("-", loop.stop, loop.start)))


def _unit(loop: For, blocks: Mapping[str, BlockText]) -> int:
    """What the parts of ``loop`` have to be multiples of; 0 where it may not be divided otherwise.

    That takes one block in it, whose rows, columns or steps are those from the coordinate that ``loop`` counts on up to
    the next one or to the last of all.
    """
    inside = list(instances(loop))
    block = blocks.get(inside[0].statement) if len(inside) == 1 else None
    if block is None or not (block.tile.even and block.tile.packed):
        return 0
    coordinates = [
        number for number, argument in enumerate(inside[0].arguments) if loop.iterator in names_in(argument)
    ]
    role = _role(block, coordinates[0], loop) if len(coordinates) == 1 else ""
    units = {"row": block.size.rows, "column": block.size.columns, "depth": _STEPS}
    return units[role] if role and loop.step % units[role] == 0 else 0


def _role(block: BlockText, coordinate: int, loop: For) -> str:
    """Whether ``loop`` goes through the rows, the columns or the steps of blocks, which depend on its coordinate in
    nothing else and are tied to nothing else in the block; empty for none of them."""
    shape = block.shape
    name = Name(f"{COORDINATE_PREFIX}{coordinate}")
    whole = (Binary("+", name, Constant(loop.step)), loop.stop)
    ranges = {role: getattr(shape, role) for role in ("row", "column", "depth")}
    own = [
        role
        for role, bounds in ranges.items()
        if bounds.start == name and sorted(map(repr, bound_parts(bounds.stop, "min"))) == sorted(map(repr, whole))
    ]
    others = [*(bounds for role, bounds in ranges.items() if role not in own), shape.around]
    said = [bound for bounds in others if bounds is not None for bound in (bounds.start, bounds.stop)]
    said += [*shape.outer.values(), *(guard for guard in (shape.row_guard, shape.column_guard) if guard is not None)]
    if len(own) != 1 or any(name.name in names_in(expression) for expression in said):
        return ""
    counted = {name.name, block.statement.iterators[getattr(block.tile, own[0])]}
    return own[0] if all(counted.isdisjoint(terms) for terms in (*shape.masks, *shape.cuts)) else ""


def _with_known_end(parted: For, node: LoopNode) -> LoopNode:
    """``node`` up to where a part of the loop ``parted`` ends, which is nowhere behind the end of that loop."""
    assert parted.parts is not None
    end = Name(parted.parts.end)
    is_part = isinstance(node, For) and set(bound_parts(node.stop, "min")) == {end, parted.stop}
    return replace(node, stop=end) if isinstance(node, For) and is_part else node
