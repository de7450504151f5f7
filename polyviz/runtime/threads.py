"""How many threads the parallel loops of a program get while it runs."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def native_threads(library: Path, count: int | None) -> Iterator[None]:
    """At most ``count`` OpenMP threads for calls into ``library`` from this thread; None changes nothing."""
    handle = ctypes.CDLL(str(library)) if count is not None else None
    # The functions are found in the OpenMP library that this one depends on, if there is one.
    if handle is None or not hasattr(handle, "omp_set_num_threads"):
        yield
        return
    before = int(handle.omp_get_max_threads())
    handle.omp_set_num_threads(ctypes.c_int(min(before, count or before)))
    try:
        yield
    finally:
        handle.omp_set_num_threads(ctypes.c_int(before))


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
