"""A short measurement of what this machine can do: multiply-adds from registers, copies in memory and in cache."""

from __future__ import annotations

import contextlib
import ctypes
import json
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from polyviz.errors import ToolchainError
from polyviz.model.roofline import Peaks
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.machine import this_machine, thread_count
from polyviz.runtime.storage import cache_directory, write_atomically
from polyviz.runtime.toolchain import INSTALL_HINT, find_toolchain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MEASURE_LIMIT = 60.0
"""Seconds that the measurement may take; it takes about two."""

_TIME = 0.4
"""Seconds per figure."""
_ROUNDS = 4
_STEPS = 1_000_000
_LARGEST_COPY = 512 * 1024**2
_SIZES = {"float64": ("double", 8), "float32": ("float", 4)}

_TEXT = """\
#include <stdint.h>
#include <string.h>

{functions}
/* Each thread copies its own part. */
void copy_bytes(char *restrict to, const char *restrict from, int64_t count, int64_t parts)
{{
    #pragma omp parallel for schedule(static)
    for (int64_t part = 0; part < parts; part++) {{
        int64_t first = count / parts * part, last = part == parts - 1 ? count : first + count / parts;
        memcpy(to + first, from + first, (size_t)(last - first));
    }}
}}
"""
_FUNCTION = """\
/* Sums in {count} registers of {size} bytes: enough for every multiply-add in flight. */
double multiply_add_{name}(int64_t steps)
{{
    typedef {kind} vector __attribute__((vector_size({size})));
    double total = 0.0;
    #pragma omp parallel reduction(+ : total)
    {{
        vector sum[{count}], factor = (vector){{}} + ({kind})0.999, term = (vector){{}} + ({kind})0.001;
        for (int r = 0; r < {count}; r++) sum[r] = (vector){{}} + ({kind})r;
        for (int64_t step = 0; step < steps; step++)
            #pragma GCC unroll {count}
            for (int r = 0; r < {count}; r++) sum[r] = sum[r] * factor + term;
        for (int r = 0; r < {count}; r++) total += (double)sum[r][0];
    }}
    return total;
}}
"""


def measure_peaks() -> Peaks:
    """Measure on all threads; a job for a worker process. Raises ToolchainError where there is no C compiler."""
    toolchain = find_toolchain()
    if toolchain is None:
        raise ToolchainError("Nothing can be measured without a C compiler.", hint=INSTALL_HINT)
    machine, threads = this_machine(), thread_count().count
    size, registers = machine.processor.vector_bytes or 16, machine.processor.vector_registers or 16
    sums = registers - 4
    functions = "\n".join(
        _FUNCTION.format(count=sums, size=size, name=name, kind=kind) for name, (kind, _) in _SIZES.items()
    )
    path = BuildCache().library(_TEXT.format(functions=functions), toolchain, "reassociate").path
    library = ctypes.CDLL(str(path))
    peaks = {}
    for name, (_, width) in _SIZES.items():
        function = getattr(library, f"multiply_add_{name}")
        function.restype = ctypes.c_double
        operations = 2 * sums * (size // width) * _STEPS * threads
        peaks[name] = operations / _shortest(lambda run=function: run(ctypes.c_int64(_STEPS)))  # type: ignore[misc]
    return _with_copies(peaks, lambda count: _copy(library, count, threads), machine.l3, threads)


def _with_copies(
    multiply_add: Mapping[str, float], copy: Callable[[int], float], cache: int, threads: int
) -> Peaks:
    """The peaks with the bandwidths that ``copy`` finds for a number of bytes.

    Figures that contradict each other were disturbed: they are measured again, and of each the best one stays.
    """
    found = Peaks(multiply_add, 0.0, 0.0, cache, threads)
    for _ in range(_ROUNDS):
        memory, cached = copy(_in_memory(cache)), copy(cache // 8)
        found = replace(found, copy=max(found.copy, memory), cached_copy=max(found.cached_copy, cached))
        if found.consistent:
            break
    return found


def keep_peaks(peaks: Peaks) -> None:
    """Remember a measurement for the rooflines of later comparisons; where the disk refuses, there are none."""
    content = {"machine": this_machine().identity, **asdict(peaks)}
    with contextlib.suppress(OSError):
        write_atomically(_file(), json.dumps(content).encode())


def known_peaks() -> Peaks | None:
    """What was measured on this machine with as many threads as now; None where nothing was."""
    try:
        content = json.loads(_file().read_bytes())
        machine = content.pop("machine")
        peaks = Peaks(**content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    fits = machine == this_machine().identity and peaks.threads == thread_count().count
    return peaks if fits else None


def _file() -> Path:
    return cache_directory() / "peaks.json"


def _in_memory(cache: int) -> int:
    """Bytes of an array that no cache holds."""
    return min(4 * cache, _LARGEST_COPY)


def _copy(library: ctypes.CDLL, count: int, threads: int) -> float:
    """Bytes per second, read and written together."""
    arrays = [np.ones(count, dtype=np.uint8) for _ in range(2)]
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    sizes = ctypes.c_int64(count), ctypes.c_int64(threads)
    return 2 * count / _shortest(lambda: library.copy_bytes(*pointers, *sizes))


def _shortest(run: Callable[[], object]) -> float:
    """The shortest of the runs that fit into the time, at least three: what disturbs a run only makes it longer."""
    run()
    seconds: list[float] = []
    until = time.perf_counter() + _TIME
    while len(seconds) < 3 or time.perf_counter() < until:
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
