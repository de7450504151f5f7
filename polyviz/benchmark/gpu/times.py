"""Runs on a device, the kernels alone and with transfers timed; jobs of a process that keeps what it compiled."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from polyviz.benchmark.gpu.subjects import built, disagreement, fresh, outputs
from polyviz.benchmark.peers.formulas import NUMPY
from polyviz.codegen.numba_cuda import print_numba_cuda
from polyviz.runtime.execute import load_function

NUMBA, CUPY = "isl, as numba.cuda", "CuPy/cuBLAS"
"""The peers: the kernels of the schedule ``isl`` as Python text under numba, and calls of libraries."""
Run = Callable[[Any], tuple[Any, float, float]]
"""Takes arguments; the result, seconds of the kernels alone, and with transfers."""
Variant = tuple[str, str, str, str]
"""A kernel, the variant of it, the size of its data and their type."""
_runs: dict[Variant, Run] = {}
"""The latest variant of this process: its arrays and code are on the device."""


def prepare(kernel: str, variant: str, size: str, dtype: str) -> str:
    """Compile a variant and run it once; what is wrong with its results, empty where nothing is."""
    if variant == CUPY and kernel not in NUMPY:
        return "no call does this"
    return verify(kernel, variant, size, dtype)


def sample(kernel: str, variant: str, size: str, dtype: str) -> tuple[float, float]:
    """One run: seconds of the kernels alone, and with transfers."""
    return _run(kernel, variant, size, dtype)(fresh(kernel, size, dtype))[1:]


def verify(kernel: str, variant: str, size: str, dtype: str) -> str:
    """One run that is not timed; what is wrong with its results, empty where nothing is."""
    arguments = fresh(kernel, size, dtype)
    result, *_ = _run(kernel, variant, size, dtype)(arguments)
    return disagreement(kernel, size, dtype, outputs(arguments, result))


def _run(kernel: str, variant: str, size: str, dtype: str) -> Run:
    """How to run a variant, which is compiled once."""
    key = (kernel, variant, size, dtype)
    if key not in _runs:
        _runs.clear()
        if variant == CUPY:
            _runs[key] = _cupy(kernel)
        elif variant == NUMBA:
            _runs[key] = _numba(kernel, size, dtype)
        else:
            _runs[key] = _own(kernel, variant, size, dtype)
    return _runs[key]


def _own(kernel: str, schedule: str, size: str, dtype: str) -> Run:
    made = built(kernel, schedule, size, dtype, "cuda")

    def run(arguments: tuple[Any, ...]) -> tuple[Any, float, float]:
        result = made(*arguments)
        times = made.device_times
        assert times is not None
        return result, times.kernels / 1e3, times.total / 1e3

    return run


def _numba(kernel: str, size: str, dtype: str) -> Run:
    """The same kernels as text for numba, whose launches are timed by events."""
    made = built(kernel, "isl", size, dtype, "cuda")
    types = made.program_for(made.bind(fresh(kernel, size, dtype), {})).types
    program = print_numba_cuda(made.scop, made.plan, types, made.floating_point)
    function = load_function(program.text, program.name, f"<polyviz {program.target} {program.name}>")
    clock = _Launches()
    names = function.__globals__
    for name in [name for name in names if name.startswith("kernel_")]:
        names[name] = clock.watched(names[name])

    def run(arguments: tuple[Any, ...]) -> tuple[Any, float, float]:
        clock.events.clear()
        started = time.perf_counter()
        result = function(*arguments)
        return result, clock.seconds(), time.perf_counter() - started

    return run


class _Launches:
    """The events around every launch of kernels under numba."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, Any]] = []

    def watched(self, kernel: Any) -> Any:
        """``kernel``, every launch of it between two events."""
        return _Watched(kernel, self.events)

    def seconds(self) -> float:
        """Seconds of all launches since the list was emptied."""
        cuda = _numba_cuda()
        cuda.synchronize()
        return sum(float(cuda.event_elapsed_time(*pair)) for pair in self.events) / 1e3


class _Watched:
    def __init__(self, kernel: Any, events: list[tuple[Any, Any]]) -> None:
        self._kernel, self._events = kernel, events

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        cuda = _numba_cuda()
        launch = self._kernel[configuration]

        def timed(*arguments: Any) -> None:
            first, last = cuda.event(), cuda.event()
            first.record()
            launch(*arguments)
            last.record()
            self._events.append((first, last))

        return timed


def _numba_cuda() -> Any:
    """numba's CUDA; it has no types."""
    from numba import cuda

    return cuda


def _cupy(kernel: str) -> Run:
    """The formula of NumPy, on arrays of CuPy."""
    import cupy

    formula = NUMPY[kernel]

    def run(arguments: tuple[Any, ...]) -> tuple[Any, float, float]:
        marks = [cupy.cuda.Event() for _ in range(4)]
        marks[0].record()
        there = [cupy.asarray(one) if isinstance(one, np.ndarray) else one for one in arguments]
        marks[1].record()
        formula(*there)
        marks[2].record()
        for here, value in zip(arguments, there, strict=True):
            if isinstance(here, np.ndarray):
                here[...] = cupy.asnumpy(value)
        marks[3].record()
        marks[3].synchronize()
        alone, together = ((marks[1], marks[2]), (marks[0], marks[3]))
        return None, *(cupy.cuda.get_elapsed_time(*pair) / 1e3 for pair in (alone, together))

    return run
