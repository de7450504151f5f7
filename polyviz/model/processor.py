"""What the mapping has to know of a processor: its vector registers and caches."""

from __future__ import annotations

from dataclasses import dataclass


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
