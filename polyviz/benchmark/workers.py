"""The processes of a benchmark: one per peer, so that neither a crash nor an OpenMP run time of one reaches another."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from polyviz.benchmark.quiet import wait_until_quiet
from polyviz.runtime.machine import thread_count
from polyviz.runtime.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
)

_SPINNING = {"KMP_BLOCKTIME": "20"}
"""Milliseconds that threads of LLVM's OpenMP look for work before they sleep; its 200 would make every pause long."""


@contextmanager
def fixed_threads() -> Iterator[int]:
    """The same number of threads for everybody who starts within; the number."""
    threads = thread_count().count
    wanted = {**dict.fromkeys(_THREAD_VARIABLES, str(threads)), **_SPINNING}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield threads
    finally:
        _restore(before)


def _restore(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class Workers:
    """Worker processes by name, started when first needed and ended together."""

    def __init__(self, make: Callable[[], Worker] = Worker) -> None:
        self._make = make
        self._workers: dict[str, Worker] = {}
        self._lock = threading.Lock()

    def run(self, name: str, job: str, *arguments: object, time_limit: float, label: str) -> Any:
        """``job`` in the process called ``name``; raises what :meth:`Worker.run` raises."""
        with self._lock:
            if name not in self._workers:
                self._workers[name] = self._make()
            worker = self._workers[name]
        return worker.run(job, *arguments, time_limit=time_limit, label=label)

    def settle(self) -> bool:
        """Wait until no thread in any of the processes looks for work; False when some go on all the same."""
        numbers = (worker.process_id for worker in self._workers.values())
        return wait_until_quiet(number for number in numbers if number is not None)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()
