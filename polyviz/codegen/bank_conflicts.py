"""Bank conflicts of shared memory, counted as the emulator counts them."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from polyviz.model.warp_access import WARP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device import DeviceKernel

BANKS = 32
WORD = 4
"""Bytes of one bank's word."""


def conflicts(places: Sequence[int], itemsize: int) -> int:
    """The extra rounds that one request needs for the byte offsets ``places`` of its lanes.

    Cells longer than a word are read by a part of the warp after the other (NVIDIA, CUDA C++ Programming Guide, shared
    memory of compute capability 5.x and later).

    >>> conflicts([8 * lane for lane in range(32)], 8), conflicts([128 * lane for lane in range(32)], 4)
    (0, 31)
    """
    word = max(itemsize, WORD)
    lanes = max(WARP * WORD // word, 1)
    total = 0
    for begin in range(0, len(places), lanes):
        words = {place // word for place in places[begin : begin + lanes]}
        banks = Counter(one * word // WORD % BANKS for one in words)
        total += max(banks.values()) - 1
    return total


def rounds_of_warp(
    kernel: DeviceKernel, moves: Mapping[str, tuple[int, ...]], extents: Sequence[int], itemsize: int
) -> int:
    """The extra rounds of the first warp of a block for a reference whose subscripts move by ``moves`` per thread."""
    pitches = [prod(extents[axis + 1 :]) for axis in range(len(extents))]
    sizes = {axis.axis: axis.size for axis in kernel.threads}
    places = []
    for lane in range(min(WARP, kernel.threads_per_block)):
        rest, place = lane, 0
        for axis in "xyz":
            if axis in sizes:
                here = rest % sizes[axis]
                rest //= sizes[axis]
                place += here * sum(move * pitch for move, pitch in zip(moves[axis], pitches, strict=True))
        places.append(place * itemsize)
    return conflicts(places, itemsize)
