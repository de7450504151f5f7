"""Times on a device, the kernels alone and with transfers, every result verified first."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.benchmark.gpu.subjects import built, disagreement, fresh, outputs
from polyviz.benchmark.peers.formulas import NUMPY
from polyviz.codegen.numba_cuda import print_numba_cuda
from polyviz.runtime.execute import load_function
from polyviz.runtime.statistics import median_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NUMBA, CUPY = "isl, as numba.cuda", "CuPy/cuBLAS"
"""The peers: the kernels of the schedule ``isl`` as Python text under numba, and calls of libraries."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One variant of one kernel: seconds of the kernels alone, and with transfers; 95 % intervals of the medians."""

    kernel: str
    schedule: str
    verified: bool
    kernels: float | None = None
    kernels_interval: tuple[float, float] | None = None
    total: float | None = None
    total_interval: tuple[float, float] | None = None
    remark: str = ""

    @property
    def text(self) -> str:
        """What came out, in a line."""
        if self.kernels is None or self.total is None:
            return self.remark
        return f"kernels {self.kernels * 1e3:.3g} ms, with transfers {self.total * 1e3:.3g} ms"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Timed:
        """The times from their fields as plain data."""
        pairs = {
            name: None if data[name] is None else tuple(data[name])
            for name in ("kernels_interval", "total_interval")
        }
        return cls(**{**data, **pairs})


def measure(kernel: str, variant: str, size: str, dtype: str, repeats: int) -> Timed:
    """Verify and time one variant; a job for a machine with a device."""
    if variant == CUPY and kernel not in NUMPY:
        return Timed(kernel, variant, False, remark="no call does this")
    run = _cupy(kernel) if variant == CUPY else _numba(kernel, size, dtype) if variant == NUMBA else None
    if run is None:
        run = _own(kernel, variant, size, dtype)
    arguments = fresh(kernel, size, dtype)
    result, *_ = run(arguments)
    wrong = disagreement(kernel, size, dtype, outputs(arguments, result))
    if wrong:
        return Timed(kernel, variant, False, remark=wrong)
    samples = [run(fresh(kernel, size, dtype))[1:] for _ in range(repeats)]
    alone, together = ([sample[place] for sample in samples] for place in range(2))
    return Timed(
        kernel,
        variant,
        True,
        statistics.median(alone),
        median_interval(alone),
        statistics.median(together),
        median_interval(together),
    )


def _own(kernel: str, schedule: str, size: str, dtype: str) -> Callable[[Any], tuple[Any, float, float]]:
    made = built(kernel, schedule, size, dtype, "cuda")

    def run(arguments: tuple[Any, ...]) -> tuple[Any, float, float]:
        result = made(*arguments)
        times = made.device_times
        assert times is not None
        return result, times.kernels / 1e3, times.total / 1e3

    return run


def _numba(kernel: str, size: str, dtype: str) -> Callable[[Any], tuple[Any, float, float]]:
    """The same kernels as text for numba, whose launches are timed by events."""
    made = built(kernel, "isl", size, dtype, "cuda")
    types = made.bind(fresh(kernel, size, dtype), {}).types
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


def _cupy(kernel: str) -> Callable[[Any], tuple[Any, float, float]]:
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
