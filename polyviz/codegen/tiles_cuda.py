"""Tiles in shared memory as CUDA: copies into them, and what reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import bound_expression
from polyviz.codegen.index import simplified
from polyviz.mapping.gpu_promotion import TILE_PARAMETER
from polyviz.model.device import coordinate
from polyviz.model.expression import (
    Assign,
    Binary,
    Constant,
    Element,
    Expression,
    Instruction,
    Name,
    Node,
    rebuild,
    substitute,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device import DeviceKernel, PromotedArray


@dataclass(frozen=True, slots=True)
class TileText:
    """The tiles of one kernel; ``names`` are those of the shared arrays."""

    kernel: DeviceKernel
    arrays: Mapping[str, PromotedArray]
    names: Mapping[str, str]

    def copy(self, array: str, arguments: Sequence[Expression]) -> Instruction:
        """One cell of ``array`` goes into its tile; ``arguments`` end with the tile and the subscripts."""
        rank = len(self.arrays[array].extents)
        cell, tile = tuple(arguments[-rank:]), arguments[-rank - 1]
        return Assign(self._cell(array, cell, tile), Element(array, cell))

    def reading(self, body: Sequence[Instruction], tile: Expression) -> list[Instruction]:
        """``body`` with the tiles in place of the arrays."""

        def place(node: Node) -> Node:
            if isinstance(node, Element) and node.array in self.arrays:
                return self._cell(node.array, node.subscripts, tile)
            return rebuild(node, place)

        changed = [place(instruction) for instruction in body]
        return [one for one in changed if isinstance(one, Instruction)]

    def _cell(self, array: str, cell: Sequence[Expression], tile: Expression) -> Element:
        values: dict[str, Expression] = {TILE_PARAMETER: tile}
        for point in self.kernel.points:
            block, thread = (
                Name(coordinate(*one)) for one in (("block", point.block), ("thread", point.thread))
            )
            values[point.parameter] = Binary("+", Binary("*", Constant(point.size), block), thread)
        places = []
        for subscript, lower in zip(cell, self.arrays[array].lower, strict=True):
            place = substitute(Binary("-", subscript, bound_expression(lower)), values)
            assert isinstance(place, Expression)
            places.append(simplified(place))
        return Element(self.names[array], tuple(places))
