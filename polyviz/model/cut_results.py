"""Arrays that a function returns up to a number that it counts: ``return kept[:count]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cut:
    """What a caller gets of the results of generated code, which are whole arrays and numbers.

    ``ends`` are pairs of places among the results: of an array, and of the number of its rows. The last ``hidden``
    results are such numbers and nothing else; ``is_tuple``: the others are handed back as a tuple.
    """

    ends: tuple[tuple[int, int], ...]
    hidden: int
    is_tuple: bool

    def applied(self, results: tuple[Any, ...]) -> Any:
        """What is handed back of ``results``.

        >>> Cut(((0, 1),), hidden=1, is_tuple=False).applied(([3, 1, 2], 2))
        [3, 1]
        """
        found = list(results)
        for place, end in self.ends:
            found[place] = results[place][: results[end]]
        found = found[: len(found) - self.hidden]
        return tuple(found) if self.is_tuple else found[0]
