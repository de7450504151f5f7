"""Numbers with their nouns."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def plural(count: int, noun: str) -> str:
    """``1 loop``, ``2 loops``.

    >>> plural(1, "loop"), plural(0, "loop")
    ('1 loop', '0 loops')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def sized(sizes: Iterable[int], noun: str) -> str:
    """So many of something along each axis.

    >>> sized((8, 4), "cell"), sized((1, 1), "cell")
    ('8 x 4 cells', '1 x 1 cell')
    """
    known = tuple(sizes)
    return f"{' x '.join(map(str, known))} {noun}{'' if prod(known) == 1 else 's'}"
