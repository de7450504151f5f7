"""Schedulers of others under a time limit: they run in this process, which a hang would take with it.

In the main thread an alarm ends even a wait in the system; in other threads, and where there are no alarms, Python
raises between two instructions. The polyhedral library, which neither can stop, counts its operations.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from polyviz.model.isl_limits import at_most

if TYPE_CHECKING:
    from collections.abc import Iterator

TIME_LIMIT = 60.0
"""Seconds that a scheduler may take unless it was registered with more."""
OPERATIONS_PER_SECOND = 5_000_000
"""More than isl does in a second, so that the clock decides wherever it can."""


class TimeIsUpError(BaseException):
    """Raised in the scheduler; no ``except Exception`` of its own keeps it going."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A context that ends with ``TimeIsUpError`` after ``seconds``, and with ``isl.Error`` inside a call of isl."""
    in_main = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    clock = _alarm(seconds) if in_main else _raised_by_timer(seconds)
    with clock, at_most(int(seconds * OPERATIONS_PER_SECOND)):
        yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(_number: int, _frame: object) -> None:
        raise TimeIsUpError

    handler = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, interval)
        signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)


@contextmanager
def _raised_by_timer(seconds: float) -> Iterator[None]:
    thread, lock, running = threading.get_ident(), threading.Lock(), [True]

    def ring() -> None:
        with lock:
            if running:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(TimeIsUpError)
                )

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            running.clear()
        timer.cancel()
