"""Square matrices of many sizes: how much of the machine a product achieves, from small ones to large ones."""

from __future__ import annotations

KERNELS = ("gemm",)
"""The kernels that are raced on squares unless others are asked for."""

EDGES = (512, 600, 768, 1000, 1024, 1500, 2000, 2048, 3000)
"""Powers of two, whose rows may collide in a cache, and sizes that fit no tile."""

SHRINKING = 8


def edges(size: str) -> tuple[int, ...]:
    """The extents that are raced at a level of sizes: smaller ones where it is not ``large``.

    >>> edges("large")[0], edges("small")[0]
    (512, 64)
    """
    return EDGES if size == "large" else tuple(edge // SHRINKING for edge in EDGES)
