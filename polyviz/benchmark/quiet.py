"""Waiting until the threads of the last sample sleep: idle threads that still look for work take a core from the next.

A matrix product of OpenBLAS leaves threads that spin for a tenth of a second, OpenMP's some milliseconds. So every
sample, whoever's it is, begins only when no process of the contest uses its processor time any more.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WINDOW = 0.02
"""Seconds over which the processes are watched."""
CALM_WINDOWS = 2
"""So many quiet windows in a row are waited for: a thread may yield for a moment between two looks."""
QUIET_SHARE = 0.05
"""The share of one core that all processes together may still use."""
LONGEST_WAIT = 2.0
BLIND_PAUSE = 0.2
"""Seconds to wait where the system does not tell the processor time of another process."""

_SCHEDULED_TIME = 2


def wait_until_quiet(processes: Iterable[int], spent: Callable[[int], float] | None = None) -> bool:
    """Wait until ``processes`` (their numbers) use no processor time; False when they still do after `LONGEST_WAIT`.

    ``spent`` tells the processor seconds of a process so far; it raises OSError for one that is gone.

    >>> wait_until_quiet([])
    True
    """
    if spent is None and sys.platform != "linux":
        time.sleep(BLIND_PAUSE)
        return True
    watched, look, calm = list(processes), spent or processor_seconds, 0
    deadline = time.monotonic() + LONGEST_WAIT
    before = _total(watched, look)
    while calm < CALM_WINDOWS:
        if time.monotonic() > deadline:
            return False
        started = time.monotonic()
        time.sleep(WINDOW)
        now = _total(watched, look)
        quiet = now - before <= QUIET_SHARE * (time.monotonic() - started)
        calm, before = (calm + 1 if quiet else 0), now
    return True


def processor_seconds(process: int) -> float:
    """The processor time that all threads of ``process`` used so far, in seconds, to the nanosecond; on Linux.

    Raises OSError when there is no such process.
    """
    # How Linux numbers the clock of a process; clock_getcpuclockid() of the C library computes the same.
    return time.clock_gettime(~process << 3 | _SCHEDULED_TIME)


def _total(processes: Iterable[int], spent: Callable[[int], float]) -> float:
    total = 0.0
    for process in processes:
        try:
            total += spent(process)
        except OSError:  # it has ended, and spins no more
            continue
    return total
