"""One worker process: started from scratch (never forked), its output kept out of the way, ended without a trace."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from dataclasses import dataclass
from typing import IO, Self

from polyviz.errors import WorkerError
from polyviz.runtime.channel import Channel
from polyviz.runtime.storage import process_directory

_KEPT_OUTPUT = 16 * 1024
_KEPT_LINES = 5
_KEPT_WIDTH = 200


@dataclass(frozen=True, slots=True)
class Setting:
    """What a worker takes over from the process that starts it: environment, module search path, directory."""

    environment: tuple[tuple[str, str], ...]
    search_path: tuple[str, ...]
    directory: str | None

    @classmethod
    def current(cls) -> Self:
        """The setting of this process at this moment."""
        try:
            directory = os.getcwd()
        except OSError:  # it was deleted under us
            directory = None
        path = (entry or directory for entry in sys.path)
        return cls(tuple(os.environ.items()), tuple(entry for entry in path if entry), directory)


class OutputTail:
    """Reads everything a process prints, so that it never blocks, and keeps the end of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = b""
        self._thread = threading.Thread(
            target=self._drain, args=(stream,), name="polyviz-output", daemon=True
        )
        self._thread.start()

    def finish(self) -> str:
        """The last lines of a process that has ended."""
        self._thread.join(timeout=1.0)
        lines = self._kept.decode(errors="replace").splitlines()
        return "\n".join([line[:_KEPT_WIDTH] for line in lines if line.strip()][-_KEPT_LINES:])

    def _drain(self, stream: IO[bytes]) -> None:
        with stream:
            while piece := os.read(stream.fileno(), _KEPT_OUTPUT):
                self._kept = (self._kept + piece)[-_KEPT_OUTPUT:]


class WorkerProcess:
    """A running worker; it is ended by :meth:`end`, by garbage collection, or when this process ends."""

    def __init__(self, setting: Setting, memory_limit: int) -> None:
        if os.name != "posix" or not sys.executable:
            raise WorkerError("The worker process needs a Python interpreter on Linux or macOS.")
        self.setting = setting
        self.owner = os.getpid()
        here, there = socket.socketpair()
        listening, lifeline = os.pipe()
        scratch = _scratch()
        try:
            process = _launch(setting, there.fileno(), listening, memory_limit, scratch)
        except OSError as error:
            here.close()
            os.close(lifeline)
            _remove(scratch)
            raise WorkerError("The worker process could not be started.", reason=str(error)) from error
        finally:
            there.close()
            os.close(listening)
        assert process.stdout is not None
        self.channel = Channel(here)
        self.output = OutputTail(process.stdout)
        self._process = process
        self._ending = threading.Lock()
        self._finalizer = weakref.finalize(self, _end, process, self.channel, lifeline, self.owner, scratch)

    @property
    def process_id(self) -> int:
        """The system's number of the process."""
        return self._process.pid

    def usable(self) -> bool:
        """Whether it runs and belongs to this process (a forked child inherits the object, not the process)."""
        return self.owner == os.getpid() and self._finalizer.alive and self._process.poll() is None

    def kill(self) -> None:
        """Stop it at once, from any thread; whoever waits for its answer finds the channel closed."""
        with self._ending:
            if self._finalizer.alive:
                _kill_group(self._process)

    def end(self) -> int:
        """Stop it if it still runs and clean up. How it ended: exit status, or minus a signal number."""
        with self._ending:
            self._finalizer()
        return self._process.wait()


def _scratch() -> str | None:
    """A directory for the temporary files of a worker, which is killed and cannot remove them; None without room."""
    try:
        return tempfile.mkdtemp(prefix="worker-", dir=process_directory())
    except OSError:
        return None


def _remove(scratch: str | None) -> None:
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)


def _launch(
    setting: Setting, channel: int, lifeline: int, memory_limit: int, scratch: str | None
) -> subprocess.Popen[bytes]:
    program = "polyviz.runtime.worker_main"
    return subprocess.Popen(
        # -P: the current directory is searched only where this process searches it.
        [sys.executable, "-P", "-u", "-m", program, str(channel), str(lifeline), str(memory_limit)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(channel, lifeline),
        env={
            **dict(setting.environment),
            **({"TMPDIR": scratch} if scratch else {}),
            "PYTHONPATH": os.pathsep.join(setting.search_path),
        },
        cwd=setting.directory,
        # A session of its own: Ctrl-C in the terminal reaches us, and we decide; what a job starts ends with it.
        start_new_session=True,
    )


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(
    process: subprocess.Popen[bytes], channel: Channel, lifeline: int, owner: int, scratch: str | None
) -> None:
    channel.close()
    os.close(lifeline)
    if os.getpid() != owner:
        return  # a forked child gives up its copies of the descriptors, not the process
    # Until it is waited for, a dead process keeps its number: the group is certainly still ours.
    if process.returncode is None:
        _kill_group(process)
    process.wait()
    _remove(scratch)
