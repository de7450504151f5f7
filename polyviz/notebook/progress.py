"""How far a job is: one line that is rewritten at most ten times a second, and finished at the end."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, Self, TextIO

from polyviz.runtime import stages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

INTERVAL = 0.1
"""Seconds between two rewritings."""

PATIENCE = 0.5
"""Seconds before a job is worth a line at all."""


class Line(Protocol):
    """Where a line of text can be shown and rewritten."""

    def write(self, text: str) -> None:
        """Show ``text`` instead of the line before."""

    def finish(self, text: str) -> None:
        """Leave ``text``, or nothing."""


class TerminalLine:
    """The last line of a terminal; it is erased at the end, since the result says how long it took."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._width = 0

    def write(self, text: str) -> None:
        """Overwrite the line in place."""
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def finish(self, text: str) -> None:
        """Erase the line."""
        self._stream.write("\r" + " " * self._width + "\r")
        self._stream.flush()


class NotebookLine:
    """An output of the cell that is updated in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str) -> None:
        """Show or update the output."""
        from IPython.display import DisplayHandle

        if self._handle is None:
            handle: Any = DisplayHandle
            self._handle = handle()
            self._handle.display({"text/plain": text}, raw=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)

    def finish(self, text: str) -> None:
        """Leave one line that says how it ended."""
        self.write(text)


def line_for(shell: object, stream: TextIO | None = None) -> Line | None:
    """Where progress is shown under ``shell``: in the cell, in the terminal, or nowhere when nobody watches."""
    stream = sys.stderr if stream is None else stream
    if hasattr(shell, "kernel"):
        return NotebookLine()
    return TerminalLine(stream) if stream.isatty() else None


class Progress:
    """A context in which a job reports its stages; ``report`` fits every ``progress=`` argument of this package.

    The clock goes on between reports: a thread rewrites the elapsed time. After an exception the line says at which
    stage it ended. Stages inside, such as the compilation of a kernel, are shown while they last. The line begins with
    ``title``; without reports it says nothing else.
    """

    def __init__(
        self,
        line: Line | None,
        clock: Callable[[], float] = time.monotonic,
        *,
        title: str = "polyopt",
        stage: str = "",
    ) -> None:
        self._line = line
        self._clock = clock
        self._began = clock()
        self._title = title
        self._stage = (stage, 0, 0)
        self._audience: stages.Audience | None = None
        self._shown = False
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._began

    @property
    def stage(self) -> str:
        """What is going on, without the figures."""
        return self._stage[0]

    def report(self, stage: str, done: int, total: int) -> None:
        """The job is now at ``stage``, the ``done``-th of ``total``."""
        self._stage = (stage, done, total)

    @contextmanager
    def inner(self, stage: str) -> Iterator[None]:
        """A context in which the job is at ``stage``, and afterwards where it was before."""
        before = self._stage
        self._stage = (stage, 0, 0)
        yield
        self._stage = before

    def __enter__(self) -> Self:
        self._audience = stages.tell(self.inner)
        if self._line is not None:
            self._ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        stages.tell(self._audience)
        self._ended.set()
        if self._line is None:
            return
        self._ticker.join()
        if self._shown:
            end = "done in" if kind is None else f"stopped{f' at {self.stage!r}' if self.stage else ''} after"
            self._line.finish(f"{self._title}: {end} {self.elapsed:.1f} s")

    def text(self) -> str:
        """The line as it reads now."""
        stage, done, total = self._stage
        count = f" ({done + 1}/{total})" if total > 1 else ""
        return f"{self._title}{f': {stage}' if stage else ''}{count}, {self.elapsed:.1f} s"

    def _tick(self) -> None:
        assert self._line is not None
        if self._ended.wait(PATIENCE):
            return
        self._shown = True
        while True:
            self._line.write(self.text())
            if self._ended.wait(INTERVAL):
                return


def watch(shell: object) -> None:
    """Show stages that begin on their own, such as the compilation at the first call of a kernel, under ``shell``."""
    stages.tell(lambda stage: Progress(line_for(shell), title=stage))


def watch_no_longer() -> None:
    """Show them no longer."""
    stages.tell(None)
