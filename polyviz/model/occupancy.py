"""How many threads a multiprocessor holds at once: its occupancy, from what a block needs.

Source: NVIDIA, CUDA C++ Programming Guide, table of technical specifications per compute capability.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyviz.model.warp_access import WARP


@dataclass(frozen=True, slots=True)
class Architecture:
    """What one multiprocessor holds: registers, threads, blocks, and bytes of shared memory."""

    registers: int
    threads: int
    blocks: int
    shared: int


LIMITS = {
    "sm_80": Architecture(65536, 2048, 32, 164 * 1024),
    "sm_90": Architecture(65536, 2048, 32, 228 * 1024),
}


def occupancy(architecture: str, threads: int, shared: int, registers: int = 1) -> float:
    """Threads that a multiprocessor can hold at once, as a part of its most.

    A block has ``threads`` threads and ``shared`` bytes of shared memory, a thread ``registers`` registers: with one
    the value is a bound for any number of them.

    >>> occupancy("sm_90", 256, 0, 128), occupancy("sm_80", 256, 48 * 1024)
    (0.25, 0.375)
    """
    limits = LIMITS[architecture]
    warps = -(-threads // WARP)
    # Registers are handed out to a warp in pieces of 256, shared memory to a block with 1 KiB for the system.
    per_warp = -(-max(registers, 1) * WARP // 256) * 256
    blocks = min(
        limits.blocks,
        limits.threads // (warps * WARP),
        limits.registers // (per_warp * warps),
        limits.shared // (shared + 1024),
    )
    return blocks * warps * WARP / limits.threads
