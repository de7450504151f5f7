"""``polyviz bench --suite gpu``: one variant after the other, each in a process that may fail alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.benchmark.failures import first_line
from polyviz.benchmark.gpu.counts import Counted
from polyviz.benchmark.gpu.records import COUNTS, TIMES, GpuResults, Row, load, save
from polyviz.benchmark.gpu.times import CUPY, NUMBA, Timed
from polyviz.benchmark.versions import versions
from polyviz.runtime.cuda import cuda_availability
from polyviz.runtime.nvrtc import nvrtc_availability
from polyviz.runtime.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

RUN_LIMIT = 280.0
"""Seconds for one variant: scheduling, compiling, the verified run and, on a device, all timed ones."""


def run_gpu(
    kernels: Sequence[str],
    schedules: Sequence[str],
    output: Path,
    say: Callable[[str], None],
    *,
    size: str,
    dtype: str,
    repeats: int,
    resume: bool,
) -> int:
    """Time every schedule and the peers on the device here, or count without one; 1 when something was not verified.

    Writes ``gpu-times`` or ``gpu-counts``, ``.json`` and ``.md``, into ``output`` after every step.
    """
    available, reason = cuda_availability()
    name = TIMES if available else COUNTS
    if not available:
        say(f"no times, counts of the emulator instead: {reason}")
    results = (load(output, name) if resume else None) or _fresh(name, reason, size, dtype)
    variants = [*schedules, NUMBA, CUPY] if available else list(schedules)
    done = {(row.kernel, row.schedule) for row in results.rows}
    with Worker() as worker:
        for kernel in kernels:
            for variant in (variant for variant in variants if (kernel, variant) not in done):
                row = _row(worker, name, kernel, variant, size, dtype, repeats)
                results = results.with_row(row)
                save(results, output)
                say(f"{kernel}, {variant}: {row.text}")
    say(f"{output / name}.md holds the table")
    return int(not all(row.verified or row.schedule == CUPY for row in results.rows))


def _fresh(name: str, reason: str, size: str, dtype: str) -> GpuResults:
    where = reason if name == TIMES else "no device, the emulator on the processor"
    compiled, compiler = nvrtc_availability()
    found = {key: text for key, text in versions().items() if key in ("polyviz", "Python", "islpy", "numba")}
    return GpuResults(
        name,
        where,
        size,
        dtype,
        {**found, "NVRTC": compiler.removeprefix("NVRTC ") if compiled else "missing"},
    )


def _row(worker: Worker, name: str, kernel: str, variant: str, size: str, dtype: str, repeats: int) -> Row:
    label = f"{variant} on {kernel}"
    job = "polyviz.benchmark.gpu.times:measure" if name == TIMES else "polyviz.benchmark.gpu.counts:count"
    arguments = (kernel, variant, size, dtype, *((repeats,) if name == TIMES else ()))
    try:
        row: Row = worker.run(job, *arguments, time_limit=RUN_LIMIT, label=label)
    except Exception as error:  # what a library raises is a row like any other
        failed = Timed if name == TIMES else Counted
        return failed(kernel, variant, False, remark=first_line(error))
    return row
