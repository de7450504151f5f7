"""Sizes that fit no tile and no vector: every extent moved up to a prime."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KERNELS = ("gemm", "jacobi-2d", "heat-3d")
"""The kernels that are raced at such sizes unless others are asked for."""


def odd_sizes(extents: Mapping[str, int]) -> dict[str, int]:
    """The next prime for every extent.

    >>> odd_sizes({"n": 1000, "m": 7})
    {'n': 1009, 'm': 7}
    """
    return {name: _next_prime(extent) for name, extent in extents.items()}


def _next_prime(number: int) -> int:
    while any(number % divisor == 0 for divisor in range(2, int(number**0.5) + 1)):
        number += 1
    return number
