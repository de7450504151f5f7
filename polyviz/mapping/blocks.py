"""Blocks of a product: the order of the loops over them, their sizes, and how threads come to share them.

Packed operands follow the levels of Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication", 2008):
a panel of rows stays in the first cache, a block of rows in the second, and a wide block of columns in the cache that
cores share. Each value of it is packed once, however many blocks of rows read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.analysis import BandProperties
    from polyviz.mapping.roles import Roles
    from polyviz.model.processor import Processor

_DOUBLE = 8
_PANEL = 48
"""Columns that are whole panels for vectors of every length, in single and in double precision."""
_PANEL_ROWS = 8
"""Rows or columns of the panel that stays in the first cache, while those of the other operand go by."""
_LONGEST_SUM = 512
"""Steps between loading the cells of a tile and storing them: more of them cost less, but fill the caches."""
_LONGEST_EVEN_SUM = 768
"""The same where sums are divided into equal parts, of which none is short."""
_LONGEST_RAGGED_SUM = 384
"""The same where cells differ in their steps: what is packed is a box, part of which no cell reads."""
_FEWEST_ROWS = 48
"""Rows of a block in the second cache: panels of columns come from farther away, once for each block of rows."""
_PARALLEL_BLOCK = 120
"""The extent of a block in the loop that threads share: small enough to balance a few hundred iterations."""
_PARALLEL_COLUMNS = 144
"""The same of columns that meet shared rows: whole panels in single and in double precision (48 and 24, or 16 and 8),
since a tile at an edge is copied, and there is one in each row of tiles."""
_SHORT_TILE = 4
"""Rows of a tile of the target numba: blocks are whole ones of these, too."""
_FEWEST_PARALLEL_ROWS = 32
_SHARED_ROWS = 768
"""Rows of a matrix of which every core is to find two blocks, as long as these do not get too low."""
_LOWEST_BLOCK = 24
_REUSE_OF_COLUMNS = 8
"""Threads wait for each other after each step of the sum, so blocks are as low as the cache allows from which their
columns come. A core that multiplies two vectors per cycle takes 16 * lanes / rows bytes of columns in one: with eight
times as many rows as a vector has lanes those are two, which the third cache delivers."""
_LARGEST_BLOCK = 240
_MATRICES = 8
"""Matrices of columns packed at once, where several meet the same rows: rows are packed again for each such group."""
_WIDEST_BLOCK = 2304
"""Columns packed at once: rows are packed again for each such block, so few matrices should need a second one. The same
holds of rows where threads share these."""

SMALLEST_SHARED_WORK = 2_000_000
"""Updates of packed tiles below which one thread does them all: some 40 microseconds, as long as it takes to wake
another thread that sleeps. A product of two matrices has as many from 126 rows on."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """``order`` of the tile loops (members of the band), ``sizes`` per member, the position in ``order`` of the loop
    whose blocks run on different threads, and whether these are a team that packs together what all blocks read."""

    order: tuple[int, ...]
    sizes: tuple[int, ...]
    parallel: int | None
    team: bool


def choose_blocks(
    found: BandProperties,
    roles: Roles,
    processor: Processor,
    *,
    pack: bool,
    ragged: bool,
    even: bool,
    may_be_parallel: bool,
    share_rows: bool,
    tile_rows: int,
    sizes: Sequence[int] | None = None,
) -> Blocks:
    """The blocks of a nest with these ``roles``; ``sizes`` per member are the user's. ``ragged``: cells differ in the
    steps of their sums. ``even``: these sizes are bounds for equal blocks, which are chosen at run time. Blocks of rows
    are whole tiles of ``tile_rows``: one at an edge travels through a buffer.

    Packed columns are shared where the rows are parallel, or where one thread does all; else each thread has blocks of
    columns of its own, all of which meet the same packed rows where the threads can ``share_rows``.
    """
    tile_rows = lcm(tile_rows, _SHORT_TILE)
    if roles.matrices:
        return _blocks_of_several(
            found, roles, processor, roles.matrices, tile_rows, may_be_parallel=may_be_parallel, sizes=sizes
        )
    parallel = _parallel_member(found, roles) if may_be_parallel else None
    shared = pack and parallel in (roles.row, None)
    wide_rows = share_rows and parallel == roles.column
    order = (roles.column, roles.depth, roles.row) if shared else _order_apart(roles, parallel)
    if wide_rows:
        order = (roles.row, roles.depth, roles.column)
    longest = _LONGEST_EVEN_SUM if even else _LONGEST_RAGGED_SUM if ragged else _LONGEST_SUM
    own = _sizes(roles, processor, parallel, longest, tile_rows, pack=pack, shared=shared, even=even)
    if wide_rows:
        own[roles.row] = _widest(processor, own[roles.depth], even=even)
        own[roles.column] = _PARALLEL_COLUMNS
    chosen = tuple(sizes) if sizes else tuple(own[member] for member in sorted(own))
    position = None if parallel is None else order.index(parallel)
    return Blocks(order, chosen, position, wide_rows or (shared and parallel is not None))


def _blocks_of_several(
    found: BandProperties,
    roles: Roles,
    processor: Processor,
    matrices: tuple[int, int],
    tile_rows: int,
    *,
    may_be_parallel: bool,
    sizes: Sequence[int] | None,
) -> Blocks:
    """Several matrices of columns packed at once, each of which meets one matrix of rows after the other."""
    below, beside = matrices
    parallel = below if may_be_parallel and found.members[below].coincident else None
    chosen = _sizes(roles, processor, None, _LONGEST_SUM, tile_rows, pack=True, shared=True)
    chosen[roles.row] = min(chosen[roles.row], _parallel_rows(processor, tile_rows))
    chosen[roles.column] = _rounded(chosen[roles.column] // _MATRICES, _PANEL, _WIDEST_BLOCK)
    chosen[beside] = _MATRICES
    if sizes:
        chosen = dict(enumerate(sizes))
    chosen[below] = 1
    order = (beside, roles.column, roles.depth, below, roles.row)
    position = None if parallel is None else order.index(below)
    return Blocks(
        order, tuple(chosen[member] for member in range(len(order))), position, parallel is not None
    )


def _parallel_member(found: BandProperties, roles: Roles) -> int | None:
    coincident = [member for member in (roles.row, roles.column) if found.members[member].coincident]
    return coincident[0] if coincident else None


def _order_apart(roles: Roles, parallel: int | None) -> tuple[int, ...]:
    """The parallel loop outermost, then the sum."""
    first = roles.row if parallel is None else parallel
    last = roles.column if first == roles.row else roles.row
    return first, roles.depth, last


def _sizes(
    roles: Roles,
    processor: Processor,
    parallel: int | None,
    longest: int,
    tile_rows: int,
    *,
    pack: bool,
    shared: bool,
    even: bool = False,
) -> dict[int, int]:
    """Sizes by member, from the caches that the operands of a block are to stay in."""
    panel = _PANEL_ROWS if pack else 3 * processor.lanes(_DOUBLE)
    usual = 2 * processor.l1_data // 3 if pack else 3 * processor.l1_data // 4
    first = processor.l1_data if even else usual
    second = 3 * processor.l2 // 8
    fitting = min(first // panel, second // _FEWEST_ROWS) // _DOUBLE
    depth = _rounded(fitting, 16, longest)
    rows = _rounded(second // (depth * _DOUBLE), tile_rows, _LARGEST_BLOCK)
    sizes = {roles.row: rows, roles.column: 2 * _LARGEST_BLOCK, roles.depth: depth}
    if parallel is not None:
        most = _parallel_rows(processor, tile_rows, even=even) if shared else _PARALLEL_BLOCK
        sizes[parallel] = min(sizes[parallel], most)
    if shared:
        sizes[roles.column] = _widest(processor, depth, sizes[roles.row], even=even)
    return sizes


def _parallel_rows(processor: Processor, tile_rows: int, *, even: bool = False) -> int:
    """Rows of a block that meets columns which threads share; ``even`` ones are lower where there are few."""
    rows = max(_FEWEST_PARALLEL_ROWS, _REUSE_OF_COLUMNS * processor.lanes(_DOUBLE))
    if not even:
        rows = min(rows, max(_LOWEST_BLOCK, _SHARED_ROWS // (2 * processor.cores)))
    return -(-rows // tile_rows) * tile_rows


def _widest(processor: Processor, depth: int, beside: int = 1, *, even: bool = False) -> int:
    """Rows or columns of a packed block that threads share: so many blocks of those ``beside`` them that a triangle
    begins with a whole one."""
    return _rounded(processor.l3 // (2 if even else 3) // (depth * _DOUBLE), lcm(_PANEL, beside), _WIDEST_BLOCK)


def _rounded(size: int, multiple: int, largest: int) -> int:
    return max(multiple, min(size, largest) // multiple * multiple)
