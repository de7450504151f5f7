"""What a job that runs in the worker may use to speak to the process that waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class _Listener:
    """Where progress goes; nowhere when the function is called as plain Python."""

    def __init__(self) -> None:
        self.listen: Callable[[object], None] | None = None


_listener = _Listener()


def report_progress(value: object) -> None:
    """Hand ``value`` (anything that can be pickled) to the ``progress`` callback of ``Worker.run``.

    Outside a worker nobody listens and nothing happens, so that a job can be called directly.
    """
    if _listener.listen is not None:
        _listener.listen(value)


def listen(callback: Callable[[object], None]) -> None:
    """Send the progress of this process's jobs to ``callback``."""
    _listener.listen = callback
