"""Names that nobody has: one rule for all texts, those that are read and those that are written."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def unused_name(stem: str, is_taken: Callable[[str], bool]) -> str:
    """``stem``, or where that is taken ``stem`` with the first number behind it that makes a new name.

    >>> unused_name("total", {"total", "total_2"}.__contains__)
    'total_3'
    """
    return next(name for name in chain([stem], (f"{stem}_{number}" for number in count(2))) if not is_taken(name))
