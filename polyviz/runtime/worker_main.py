"""The program of the worker process: take a job, run it, send back what came of it.

Started by ``polyviz.runtime.worker_process``; it speaks over a socket of its own, so that whatever a kernel prints
cannot be taken for a message. Nothing heavy is imported here: a job brings what it needs.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import resource
import signal
import socket
import sys
import traceback
from typing import TYPE_CHECKING, Any

from polyviz.errors import WorkerError
from polyviz.runtime.channel import Channel, ChannelClosedError, Header, Packed, pack, unpack
from polyviz.runtime.jobs import listen

if TYPE_CHECKING:
    from collections.abc import Callable

GRACE = 5.0
"""Seconds after the time limit until the worker ends itself; the waiting process, if it lives, is quicker."""


def main(arguments: list[str]) -> None:
    """Serve jobs until the other side is gone."""
    channel_descriptor, lifeline, memory_limit = (int(argument) for argument in arguments)
    _die_with_parent(lifeline)
    _protect_machine(memory_limit)
    os.set_inheritable(channel_descriptor, False)
    channel = Channel(socket.socket(fileno=channel_descriptor))
    listen(lambda value: channel.send(("progress",), pack(value)))
    with contextlib.suppress(ChannelClosedError):
        while True:
            header, body = channel.receive()
            channel.send(("started",), pack(None))
            channel.send(*_perform(str(header[0]), float(header[1]), body))
            del body  # the arrays of a finished job would stay in memory while waiting for the next


def _die_with_parent(lifeline: int) -> None:
    """End this process when the parent does, even in the middle of native code that holds the interpreter lock.

    The parent holds the other end of the pipe ``lifeline`` and never writes. When it goes, the system sends SIGIO,
    whose default action ends the process. (PR_SET_PDEATHSIG would act as soon as the *thread* that started us ends.)
    """
    os.set_inheritable(lifeline, False)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        if os.read(lifeline, 1) == b"":  # it went before we listened
            os._exit(0)


def _protect_machine(memory_limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_limit:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = memory_limit if hard == resource.RLIM_INFINITY else min(memory_limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    # When the machine runs out of memory, this process has to go before the notebook's kernel.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _perform(path: str, time_limit: float, body: Packed) -> tuple[Header, Packed]:
    """Run one job; the message that tells its outcome."""
    # Should nobody be left to stop us, the alarm does; its default action needs no interpreter.
    signal.setitimer(signal.ITIMER_REAL, time_limit + GRACE)
    try:
        return ("result",), pack(_resolve(path)(*unpack(body)))
    except MemoryError:
        return ("memory",), pack(None)
    except BaseException as error:  # a job must not end the worker, not even by sys.exit
        return _failure(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _resolve(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    target: Any = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    if not callable(target):
        raise WorkerError(f"`{path}` is not a function.")
    return target  # type: ignore[no-any-return]


def _failure(error: BaseException) -> tuple[Header, Packed]:
    """The message for an exception; one that cannot travel is described instead."""
    described = "".join(traceback.format_exception_only(error)).strip()
    location = error.__traceback__.tb_next if error.__traceback__ else None
    story = "".join(traceback.format_exception(type(error), error, location)).rstrip()
    try:
        body = pack(error)
        unpack(body)
        travels = isinstance(error, Exception)
    except Exception:
        travels = False
    if not travels:
        body = pack(WorkerError("The job in the worker process failed.", reason=described))
    return ("error", story), body


if __name__ == "__main__":
    main(sys.argv[1:])
