"""What it takes to call a compiled function from C, without the interpreter between the arguments and the loops.

Comparing the arguments, lowering the number of threads, looking where this thread runs and the call itself are a dozen
Python functions. Between calls that go through all of a cache these come from memory each time, which takes as long as
a small kernel does; in C all of it is a few lines (``AlikeCalls.run``).
"""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyviz.runtime.native import NativeFunction
    from polyviz.runtime.placement import Placement
    from polyviz.runtime.threads import NativeThreads

TEXT = """
/* A compiled function that takes a block of values, the process that may call it, and how many threads it gets. */
struct callee {
    int64_t (*run)(const void *);
    int64_t process, is_placed, size;
    int (*most)(void);
    void (*set)(int);
};

/* The core that the other threads of this thread's team stay off, and how many there are at most. */
static _Thread_local int64_t apart_from = -1, team_size = -1;

void note_team(int64_t core, int64_t size)
{
    apart_from = core;
    team_size = size;
}

static int is_ready(const struct callee *callee)
{
    if (getpid() != callee->process)
        return 0;
#ifdef __linux__
    if (callee->is_placed)
        return sched_getcpu() == apart_from && callee->size == team_size;
#endif
    return !callee->is_placed;
}

/* Calls the function with the values of such arguments and returns what it does; `not_run` where something differs. */
int64_t run_if_alike(const int64_t *next, const char *arguments, union value *values, const struct callee *callee)
{
    if (!is_ready(callee) || !set_if_alike(next, arguments, values))
        return not_run;
    const int before = callee->most ? callee->most() : 0;
    if (before > callee->size)
        callee->set((int)callee->size);
    void *thread = leave_interpreter();
    const int64_t status = callee->run(values);
    enter_interpreter(thread);
    if (before > callee->size)
        callee->set(before);
    return status;
}
"""


class Callee:
    """One compiled ``function`` of a block of values, as C calls it; ``place`` is where what it needs lies.

    ``threads`` bounds how many its parallel loops get, ``placement`` says where these run, None where there are none.
    """

    def __init__(self, function: NativeFunction, threads: NativeThreads, placement: Placement | None) -> None:
        is_placed = placement is not None and placement.is_possible
        most, change = threads.functions
        fields = (function.address, os.getpid(), is_placed, threads.count or 0, address_of(most), address_of(change))
        self._content = (ctypes.c_int64 * len(fields))(*fields)
        self._kept = (function, threads)  # Their libraries stay loaded.
        self.place = ctypes.addressof(self._content)


def address_of(function: Any) -> int:
    """Where a function of ctypes lies in memory; 0 for None."""
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0
