"""Where the threads of OpenMP run: on other cores than the one that calls.

A thread that is woken is put by Linux on the core of the one that wakes it, as long as nothing tells otherwise. There
it waits until the caller sleeps at the end of a parallel loop, which wakes the caller on the same core: both take turns
on one core, and every parallel loop takes as long as all its parts and two changes of threads together. The threads of
a team may therefore run on every core that the process may use, except the one from which the kernel is called. What
others run with the same threads is not changed: ``give_back`` lets them run everywhere again.
"""

from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz.runtime.alike import note_team

if TYPE_CHECKING:
    from pathlib import Path

_CHOICES_OF_USERS = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY")
_START = "GOMP_parallel"
"""GNU's function that runs a function in every thread of a team; the compilers of others have their own."""
_NOWHERE = -1


@dataclass(slots=True)
class _Team:
    """The threads that parallel loops get which start in one thread of a process: all but that one."""

    process: int
    size: int | None
    others: tuple[int, ...]
    apart_from: int = _NOWHERE

    def leave(self, core: int) -> None:
        """Keep the others off ``core``, if there are enough cores beside it."""
        allowed = os.sched_getaffinity(0)
        self.apart_from = core
        note_team(core, self.size)
        if len(self.others) < len(allowed):
            self._may_use(allowed - {core})

    def may_use_all(self) -> None:
        """The others may run wherever their caller may."""
        self.apart_from = _NOWHERE
        note_team(_NOWHERE, None)
        self._may_use(os.sched_getaffinity(0))

    def _may_use(self, cores: set[int]) -> None:
        for thread in self.others:
            try:
                os.sched_setaffinity(thread, cores)
            except OSError:
                # OpenMP has ended it: teams change their size when somebody asks for another number of threads.
                self.process = _NOWHERE
                note_team(_NOWHERE, None)


class _Here(threading.local):
    """Every thread that calls kernels has a team of its own."""

    team: _Team | None = None


_here = _Here()


class Placement:
    """Where the threads of parallel loops in one compiled library run; does nothing where it cannot tell.

    It cannot where the library was not built for GNU's OpenMP, on systems without Linux's calls, and where the user
    has chosen places for OpenMP's threads.
    """

    def __init__(self, library: Path) -> None:
        self._core: Any = None
        self._start: Any = None
        chosen = any(name in os.environ for name in _CHOICES_OF_USERS)
        if hasattr(os, "sched_setaffinity") and not chosen:
            self._core = getattr(ctypes.PyDLL(None), "sched_getcpu", None)
            self._start = getattr(ctypes.CDLL(str(library)), _START, None)
        self.is_possible = bool(self._core) and bool(self._start)

    def before_call(self, size: int | None) -> None:
        """The team that this thread's next parallel loop gets, of ``size`` threads or the usual number, stays off the
        core on which this thread is now."""
        if not self.is_possible:
            return
        team = _here.team
        if team is None or team.size != size or team.process != os.getpid():
            team = _here.team = _Team(os.getpid(), size, self._others())
        core = int(self._core())
        if core != team.apart_from:
            team.leave(core)

    def _others(self) -> tuple[int, ...]:
        found: list[int] = []
        note = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: found.append(threading.get_native_id()))
        self._start(note, None, ctypes.c_uint(0), ctypes.c_uint(0))
        return tuple(number for number in found if number != threading.get_native_id())


def give_back() -> None:
    """The threads of this thread's team may run everywhere again, as before the first kernel."""
    team = _here.team
    if team is not None and team.apart_from != _NOWHERE and team.process == os.getpid():
        team.may_use_all()
