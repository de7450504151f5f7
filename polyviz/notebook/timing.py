"""Verifying and timing beside the kernel's main thread: the notebook stays usable, and a run can be cancelled."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.api import compare
from polyviz.errors import PolyvizError
from polyviz.runtime.peaks import MEASURE_LIMIT, keep_peaks
from polyviz.runtime.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.api import Comparison, Inspector
    from polyviz.model.schedule import Schedule

_TICK = 1.0
_PAUSE = 0.1
"""Seconds between two reports of progress: a front end cannot show more."""


@dataclass(slots=True)
class Timing:
    """Comparisons of schedules on the arguments of ``inspector``, one at a time.

    ``report`` gets what is being done, ``finish`` the comparison, or None with the sentence that says why there is
    none; both are called from another thread.
    """

    inspector: Inspector
    report: Callable[[str], None]
    finish: Callable[[Comparison | None, str], None]
    _worker: Worker | None = None
    _told: float = field(default=0.0)

    def start(self, schedules: Mapping[str, Schedule]) -> threading.Thread | None:
        """Begin, and return at once; None while another comparison runs."""
        if self._worker is not None:
            return None
        self._worker = Worker()
        thread = threading.Thread(target=self._run, args=(dict(schedules), self._worker), daemon=True)
        thread.start()
        return thread

    def measure(self, finish: Callable[[str], None]) -> threading.Thread | None:
        """Find out the speed of this machine beside the main thread, and remember it; ``finish`` gets a problem or "".

        None while something else is done.
        """
        job = "polyviz.runtime.peaks:measure_peaks"

        def work(worker: Worker) -> None:
            keep_peaks(worker.run(job, time_limit=MEASURE_LIMIT, label="The measurement"))

        return self.beside("measuring this machine", work, finish)

    def beside(
        self, doing: str, work: Callable[[Worker], None], finish: Callable[[str], None]
    ) -> threading.Thread | None:
        """Do ``work`` beside the main thread with a worker of its own; ``finish`` gets a problem or "".

        ``doing`` says what that is, and is reported every second with the seconds it has taken. None while something
        else is done.
        """
        if self._worker is not None:
            return None
        self._worker = Worker()
        thread = threading.Thread(target=self._do, args=(doing, work, self._worker, finish), daemon=True)
        thread.start()
        return thread

    def _do(
        self, doing: str, work: Callable[[Worker], None], worker: Worker, finish: Callable[[str], None]
    ) -> None:
        problem, done = "", threading.Event()
        threading.Thread(target=self._tick, args=(doing, done), daemon=True).start()
        try:
            work(worker)
        except PolyvizError as error:
            told = " ".join(filter(None, (error.message, error.reason, error.hint)))
            problem = "Cancelled." if worker.closed else told
        finally:
            done.set()
            worker.close()
            self._worker = None
        finish(problem)

    def _tick(self, doing: str, done: threading.Event) -> None:
        """Whoever waits sees that something goes on, also where the work itself has nothing to tell."""
        began = time.monotonic()
        while not done.wait(_TICK):
            self.report(f"{doing} ({time.monotonic() - began:.0f} s)")

    def cancel(self) -> None:
        """Stop what is measured, if there is anything."""
        if self._worker is not None:
            self._worker.close()

    def _run(self, schedules: dict[str, Schedule], worker: Worker) -> None:
        comparison, problem = None, ""
        found = self.inspector
        try:
            comparison = compare(
                found.scop,
                *found.arguments,
                schedules=schedules,
                namespace=found.namespace,
                progress=self._progress,
                worker=worker,
            )
        except PolyvizError as error:
            problem = f"{error.message} {error.reason}".strip()
        if worker.closed:
            # The race goes on without its worker and notes that in every row; nobody wants these rows.
            comparison, problem = None, "Cancelled."
        worker.close()
        self._worker = None
        self.finish(comparison, problem)

    def _progress(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told >= _PAUSE:
            self._told = now
            self.report(f"{stage} ({done} of {total})")
