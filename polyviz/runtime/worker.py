"""Running jobs in a process of their own: whatever native code does there, the notebook lives.

A job is an importable function and its arguments. One worker serves jobs one after the other; after a crash, a
time limit or a cancellation the next job gets a fresh process.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from polyviz.errors import OptionError, PolyvizError, WorkerError
from polyviz.runtime.channel import ChannelClosedError, Packed, pack, unpack
from polyviz.runtime.machine import this_machine
from polyviz.runtime.worker_process import Setting, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

START_LIMIT = 60.0
"""Seconds a worker has to start and take its job."""

_SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "it touched memory that is not its own",
    signal.SIGBUS: "it touched memory that is not there",
    signal.SIGFPE: "it divided an integer by zero, or the quotient does not fit",
    signal.SIGILL: "it used an instruction that this processor does not have",
    signal.SIGABRT: "it gave up by itself",
    signal.SIGKILL: "it was killed from outside, as the system does when memory runs out",
}

_Verdict = Literal["time limit", "cancelled", "not started"]


class CrashError(WorkerError):
    """The job ended its process: a signal, an exit, or no memory left."""


class NoMemoryError(CrashError):
    """The job found no memory left, or was killed, as the system does then."""


class TimeLimitError(WorkerError):
    """The job ran longer than it may."""


class CancelledError(WorkerError):
    """The job was cancelled from outside."""


class _NotTakenError(Exception):
    """The process was gone before it took the job, so the job can be given to another one."""

    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


@dataclass(slots=True)
class _Job:
    """A job in flight. ``stop`` may be called from any thread; the first verdict counts."""

    process: WorkerProcess
    label: str
    time_limit: float
    taken: bool = False
    finished: bool = False
    verdict: _Verdict | None = None
    began: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def stop(self, verdict: _Verdict) -> bool:
        with self.lock:
            if self.finished or self.verdict is not None:
                return False
            self.verdict = verdict
        self.process.kill()
        return True

    def finish(self) -> _Verdict | None:
        with self.lock:
            self.finished = True
            return self.verdict


class Worker:
    """Runs jobs in a worker process, one at a time; calls from several threads queue up.

    ``memory_limit`` in bytes bounds what a job may allocate (default: the memory of the machine).
    The process is started by :meth:`start` or the first job, takes over this process's environment, module search path
    and directory (it is replaced when they have changed), and never outlives this process.

    >>> with Worker() as worker:
    ...     worker.run("math:hypot", 3.0, 4.0, time_limit=30)
    5.0
    """

    def __init__(self, *, memory_limit: int | None = None) -> None:
        self.memory_limit = this_machine().memory if memory_limit is None else memory_limit
        self._turn = threading.Lock()
        self._job: _Job | None = None
        self._idle: WorkerProcess | None = None
        self._closed = False

    def start(self) -> None:
        """Start the process ahead of the first job, without waiting for it."""
        with self._turn:
            self._idle = self._take()

    def run(
        self,
        callable_path: str,
        *arguments: object,
        time_limit: float,
        progress: Callable[[Any], None] | None = None,
        label: str = "",
    ) -> Any:
        """The result of the function ``callable_path`` ("module:name") called with ``arguments`` in the worker.

        ``time_limit``: seconds. ``progress``: gets what the job gives to ``jobs.report_progress``, in this thread.
        ``label``: what error messages call the job, as the start of a sentence. Arguments and result are copied.

        Raises what the job raises; TimeLimitError, CrashError or CancelledError (all WorkerError) when it does not
        come to an end. A KeyboardInterrupt here stops the job and goes on to the caller.
        """
        if not (math.isfinite(time_limit) and 0 < time_limit <= threading.TIMEOUT_MAX):
            raise OptionError(f"A time limit is a positive number of seconds, not {time_limit}.")
        label = label or f"The job `{callable_path}`"
        body = _pack_arguments(arguments, label)
        with self._turn:
            for _attempt in range(2):
                try:
                    return self._run_once(callable_path, body, label, time_limit, progress)
                except _NotTakenError as gone:
                    output = gone.output
        raise WorkerError("The worker process ends before it takes a job.", reason=output)

    def cancel(self) -> bool:
        """Stop the job in flight, from any thread; whether there was one. Its ``run`` raises CancelledError."""
        job = self._job
        return job is not None and job.stop("cancelled")

    def close(self) -> None:
        """Stop the job in flight and the process. A closed worker takes no more jobs."""
        # Without waiting for its turn, so that a progress callback may call it.
        self._closed = True
        self.cancel()
        idle, self._idle = self._idle, None
        if idle is not None:
            idle.end()

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    @property
    def process_id(self) -> int | None:
        """The number of the process that waits for a job; None when there is none."""
        return None if self._idle is None else self._idle.process_id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self) -> WorkerProcess:
        """The waiting process if it can be used, else a new one.

        It is taken out of ``self`` and put back only after a complete exchange: whatever interrupts a job, no answer
        of it can be taken for the answer to another.
        """
        if self._closed:
            raise WorkerError("The worker was closed and takes no more jobs.")
        setting = Setting.current()
        idle, self._idle = self._idle, None
        if idle is not None and idle.usable() and idle.setting == setting:
            return idle
        if idle is not None:
            idle.end()
        return WorkerProcess(setting, self.memory_limit)

    def _run_once(
        self,
        path: str,
        body: Packed,
        label: str,
        time_limit: float,
        progress: Callable[[Any], None] | None,
    ) -> Any:
        process = self._take()
        job = _Job(process, label, time_limit)
        self._job = job
        try:
            kind, detail, answer = _exchange(job, path, body, progress)
        except ChannelClosedError:
            raise _explain(job, process.end(), process.output.finish()) from None
        except BaseException:
            # An interrupt, or a progress callback that failed: nobody wants the job's answer any more.
            process.end()
            raise
        finally:
            verdict = job.finish()
            self._job = None
        if verdict is not None:
            raise _explain(job, process.end(), process.output.finish())
        if self._closed:
            process.end()
        else:
            self._idle = process
        return _conclude(kind, detail, answer, label, self.memory_limit)


def _exchange(
    job: _Job, path: str, body: Packed, progress: Callable[[Any], None] | None
) -> tuple[str, str, Packed]:
    """Give the job to its process and wait for its end: the kind of answer, its detail, its body."""
    channel = job.process.channel
    alarm = _set_alarm(START_LIMIT, job, "not started")
    try:
        channel.send((path, job.time_limit), body)
        while True:
            header, answer = channel.receive()
            if header[0] == "started":
                alarm.cancel()
                job.taken, job.began = True, time.monotonic()
                alarm = _set_alarm(job.time_limit, job, "time limit")
            elif header[0] != "progress":
                return str(header[0]), str(header[-1]), answer
            elif progress is not None:
                progress(unpack(answer))
    finally:
        alarm.cancel()


def _set_alarm(seconds: float, job: _Job, verdict: _Verdict) -> threading.Timer:
    alarm = threading.Timer(seconds, job.stop, (verdict,))
    alarm.daemon = True
    alarm.start()
    return alarm


def _conclude(kind: str, detail: str, answer: Packed, label: str, memory_limit: int) -> Any:
    """The result of a job that came to its end, or the exception it ended with."""
    if kind == "memory":
        limit = f" (a job may use {memory_limit / 1024**3:.1f} GiB)" if memory_limit else ""
        raise NoMemoryError(f"{label} ran out of memory{limit}.", hint="Try smaller sizes.")
    try:
        value = unpack(answer)
    except Exception as error:
        raise WorkerError(f"What {label} returned cannot be read here.", reason=str(error)) from error
    if kind == "result":
        return value
    if not isinstance(value, PolyvizError):
        value.add_note(f"In the worker process:\n{detail}")
    raise value


def _explain(job: _Job, status: int, output: str) -> Exception:
    """The error for a job whose process is gone; ``status`` as in ``subprocess.Popen.returncode``."""
    seconds = time.monotonic() - job.began
    limit = f"{job.label} ran longer than its time limit of {job.time_limit:g} s and was stopped."
    if job.verdict == "cancelled":
        return CancelledError(f"{job.label} was cancelled after {seconds:.1f} s.")
    if job.verdict == "time limit" or status == -signal.SIGALRM:
        return TimeLimitError(limit, reason=_printed(output))
    if job.verdict == "not started":
        return WorkerError(
            f"The worker process did not start within {START_LIMIT:g} s.", reason=_printed(output)
        )
    if not job.taken:
        return _NotTakenError(_printed(output) or f"exit status {status}")
    if status >= 0:
        sentence = f"{job.label} ended the worker process with exit status {status} after {seconds:.1f} s."
        return CrashError(sentence, reason=_printed(output))
    name, meaning = _describe_signal(-status)
    sentence = f"{job.label} crashed the worker process with {name} after {seconds:.1f} s: {meaning}."
    kind = NoMemoryError if -status == signal.SIGKILL else CrashError
    return kind(sentence, reason=_printed(output))


def _describe_signal(number: int) -> tuple[str, str]:
    """The name of a signal, and what it usually means; not all numbers have names."""
    known = number in {member.value for member in signal.Signals}
    name = signal.Signals(number).name if known else f"signal {number}"
    return name, _SIGNALS.get(number, "it was ended by this signal")


def _printed(output: str) -> str:
    return f"Its last output was: {output}" if output else ""


def _pack_arguments(arguments: tuple[object, ...], label: str) -> Packed:
    try:
        return pack(arguments)
    except MemoryError as error:
        raise WorkerError(
            f"{label} works on copies of its arrays, and there is not enough memory for them.",
            reason=str(error),
            hint="Try smaller arrays. A view that repeats its elements (a stride of 0) is copied in full.",
        ) from error
    except Exception as error:
        raise WorkerError(
            f"{label} gets arguments that cannot be sent to the worker process.", reason=str(error)
        ) from error


_shared: list[Worker] = []
_sharing = threading.Lock()
_shared_owner: list[int] = []


def shared_worker() -> Worker:
    """The worker that everything in this process shares; made on first use, ended with the process."""
    with _sharing:
        if not _shared or _shared[0].closed or _shared_owner != [os.getpid()]:
            _shared[:] = [Worker()]
            _shared_owner[:] = [os.getpid()]
        return _shared[0]
