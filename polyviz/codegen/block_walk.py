"""What printers of blocks have in common: plain loops over a part of a block, and the steps that a tile shares."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Generic

from polyviz.codegen.block_place import Shaped
from polyviz.codegen.index import simplified
from polyviz.codegen.naming import name_loops, substituted
from polyviz.codegen.plain_block import Limit, limit_name, plain_loops
from polyviz.model.expression import Binary, Call, Constant, Expression, Name, Unary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.codegen.block_place import BlockPlace
    from polyviz.codegen.loops import LoopNode


class BlockWalk(Generic[Shaped]):
    """One block at its ``place``; ``print_loops`` prints loop IR at an indentation."""

    def __init__(self, place: BlockPlace[Shaped], print_loops: Callable[[LoopNode, int], None]) -> None:
        self.place = place
        self.block = place.block
        self.print_loops = print_loops

    def plain(self, indent: int, limits: Sequence[Limit] = ()) -> None:
        """Ordinary loops over the block, within ``limits``."""
        place, statement = self.place, self.block.statement
        roles = {"row": place.row, "column": place.column, "depth": place.depth}
        bounds = {
            limit.bound: Name(f"{roles[limit.bound.split('_')[0]]}_{limit.bound.split('_')[1]}")
            for limit in limits
        }
        values = {**place.coordinates, **{limit_name(bound): name for bound, name in bounds.items()}}
        loops = substituted(plain_loops(self.block.tile, self.block.shape.domain, limits), values)
        taken = place.taken | {name.name for name in bounds.values()}
        self.print_loops(name_loops(loops, {statement.name: statement.iterators}, taken), indent)

    def inside(self) -> list[Limit]:
        """Limits to the rows and columns of one tile."""
        tile = self.block.tile
        return [
            Limit(position, f"{role}_{bound}", least=bound == "first")
            for role, position in (("row", tile.row), ("column", tile.column))
            for bound in ("first", "last")
        ]

    def shared_steps(self, *, best: bool = False) -> tuple[Expression, Expression]:
        """From where and up to where the sum runs for every cell of the tile, or for the ``best`` of them; the first is
        never after the second."""
        name = self.block.statement.iterators[self.block.tile.depth]
        depth = self.place.depth
        lower: list[Expression] = [Name(f"{depth}_start")]
        upper: list[Expression] = [Name(f"{depth}_stop")]
        for cut in self.block.shape.cuts:
            rest = {other: value for other, value in cut.items() if other != name}
            corner = self.place.corner_expression(rest, best=best)
            (lower if cut[name] > 0 else upper).append(first_or_end(corner, cut[name]))
        start = Call("min", (combined("max", lower), Name(f"{depth}_stop"))) if lower[1:] else lower[0]
        stop = combined("min", upper)
        return start, Call("max", (stop, Name(f"{depth}_first")))


def first_or_end(rest: Expression, factor: int) -> Expression:
    """From ``factor * k + rest >= 0``: the first ``k`` (positive factor), or the one after the last."""
    if factor > 0:
        return simplified(Unary("-", rest if factor == 1 else Binary("//", rest, Constant(factor))))
    quotient = rest if factor == -1 else Binary("//", rest, Constant(-factor))
    return simplified(Binary("+", quotient, Constant(1)))


def combined(function: str, bounds: Sequence[Expression]) -> Expression:
    """``function`` (``min`` or ``max``) of ``bounds``, taken two at a time."""
    return reduce(lambda left, right: Call(function, (left, right)), bounds)
