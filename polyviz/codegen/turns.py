"""Which iteration of the loops around it a thread is in when it makes an access, for the emulator.

The threads of a warp that are in the same iteration of every loop make one request together, however many iterations
each of them has had before.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from polyviz.model.device import coordinate
from polyviz.model.expression import Name, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.device import DeviceKernel
    from polyviz.model.expression import Expression


class Turns:
    """The loops around what is printed of one kernel; ``texts`` tell their iterations apart, the outermost first."""

    def __init__(self, kernel: DeviceKernel) -> None:
        self.texts: tuple[str, ...] = ()
        points = (point.parameter for point in kernel.points)
        self._varying = frozenset([*(coordinate("thread", axis.axis) for axis in kernel.threads), *points])

    @contextmanager
    def inside(self, iterator: str, start: Expression | None = None, text: str = "") -> Iterator[None]:
        """Inside the loop over ``iterator``, which begins at ``start``, printed as ``text``; None: alike everywhere.

        Where threads begin differently, what counts is how far each of them has come.
        """
        kept = self.texts, self._varying
        varies = start is not None and any(
            isinstance(part, Name) and part.name in self._varying for part in walk(start)
        )
        self.texts = (*self.texts, f"{iterator} - ({text})" if varies else iterator)
        self._varying |= {iterator} if varies else set()
        yield
        self.texts, self._varying = kept
