"""How many threads the parallel loops of a program get while it runs."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class NativeThreads:
    """The number of OpenMP threads for calls into ``library``, at most ``count`` of them; None changes nothing.

    The functions are looked up once: that takes longer than small kernels do. They are found in the OpenMP library that
    ``library`` depends on, if there is one.
    """

    def __init__(self, library: Path, count: int | None) -> None:
        handle = ctypes.PyDLL(str(library)) if count is not None else None
        self.count = count
        self._most: Callable[[], int] | None = getattr(handle, "omp_get_max_threads", None)
        self._set: Callable[[int], object] = getattr(handle, "omp_set_num_threads", _nothing)

    @property
    def functions(self) -> tuple[object, object]:
        """What tells the number of threads, and what changes it: functions of the OpenMP library, None without one."""
        return (None, None) if self._most is None else (self._most, self._set)

    def lowered(self) -> int:
        """Lower the number for calls from this thread; the one before, which is to be restored, 0 where it stands."""
        before = self._most() if self._most is not None else 0
        if self.count is None or before <= self.count:
            return 0
        self._set(self.count)
        return before

    def restore(self, before: int) -> None:
        """Have the number that ``lowered`` gave again."""
        if before:
            self._set(before)


def _nothing(_: int) -> None:
    pass


@contextmanager
def numba_threads(count: int | None) -> Iterator[None]:
    """At most ``count`` threads for the parallel loops of numba that start in this thread; None changes nothing."""
    if count is None:
        yield
        return
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(before, count))
    try:
        yield
    finally:
        numba.set_num_threads(before)
