"""When nobody waits for the kernel: what is made in the background then delays neither a cell nor a question."""

from __future__ import annotations

import asyncio
import sys
import time


class Idleness:
    """How long ago somebody asked the kernel for something: a view a question, or a notebook to run a cell.

    >>> idleness = Idleness()
    >>> idleness.asked()
    >>> asyncio.run(idleness.lasts(0.01))
    """

    def __init__(self) -> None:
        self._asked = time.monotonic()
        self._events: object = None

    def asked(self, *_: object) -> None:
        """Somebody asks now, or has just got an answer."""
        self._asked = time.monotonic()

    def listen(self) -> None:
        """Take cells of the notebook around into account, where there is one."""
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        events = getattr(shell, "events", None)
        if events is None or events is self._events:
            return
        self._events = events
        # A cell that took long has kept the loop from looking at the clock: its end counts, too.
        for name in ("pre_run_cell", "post_run_cell"):
            events.register(name, self.asked)

    async def lasts(self, seconds: float) -> None:
        """Wait until nobody has asked for ``seconds``; where that is so already, go on at once."""
        while (left := self._asked + seconds - time.monotonic()) > 0:
            await asyncio.sleep(left)


IDLENESS = Idleness()
"""That of this kernel: all views of a notebook share it."""
