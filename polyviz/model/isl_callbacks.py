"""What isl hands to functions of ours, without losing an interrupt that comes meanwhile.

islpy prints an exception of such a function, and isl goes on as if it had failed by itself. Python raises an interrupt
where it next runs code of its own; while isl works for long, that is in the function that it calls.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

_HELD = (signal.SIGINT, signal.SIGALRM)
"""What raises in the middle of Python code: interrupts, and the alarm of a time limit."""


# Python's `signal` turns each handler into a member of an enumeration, or finds that it is none; around a callback of a
# few microseconds that would take most of the time.
_handler_of, _set_handler = _signal.getsignal, _signal.signal


@contextmanager
def interrupts_afterwards() -> Iterator[None]:
    """Hold interrupts and alarms back until the block is done; they come at its end, in the main thread as ever."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {held: handler for held in _HELD if callable(handler := _handler_of(held))}
    try:
        for held in handlers:
            _set_handler(held, lambda number, _frame: came.append(number))
        yield
    finally:
        for held, handler in handlers.items():
            _set_handler(held, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


@overload
def pieces_of(function: isl.PwAff) -> list[tuple[isl.Set, isl.Aff]]: ...


@overload
def pieces_of(function: isl.PwMultiAff) -> list[tuple[isl.Set, isl.MultiAff]]: ...


def pieces_of(function: Any) -> list[tuple[isl.Set, Any]]:
    """Each part of the domain of ``function`` with the function there.

    >>> import islpy as isl
    >>> [str(piece) for _, piece in pieces_of(isl.PwAff("{ [i] -> [(i + 1)] : i > 0 }"))]
    ['{ [i] -> [(1 + i)] }']
    """
    found: list[tuple[isl.Set, Any]] = []
    with interrupts_afterwards():
        function.foreach_piece(lambda domain, piece: found.append((domain, piece)))
    return found
