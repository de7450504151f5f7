"""Packed panels that outlast one product of matrices: the loops around it meet the same ones in every iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.block_place import names_in
from polyviz.mapping.roles import LOOPS, arrays_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.codegen.block_place import BlockPlace
    from polyviz.codegen.block_text import BlockText
    from polyviz.model.scop import Scop

BOUNDS = 4
"""Where steps begin and end, and where rows or columns do."""


def outlasts(scop: Scop, block: BlockText) -> bool:
    """Whether what all blocks of a product share depends on nothing but the bounds of its panels, and some loop around
    the product comes to them again."""
    tile, names = block.tile, block.statement.iterators
    shared = [operand for operand in block.operands if tile.packed and block.is_shared(operand)]
    if not shared or tile.around is not None or len(tile.coordinates) == LOOPS:
        return False
    guards = {block.shape.row_guard if operand.is_row else block.shape.column_guard for operand in shared}
    moved = {tile.depth, *(tile.row if operand.is_row else tile.column for operand in shared)}
    changing = {name for position, name in enumerate(names) if position not in moved}
    changing |= {
        access.array for statement in scop.statements for access in statement.accesses if access.kind == "write"
    }
    used = set[str]().union(*(names_in(one.value) | arrays_of(one.value) for one in shared))
    return guards == {None} and not used & changing


def bounds_of(place: BlockPlace[BlockText], *, is_row: bool) -> Sequence[str]:
    """The variables that tell which panels are packed, as many as ``BOUNDS``."""
    names = (place.depth, place.row if is_row else place.column)
    return [f"{name}_{end}" for name in names for end in ("start", "stop")]
