"""What was made of values that do not change, kept for the few that were asked for last."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Made = TypeVar("Made")


class Recent(Generic[Made]):
    """The last results of a function of one large value and a small key; the value is known by its identity.

    >>> lengths, word = Recent[int](4), ["a"]
    >>> lengths.of(word, 0, lambda: len(word)), lengths.of(word, 0, lambda: 7), lengths.of(word, 1, lambda: 7)
    (1, 1, 7)
    """

    def __init__(self, most: int) -> None:
        self._kept: deque[tuple[object, Hashable, Made]] = deque(maxlen=most)

    def of(self, value: object, key: Hashable, make: Callable[[], Made]) -> Made:
        """What ``make`` gives for ``value`` and ``key``, or has given when they were asked for a short while ago."""
        for known, its_key, result in tuple(self._kept):
            if known is value and its_key == key:
                return result
        made = make()
        self._kept.append((value, key, made))
        return made
