"""What a nest of held tiles is, and whether vectors can compute it.

Such a nest is a loop over columns of cells, perhaps in one over rows of them, around the loops of a sum with one update
in it. A tile of cells can stay in vector registers through the whole sum where each operand is the same element for all
columns, or has the next element for the next column, or the one after that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body, private_name
from polyviz.codegen.loops import For, Instance
from polyviz.codegen.row_blocks import (
    VECTOR_DTYPES,
    Types,
    elements_of,
    is_along,
    is_plain,
    is_vector,
    only,
    written_out,
)
from polyviz.model.expression import Assign, Constant, Element, Expression, Name, rebuild, walk
from polyviz.model.linear import linear_terms, written
from polyviz.model.plan import LONGEST_WINDOW
from polyviz.model.program import ArrayType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.codegen.loops import LoopNode
    from polyviz.model.expression import Instruction, Node
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop, Statement

WINDOW_ROWS = 4
"""Rows of a window in one tile."""
MANY_REGISTERS = 32
"""Vector registers from which on there are larger tiles."""


@dataclass(frozen=True, slots=True)
class HeldNest:
    """The loops ``rows`` (None for none), ``columns`` and ``depth``, outermost first, around one ``instance``."""

    rows: For | None
    columns: For
    depth: tuple[For, ...]
    instance: Instance

    @property
    def bounds(self) -> tuple[Expression, ...]:
        """The bounds of all its loops."""
        loops = (*((self.rows,) if self.rows else ()), self.columns, *self.depth)
        return tuple(bound for loop in loops for bound in (loop.start, loop.stop))

    @property
    def along_memory(self) -> LoopNode:
        """The same nest with a vector loop over columns innermost."""
        node: LoopNode = replace(self.columns, body=self.instance, held="", vector=True)
        for loop in reversed(self.depth):
            node = replace(loop, body=node)
        return node if self.rows is None else replace(self.rows, body=node, held="")


@dataclass(frozen=True, slots=True)
class HeldTiles:
    """A nest whose ``update``, of ``statement``, vectors of ``dtype`` compute.

    What is read along memory is the same for all rows, or, with a ``window``, for all rows and steps of this loop of
    the sum that are as far apart; without either, rows run one by one.
    """

    nest: HeldNest
    statement: Statement
    update: Assign
    dtype: str
    shares: bool = False
    window: For | None = None


@dataclass(frozen=True, slots=True)
class TileWidth:
    """Tiles of so many ``vectors`` per row run where at least so many columns are left: the last of these tiles may
    lie over cells that are done already."""

    vectors: int
    least: int


def held_nest(loop: For) -> HeldNest | None:
    """``loop`` as the outermost one of held tiles, where it is one of a rectangle of cells with the same sums."""
    rows = loop if loop.held == "rows" else None
    columns = only(loop.body) if rows else loop
    if not isinstance(columns, For) or columns.held != "columns" or columns.step != 1:
        return None
    depth = list(_loops_in(only(columns.body)))
    instance = only(depth[-1].body) if depth else None
    if not isinstance(instance, Instance) or (rows is not None and rows.step != 1):
        return None
    cells = {columns.iterator} | ({rows.iterator} if rows else set())
    nest = HeldNest(rows, columns, tuple(depth), instance)
    mentioned = {part.name for bound in nest.bounds for part in walk(bound) if isinstance(part, Name)}
    return None if mentioned & cells else nest


def _loops_in(node: LoopNode) -> Iterator[For]:
    while isinstance(node, For):
        yield node
        node = only(node.body)


def held_tiles(
    scop: Scop, nest: HeldNest, bodies: Mapping[str, Sequence[Instruction]], types: Types
) -> HeldTiles | str:
    """``nest`` with an update that vectors compute; else, why there is none."""
    statement = scop.statement(nest.instance.statement)
    body = placed_body(statement, bodies[statement.name], nest.instance.arguments)
    if len(body) != 1 or not isinstance(body[0], Assign):
        return f"{statement.name} is more than one assignment"
    update = written_out(body[0])
    target, column = update.target, nest.columns.iterator
    known = types.arrays.get(target.array)
    dtype = known.dtype if known is not None else ""
    if dtype not in VECTOR_DTYPES:
        return f"{target.array} does not hold {' or '.join(VECTOR_DTYPES)}"
    if not (is_along(target, column) and is_plain(target, types)):
        return f"the cells of {target.array} do not lie side by side in memory"
    moving = {part.name for part in walk(target) if isinstance(part, Name)}
    if moving & {loop.iterator for loop in nest.depth} or any(
        one.array == target.array and one != target for one in elements_of(update.value)
    ):
        return f"the sums read other cells of {target.array}"
    if not is_vector(_side_by_side(update.value, column), dtype, column, types):
        return f"not all that {statement.name} computes are {dtype} values side by side in memory"
    along = [one for one in elements_of(update.value) if one != target and stride(one, column)]
    found = HeldTiles(nest, statement, update, dtype)
    if nest.rows is None:
        return found
    if not any(any(_factors(one, nest.rows.iterator)) for one in along):
        return replace(found, shares=True)
    return replace(found, window=_window(nest, nest.rows, along))


def _factors(element: Element, iterator: str) -> list[int]:
    """How the subscripts of ``element``, which are linear, move along ``iterator``."""
    return [(linear_terms(subscript) or {}).get(iterator, 0) for subscript in element.subscripts]


def _window(nest: HeldNest, rows: For, along: Sequence[Element]) -> For | None:
    """The short loop of the sum that moves all that is read ``along`` memory as ``rows`` do."""
    for place, loop in enumerate(nest.depth):
        alike = all(_factors(one, loop.iterator) == _factors(one, rows.iterator) for one in along)
        inner = [bound for other in nest.depth[place + 1 :] for bound in (other.start, other.stop)]
        fixed = not any(part == Name(loop.iterator) for bound in inner for part in walk(bound))
        if alike and fixed and loop.step == 1 and 0 < steps(loop) <= LONGEST_WINDOW:
            return loop
    return None


def steps(loop: For) -> int:
    """How many iterations ``loop`` has, where its bounds are numbers; else 0.

    >>> from polyviz.codegen.loops import Block
    >>> from polyviz.model.expression import Constant
    >>> steps(For("p", Constant(0), Constant(5), 1, Block(())))
    5
    """
    match loop.start, loop.stop:
        case Constant(int(start)), Constant(int(stop)):
            return stop - start
    return 0


def stride(element: Element, column: str) -> int:
    """How many elements the next column is further along memory: one or two, else 0.

    >>> from polyviz.model.expression import Binary, Constant
    >>> stride(Element("x", (Binary("+", Binary("*", Constant(2), Name("j")), Name("q")),)), "j")
    2
    """
    factors = _factors(element, column)
    return factors[-1] if factors and factors[-1] in (1, 2) and not any(factors[:-1]) else 0


def _side_by_side(value: Expression, column: str) -> Expression:
    """``value`` as if elements two places apart were neighbours."""

    def place(part: Node) -> Node:
        if isinstance(part, Element) and stride(part, column) == 2:
            terms = {**(linear_terms(part.subscripts[-1]) or {}), column: 1}
            return replace(part, subscripts=(*part.subscripts[:-1], written(terms)))
        return part if isinstance(part, Element) else rebuild(part, place)

    placed = place(value)
    assert isinstance(placed, Expression)
    return placed


def with_copies(scop: Scop, plan: Plan, types: Types) -> Types:
    """``types`` with the temporaries that became arrays of their own, one cell per iteration, side by side."""
    expanded = {one.array: one for one in plan.expansions if not one.window}
    copies = {
        private_name(scop, name): ArrayType(types.arrays[name].dtype, len(one.extents))
        for name, one in expanded.items()
    }
    return Types({**types.arrays, **copies}, types.private - expanded.keys())


def tile_shapes(
    lanes: int, registers: int, *, rows: bool, window: bool = False
) -> tuple[tuple[int, tuple[TileWidth, ...]], ...]:
    """The heights of tiles in ``rows``, or in a single one, each with its widths, widest first.

    Tiles are so large that their sums, one vector of each operand in a row, and one value fit into the registers; a
    sum waits for its last term four times as long as its arithmetic takes, so that narrow tiles of few rows are for
    ends only. Rows of a window have less to share, and a text for each of them. Few columns that are left over are
    done a vector at a time where that has enough sums of its own.
    """
    several = registers >= MANY_REGISTERS
    single = (1, _covering(lanes, (8, 4, 2, 1) if several else (4, 2, 1)))
    if window:
        return ((WINDOW_ROWS, _covering(lanes, (2, 1))), single)
    if not rows:
        return (single,)
    tall, wide = (8, 3) if several else (6, 2)
    return (
        (tall, (TileWidth(wide, wide * lanes), TileWidth(1, 1))),
        (tall // 2, _covering(lanes, (4, 1) if several else (2, 1))),
        single,
    )


def fitting_shapes(
    shapes: Sequence[tuple[int, Sequence[TileWidth]]], nest: HeldNest, lanes: int
) -> list[tuple[int, list[TileWidth]]]:
    """Those of ``shapes`` that a nest has room for, as far as the lengths of its loops are known."""
    rows, columns = (_length(loop) if loop else None for loop in (nest.rows, nest.columns))
    return [
        (height, wide)
        for height, widths in shapes
        if rows is None or height <= rows
        if (wide := [one for one in widths if columns is None or one.vectors * lanes <= columns])
    ]


def _length(loop: For) -> int | None:
    match loop.start, loop.stop:
        case Constant(int(start)), Constant(int(stop)):
            return stop - start
    return None


def _covering(lanes: int, vectors: Sequence[int]) -> tuple[TileWidth, ...]:
    """Tiles so wide that the next smaller one would not hold what is left."""
    return tuple(
        TileWidth(count, smaller * lanes + 1) for count, smaller in zip(vectors, (*vectors[1:], 0), strict=True)
    )
