"""How long threads of OpenMP that have nothing to do look for work before they sleep.

A thread that spins keeps a core from whoever else could use it: after a product of NumPy the threads of its BLAS, in a
shared machine other people's programs, and on the way back the team's own threads, which the system then puts on one
core in turn. GNU's run time spins for some 8 ms at every barrier, so that a kernel of 10 ms took 60 to 80 beside one
busy thread. It pays to spin for as long as waking a sleeping thread costs, and no longer (Karlin, Li, Manasse, Owicki,
"Empirical studies of competitive spinning for a shared-memory multiprocessor", 1991). The call that wakes one takes
some 50 microseconds, but that is not all: a virtual machine gives the core of a sleeping thread back to its host, and
the thread may wake on the core of the one that woke it. There a product of a matrix and a vector took 1.0 ms where
threads slept after 0.1 ms, and 0.4 ms where they looked for work for a millisecond.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SPINS = "40000"
"""Turns of the waiting loop, each a pause of the processor of 10 to 50 ns: 0.4 to 2 ms in all."""

_CHOICE = "GOMP_SPINCOUNT"
_CHOICES_OF_USERS = (_CHOICE, "OMP_WAIT_POLICY")


@contextmanager
def short_spinning() -> Iterator[None]:
    """GNU's OpenMP, if it is loaded within, lets idle threads sleep soon; a choice of the user's own is kept.

    It reads the environment once, when it is loaded, and the environment is the same again afterwards.
    """
    if any(name in os.environ for name in _CHOICES_OF_USERS):
        yield
        return
    # Seen by the library, and not by `os.environ`, of which worker processes take copies.
    os.putenv(_CHOICE, SPINS)
    try:
        yield
    finally:
        os.unsetenv(_CHOICE)
