"""What the mapping has to know of a processor: its vector registers and caches."""

from __future__ import annotations

from dataclasses import dataclass

_FEWEST_ROWS = 3
"""Tiles of fewer rows read more operands than they add up."""
_MOST_ROWS = 8
"""Rows of a tile that is not asked for: more of them leave the compiler no register for itself."""
_MANY_REGISTERS = 32
"""With so many of them three vectors per row leave no fewer rows than two."""
_WIDEST_TILE = 16
"""Columns of a tile that has no more sums than a narrower one."""


@dataclass(frozen=True, slots=True)
class Processor:
    """Vector registers (their size in bytes and their number; 0 where there are none to count on), data caches in
    bytes, and cores. ``l3`` is the cache that cores share.

    >>> Processor(64, 32, 49152, 1048576, 2).lanes(8)
    8
    """

    vector_bytes: int
    vector_registers: int
    l1_data: int
    l2: int
    cores: int
    l3: int = 8 * 1024 * 1024

    def lanes(self, element_bytes: int) -> int:
        """How many elements of this size one register holds."""
        return self.vector_bytes // element_bytes

    def product_tile(self, rows: int, columns: int, lanes: int, parts: int = 1) -> tuple[int, int]:
        """The rows of a register tile and its vector registers per row, for a sum of products whose steps take so many
        values of ``rows`` and of ``columns``: as many sums as fit beside the operands of one step. Complex numbers have
        two ``parts``, with a register for each. Of shapes with the same number of sums the one whose steps read less,
        unless it is wider than most triangles and last columns can fill: a register has so many ``lanes``.

        >>> Processor(64, 32, 49152, 1048576, 2).product_tile(1, 1, 8)
        (8, 3)
        >>> Processor(32, 16, 32768, 1048576, 2).product_tile(1, 1, 4)
        (4, 3)
        >>> Processor(32, 16, 32768, 1048576, 2).product_tile(1, 1, 8)
        (6, 2)
        >>> Processor(32, 16, 32768, 1048576, 2).product_tile(2, 2, 4)
        (5, 2)
        """

        def gain(shape: tuple[int, int]) -> tuple[int, bool, int]:
            height, vectors = shape
            return height * vectors, vectors * lanes <= _WIDEST_TILE, -(height * rows + vectors * columns)

        left = self.vector_registers // parts - rows
        counts = (3,) if self.vector_registers >= _MANY_REGISTERS else (2, 3)
        shapes = [((left - vectors * columns) // vectors, vectors) for vectors in counts]
        return max(((max(1, min(height, _MOST_ROWS)), vectors) for height, vectors in shapes), key=gain)

    def tile_shapes(self) -> tuple[tuple[int, int], ...]:
        """Register tiles worth trying, as rows and vector registers per row: as many sums as there is room for.

        Beside the sums, a step of a product needs one register per vector of columns and one for a value of the rows.

        >>> Processor(64, 32, 49152, 1048576, 2).tile_shapes()
        ((14, 2), (9, 3), (8, 3), (6, 4), (4, 6))
        >>> Processor(32, 16, 32768, 1048576, 2).tile_shapes()
        ((6, 2), (4, 3), (3, 3))
        """
        most = {vectors: (self.vector_registers - 1 - vectors) // vectors for vectors in (2, 3, 4, 6)}
        shapes = [(rows, vectors) for vectors, rows in most.items() if rows >= _FEWEST_ROWS]
        # One row less leaves a register for the compiler's own use.
        shapes += [(most[3] - 1, 3)] if most[3] > _FEWEST_ROWS else []
        return tuple(sorted(set(shapes), reverse=True))
