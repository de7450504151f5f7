"""What the worker process runs: a variant once for its outputs, and several against each other for their times.

The functions here are jobs (``Worker.run("polyviz.runtime.variants:run_variant", …)``): their arguments and results
are plain data, and they leave the caller's arrays alone because they work on the worker's copies.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from polyviz.model.program import Program
from polyviz.runtime.device_notes import KernelClock, run_notes
from polyviz.runtime.execute import make_runner
from polyviz.runtime.jobs import report_progress
from polyviz.runtime.placement import give_back
from polyviz.runtime.timing import interleave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.runtime.emulator import EmulationReport
    from polyviz.runtime.execute import Runner
    from polyviz.runtime.original import Original
    from polyviz.runtime.statistics import Samples

Engine = Literal["python", "numba", "numba-parallel"]
KEPT_FUNCTIONS = 32
_numba_functions: dict[str, tuple[Any, dict[object, float]]] = {}
"""The user's loops under numba by their text and all that it needs, and how long they took to compile, by types:
compiling them again takes a second each time."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The user's own loops under one engine."""

    original: Original
    engine: Engine


Variant = Program | Baseline


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run left behind: the arrays it was given, as they are now, and the result of the call.

    ``compile_seconds`` is what compiling took, also where that was for an earlier job; 0.0 where a library was found
    that was kept, None where nothing is compiled. ``emulation`` is what the emulator counted, where it ran there.
    """

    arrays: Mapping[str, Any]
    result: Any
    compile_seconds: float | None
    notes: tuple[str, ...] = ()
    emulation: EmulationReport | None = None


def run_variant(
    variant: Variant, given: Mapping[str, Any], parameters: Mapping[str, int], written: Sequence[str]
) -> Outcome:
    """Run ``variant`` once; the ``written`` arrays and the result."""
    values = _fresh(given)
    ready = _prepare(variant, given, parameters)
    result = ready.call(values)
    notes = (*ready.notes, *run_notes(ready.runner))
    report = getattr(ready.runner, "report", None)
    return Outcome({name: values[name] for name in written}, result, ready.compile_seconds, notes, report)


def time_variants(
    variants: Mapping[str, Variant],
    given: Mapping[str, Any],
    parameters: Mapping[str, int],
    written: Sequence[str],
    repeats: int,
) -> dict[str, Samples]:
    """Interleaved timings of ``variants`` on the same values; every sample starts from fresh copies of what changes."""
    ready = {label: _prepare(variant, given, parameters) for label, variant in variants.items()}
    clocks = {label: KernelClock(one.call, one.runner) for label, one in ready.items()}
    values = _fresh(given)

    def renew() -> None:
        for name in written:
            values[name][...] = given[name]

    setup = renew if written else None
    runs = [partial(clock, values) for clock in clocks.values()]
    samples = interleave(runs, [setup] * len(runs), repeats, progress=_report)
    return {
        label: replace(sample, kernels=clocks[label].median)
        for label, sample in zip(clocks, samples, strict=True)
    }


def _report(done: int, total: int) -> None:
    report_progress((done, total))


def _fresh(given: Mapping[str, Any]) -> dict[str, Any]:
    """Copies in the same layout: what is contiguous for the user is so for the variants."""
    return {name: value.copy(order="K") if isinstance(value, np.ndarray) else value for name, value in given.items()}


@dataclass(frozen=True, slots=True)
class _Ready:
    """A compiled variant as a function of the argument values; ``runner`` where it is a generated program."""

    call: Callable[[Mapping[str, Any]], Any]
    compile_seconds: float | None
    notes: tuple[str, ...] = ()
    runner: Runner | None = None


def _prepare(variant: Variant, given: Mapping[str, Any], parameters: Mapping[str, int]) -> _Ready:
    """``variant`` compiled for the argument values ``given``."""
    if isinstance(variant, Program):
        runner = make_runner(variant)
        if variant.target == "numba":
            runner(_fresh(given), parameters)  # numba compiles at the first call
        seconds = None if variant.target == "python" else runner.compile_seconds
        return _Ready(lambda values: runner(values, parameters), seconds, runner.notes, runner)
    if variant.engine == "python":
        return _Ready(partial(_as_elsewhere, variant.original.python()), None)
    function, seconds = _compiled(variant, given)
    return _Ready(partial(_as_elsewhere, function), seconds)


def _as_elsewhere(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """The user's own loops run as they do where no kernel ran before."""
    give_back()
    return function(*values.values())


def _compiled(variant: Baseline, given: Mapping[str, Any]) -> tuple[Callable[..., Any], float]:
    """The loops under numba, compiled for the types of ``given``, and the seconds that this took; an earlier job may
    have done it already."""
    known = repr(variant)
    function, seconds = _numba_functions.pop(known, (None, {}))
    if function is None:
        function = variant.original.numba(parallel=variant.engine == "numba-parallel")
    types = tuple(map(function.typeof_pyval, given.values()))
    if types not in seconds:
        started = time.perf_counter()
        function.compile(types)
        seconds[types] = time.perf_counter() - started
    _numba_functions[known] = function, seconds  # the one used last comes last
    if len(_numba_functions) > KEPT_FUNCTIONS:
        del _numba_functions[next(iter(_numba_functions))]
    return function, seconds[types]
